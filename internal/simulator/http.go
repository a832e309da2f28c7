// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// The endpoints, as Request, Count, Fault and Rewrite name them.
const (
	EndpointUpdate   = "update"   // GET /project/update-status/{statusId}
	EndpointStart    = "start"    // POST /static-export/jobs
	EndpointJob      = "job"      // GET /static-export/jobs/{jobId}
	EndpointBundle   = "bundle"   // POST /static-export/jobs/{jobId}/bundle
	EndpointDownload = "download" // anything below /storage
	EndpointUnknown  = "unknown"  // no such path, or not with that method
)

const (
	apiBase        = "/v1"
	storageBase    = "/storage/"
	maxRequestBody = 8 << 20
)

// ServeHTTP answers one request, of the API or of the object store.
//
// Where a fault cuts the connection and w cannot be hijacked, it panics with
// http.ErrAbortHandler, as net/http has it.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, readErr := readBody(w, r)
	call := s.record(r, body)
	w = &recordingWriter{ResponseWriter: w, service: s, call: call}
	w.Header().Set("Date", s.now().Add(s.options.DateSkew).UTC().Format(http.TimeFormat))
	w.Header().Set("X-Request-Id", call.RequestID)

	if readErr != nil {
		s.writeReply(w, EndpointUnknown, unreadable(readErr))
	} else if f, ok := s.takeFault(call); ok {
		s.serveFault(w, r, f, body)
	} else {
		s.answer(w, r, body)
	}
}

func readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.Body == nil {
		return "", nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	return string(body), err
}

func unreadable(err error) reply {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return failure(http.StatusRequestEntityTooLarge, "the request body is too large")
	}
	return failure(http.StatusBadRequest, "the request body ended too early")
}

// answer is the service without its faults.
func (s *Service) answer(w http.ResponseWriter, r *http.Request, body string) {
	path := r.URL.EscapedPath()
	to := routeOf(r.Method, path)
	if to.endpoint == EndpointDownload {
		s.store.serve(w, r, to.id, s.now())
		return
	}
	if !strings.HasPrefix(path, apiBase+"/") {
		s.writeReply(w, EndpointUnknown, failure(http.StatusNotFound, "no such page"))
		return
	}
	if retryAfter, limited := s.throttle(); limited {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		s.writeReply(w, to.endpoint, failure(http.StatusTooManyRequests, "too many requests"))
		return
	}
	if !s.authorized(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		s.writeReply(w, to.endpoint, failure(http.StatusUnauthorized, "the API key is missing or not valid"))
		return
	}
	switch to.endpoint {
	case EndpointUpdate:
		s.writeReply(w, to.endpoint, s.getUpdate(to.id))
	case EndpointStart:
		s.writeReply(w, to.endpoint, s.startJob(r, body))
	case EndpointJob:
		s.writeReply(w, to.endpoint, s.getJob(to.id))
	case EndpointBundle:
		s.writeReply(w, to.endpoint, s.generateBundle(r, to.id))
	default:
		refusal := failure(http.StatusNotFound, "no such endpoint")
		if to.allow != "" {
			w.Header().Set("Allow", to.allow)
			refusal = failure(http.StatusMethodNotAllowed, "this endpoint wants "+to.allow)
		}
		s.writeReply(w, to.endpoint, refusal)
	}
}

// route is where a request leads.
type route struct {
	endpoint string
	id       string // the path's variable element, decoded
	allow    string // where the method is wrong: the right one
}

// routeOf splits the path as it came, escaped, and decodes its elements only
// then: an id may hold anything, slashes and dots included.
func routeOf(method, escapedPath string) route {
	if name, ok := strings.CutPrefix(escapedPath, storageBase); ok {
		if name, err := url.PathUnescape(name); err == nil {
			return route{endpoint: EndpointDownload, id: name}
		}
		return route{endpoint: EndpointUnknown}
	}
	below, _ := strings.CutPrefix(escapedPath, apiBase+"/")
	elements := strings.Split(below, "/")
	for i, element := range elements {
		decoded, err := url.PathUnescape(element)
		if err != nil || decoded == "" {
			return route{endpoint: EndpointUnknown}
		}
		elements[i] = decoded
	}
	to, allow := route{}, http.MethodGet
	switch n := len(elements); {
	case n == 3 && elements[0] == "project" && elements[1] == "update-status":
		to = route{endpoint: EndpointUpdate, id: elements[2]}
	case n < 2 || elements[0] != "static-export" || elements[1] != "jobs":
		return route{endpoint: EndpointUnknown}
	case n == 2:
		to, allow = route{endpoint: EndpointStart}, http.MethodPost
	case n == 3:
		to = route{endpoint: EndpointJob, id: elements[2]}
	case n == 4 && elements[3] == "bundle":
		to, allow = route{endpoint: EndpointBundle, id: elements[2]}, http.MethodPost
	default:
		return route{endpoint: EndpointUnknown}
	}
	if method != allow {
		return route{endpoint: EndpointUnknown, allow: allow}
	}
	return to
}

// authorized checks the bearer key (section 5).
func (s *Service) authorized(r *http.Request) bool {
	s.mu.Lock()
	want := s.key
	s.mu.Unlock()
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(key), []byte(want)) == 1
}

// throttle applies the rate limit to one request.
func (s *Service) throttle() (retryAfter string, limited bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit == nil {
		return "", false
	}
	wait, ok := s.limit.take(s.clock.Now())
	if ok {
		return "", false
	}
	return s.limit.retryAfter(wait), true
}

// reply is an answer of the API.
type reply struct {
	status int
	body   map[string]any
}

// failure is an error answer. The message must hold nothing of the request.
func failure(status int, message string) reply {
	return reply{status, map[string]any{"error": message}}
}

func (s *Service) writeReply(w http.ResponseWriter, endpoint string, answer reply) {
	s.mu.Lock()
	rewrite := s.rewrite
	s.mu.Unlock()
	body := any(answer.body)
	if rewrite != nil && answer.status < http.StatusMultipleChoices {
		body = rewrite(endpoint, answer.body)
		if object, ok := body.(map[string]any); ok {
			body = withoutOmitted(object)
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // a link's & goes out as it is
	if err := encoder.Encode(body); err != nil {
		http.Error(w, "the simulator was given a body that is no JSON: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.status)
	_, _ = w.Write(text.Bytes()) // a client that has left is no concern of the service
}

// readObject returns the members of a request's JSON body, or the reply to
// those who sent something else.
func readObject(r *http.Request, body string) (map[string]any, reply) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, failure(http.StatusUnsupportedMediaType, "the content type must be application/json")
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(body), &fields); err != nil || fields == nil {
		return nil, failure(http.StatusBadRequest, "the request body must be a JSON object")
	}
	return fields, reply{}
}

// recordedAnswer is an http.ResponseWriter that keeps the answer to itself.
type recordedAnswer struct {
	status int
	header http.Header
	body   []byte
}

func (a *recordedAnswer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

func (a *recordedAnswer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *recordedAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.body = append(a.body, p...)
	return len(p), nil
}
