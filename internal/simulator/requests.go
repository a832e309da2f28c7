// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"fmt"
	"net/http"
	"time"
)

// Request is one request that reached the service.
type Request struct {
	Time      time.Time // by the Clock, when the request was read
	Method    string
	Path      string // escaped, as it came
	Query     string // as it came
	Host      string
	Header    http.Header
	Body      string
	RequestID string // X-Request-Id of the answer
	Endpoint  string // one of the Endpoint constants
	ID        string // the id in the path, decoded; of a download, the object's name
	Status    int    // of the answer; 0: none was sent, or not yet
}

// Requests returns a copy of the log, in the order of arrival.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := make([]Request, len(s.log))
	for i, call := range s.log {
		requests[i] = *call
	}
	return requests
}

// Count returns how many requests of an endpoint the log holds.
func (s *Service) Count(endpoint string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, call := range s.log {
		if call.Endpoint == endpoint {
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

// record adds a request to the log.
func (s *Service) record(r *http.Request, body string) *Request {
	path := r.URL.EscapedPath()
	to := routeOf(r.Method, path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served++
	call := &Request{
		Time:      s.clock.Now(),
		Method:    r.Method,
		Path:      path,
		Query:     r.URL.RawQuery,
		Host:      r.Host,
		Header:    r.Header.Clone(),
		Body:      body,
		RequestID: fmt.Sprintf("req_%016x", s.served),
		Endpoint:  to.endpoint,
		ID:        to.id,
	}
	s.log = append(s.log, call)
	return call
}

// recordingWriter notes the status in the log before it is sent, so that who
// has the answer finds it there.
type recordingWriter struct {
	http.ResponseWriter
	service *Service
	call    *Request
	wrote   bool
}

// Unwrap lets http.ResponseController flush and hijack.
func (w *recordingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recordingWriter) WriteHeader(status int) {
	if !w.wrote && status >= http.StatusOK {
		w.wrote = true
		w.service.mu.Lock()
		w.call.Status = status
		w.service.mu.Unlock()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recordingWriter) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}
