package simulator

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Cut says whether a fault cuts the connection instead of sending a response.
type Cut int

// A connection is cut before or after the service acts on the request.
const (
	CutNone Cut = iota
	CutBefore
	CutAfter
)

// Fault is a way in which requests go wrong. If several faults match a request,
// the first one that was added and is not used up applies.
//
// Without Status, the service acts and its response is sent, changed as the other
// fields say. The service acts before any delay.
type Fault struct {
	Endpoint string // one of the Endpoint constants; empty matches all
	// Match reports whether the fault is for a request to the endpoint; nil matches all.
	Match func(Request) bool

	Skip  int // the number of matching requests that pass first
	Times int // the number of requests that go wrong; 0 means no limit
	// Lasts limits how long requests go wrong, from the first one on; 0 means no limit.
	Lasts time.Duration

	Delay time.Duration // before anything is sent; Forever lasts until the client leaves
	Cut   Cut
	Acts  bool // with Status: the service acts, but its response is not sent

	Status int
	Header http.Header // replaces headers of the response; a nil value removes one
	Body   string
	// TruncateBody cuts the connection after this many bytes of the body; if
	// negative, after the headers.
	TruncateBody int
}

type activeFault struct {
	Fault
	matched, used int
	began         time.Time // when the first request went wrong
}

// AddFault makes matching requests go wrong until the fault is used up or
// remove is called.
func (s *Service) AddFault(f Fault) (remove func()) {
	active := &activeFault{Fault: f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, active)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.faults = slices.DeleteFunc(s.faults, func(other *activeFault) bool { return other == active })
	}
}

// UnusedFaults returns the faults that no request has met.
func (s *Service) UnusedFaults() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var unused []Fault
	for _, f := range s.faults {
		if f.used == 0 {
			unused = append(unused, f.Fault)
		}
	}
	return unused
}

// takeFault returns the fault for a request, if there is one.
func (s *Service) takeFault(r Request) (f Fault, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Endpoint != "" && f.Endpoint != r.Endpoint || f.Match != nil && !f.Match(r) || f.over(r.Time) {
			continue
		}
		f.matched++
		if f.matched > f.Skip {
			if f.used == 0 {
				f.began = r.Time
			}
			f.used++
			return f.Fault, true
		}
	}
	return Fault{}, false
}

// over reports whether the fault is used up as of now.
func (f *activeFault) over(now time.Time) bool {
	return f.Times > 0 && f.used == f.Times || f.Lasts > 0 && f.used > 0 && !now.Before(f.began.Add(f.Lasts))
}

// acts reports whether the service acts on a request with this fault.
func (f Fault) acts() bool {
	if f.Cut != CutNone {
		return f.Cut == CutAfter
	}
	return f.Status == 0 || f.Acts
}

// send sends the response as the fault says. The zero fault sends it as it is.
func (f Fault) send(w http.ResponseWriter, r *http.Request, a response) {
	if (clock.System{}).Sleep(r.Context(), f.Delay) != nil || f.Cut != CutNone {
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 {
		a = response{status: f.Status}
	}
	maps.Copy(w.Header(), a.header)
	if f.Status != 0 || f.Body != "" {
		a.body = []byte(f.Body)
		if strings.HasPrefix(f.Body, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	maps.Copy(w.Header(), f.Header)
	w.WriteHeader(a.status)
	if f.TruncateBody == 0 {
		_, _ = w.Write(a.body) // fails if the client has left
		return
	}
	_, _ = w.Write(a.body[:min(max(f.TruncateBody, 0), len(a.body))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
