package simulator

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// The endpoints, as Request, Count, Fault, and Rewrite name them.
const (
	EndpointUpdate   = "update"   // getUpdateStatus
	EndpointStart    = "start"    // startStaticExport
	EndpointJob      = "job"      // getStaticExportJob
	EndpointBundle   = "bundle"   // generateBundle
	EndpointDownload = "download" // any request below /storage
	EndpointUnknown  = "unknown"  // any other path or method
)

const (
	apiBase        = "/v1"
	storageBase    = "/storage/"
	maxRequestBody = 8 << 20
)

// response is what the service sends back.
type response struct {
	status  int
	header  http.Header
	object  map[string]any // of the API: becomes the body
	body    []byte
	altered bool // a test chose some of the values, so they can break the contract
}

// failure returns an error of the API. The message must not repeat anything
// from the request.
func failure(status int, message string) response {
	return response{status: status, object: map[string]any{"error": message}}
}

// ServeHTTP responds to a request to the API or the built-in store. To cut the
// connection, it panics with http.ErrAbortHandler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Endpoints returns the endpoints that a client can use: all but EndpointUnknown.
func Endpoints() []string { return New(Options{}).endpoints }

func (s *Service) routes() *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern, endpoint string, act func(*http.Request) response) {
		if endpoint != EndpointUnknown {
			s.endpoints = append(s.endpoints, endpoint)
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, endpoint, act) })
	}
	operation := func(pattern, endpoint string, act func(*http.Request) response) {
		handle(pattern, endpoint, func(r *http.Request) response { return s.call(r, endpoint, act) })
	}
	operation("GET "+apiBase+"/project/update-status/{id}", EndpointUpdate, s.getUpdateStatus)
	operation("POST "+apiBase+"/static-export/jobs", EndpointStart, s.startStaticExport)
	operation("GET "+apiBase+"/static-export/jobs/{id}", EndpointJob, s.getStaticExportJob)
	operation("POST "+apiBase+"/static-export/jobs/{id}/bundle", EndpointBundle, s.generateBundle)
	operation("/", EndpointUnknown, func(*http.Request) response {
		return failure(http.StatusNotFound, "there is no such endpoint")
	})
	handle(storageBase+"{name...}", EndpointDownload, s.store.download)
	return mux
}

// serve logs a request, acts on it, and sends the response as the next fault for
// the endpoint says.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, endpoint string, act func(*http.Request) response) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	request := s.logRequest(endpoint, r, string(body))
	fault, faulty := s.takeFault(request)
	var a response
	if fault.acts() {
		a = act(r)
	}
	if s.options.Observe != nil && strings.HasPrefix(request.Path, apiBase+"/") {
		s.options.Observe(Exchange{request, a.status, a.header, a.body, faulty || a.altered})
	}
	w.Header().Set("X-Request-Id", request.RequestID)
	fault.send(w, r, a)
}

// call performs an operation of the API and encodes its response.
func (s *Service) call(r *http.Request, endpoint string, act func(*http.Request) response) response {
	a, rewrite := s.perform(r, act)
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set("Content-Type", "application/json")
	body := any(a.object)
	if rewrite != nil && a.status < http.StatusMultipleChoices {
		a.altered = true
		body = rewrite(endpoint, a.object)
		if object, ok := body.(map[string]any); ok {
			body = withoutOmitted(object)
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // the & in links stays as it is
	_ = encoder.Encode(body)     // what a test cannot encode has no body
	a.body = text.Bytes()
	return a
}

// perform checks the key, and then performs the operation.
func (s *Service) perform(r *http.Request, act func(*http.Request) response) (a response, rewrite func(string, map[string]any) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+s.options.APIKey {
		a = failure(http.StatusUnauthorized, "the API key is missing or not valid")
		a.header = http.Header{"Www-Authenticate": {"Bearer"}}
		return a, nil
	}
	return act(r), s.rewrite
}
