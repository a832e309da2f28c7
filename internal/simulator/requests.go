package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Request is a request that reached the service.
type Request struct {
	Endpoint  string // one of the Endpoint constants
	ID        string // the ID in the path, decoded
	Domain    string // that the request starts a job for, or that its job was started for
	Time      time.Time
	Method    string
	Path      string // escaped, as it was sent
	Query     string // as it was sent
	Header    http.Header
	Body      string
	RequestID string // the X-Request-Id header of the response
}

// Exchange is a request below the base URL of the API and the response to it.
type Exchange struct {
	Request Request
	Status  int
	Header  http.Header
	Body    []byte
	// Altered reports that the contract does not cover the response, because of a
	// fault, a rewritten body, or values that a test set.
	Altered bool
}

// Requests returns the logged requests in the order of their arrival.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Count returns the number of logged requests to an endpoint.
func (s *Service) Count(endpoint string) int {
	n := 0
	for _, request := range s.Requests() {
		if request.Endpoint == endpoint {
			n++
		}
	}
	return n
}

// ResetRequests empties the log.
func (s *Service) ResetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}

// logRequest adds a request to the log.
func (s *Service) logRequest(endpoint string, r *http.Request, body string) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served++
	var start struct{ Domain string }
	_ = json.Unmarshal([]byte(body), &start) // only the body of a start has a domain
	if j := s.jobs[r.PathValue("id")]; j != nil {
		start.Domain = j.domain
	}
	request := Request{
		Endpoint:  endpoint,
		ID:        r.PathValue("id"),
		Domain:    start.Domain,
		Time:      s.options.Now(),
		Method:    r.Method,
		Path:      r.URL.EscapedPath(),
		Query:     r.URL.RawQuery,
		Header:    r.Header.Clone(),
		Body:      body,
		RequestID: fmt.Sprintf("req_%016x", s.served),
	}
	s.log = append(s.log, request)
	return request
}
