// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// Cut says where a fault cuts the connection.
type Cut int

// Cuts reset the connection and send no answer.
const (
	CutNone   Cut = iota
	CutBefore     // before the service acts
	CutAfter      // after the service has acted
)

// Fault is a way in which some requests go wrong. Of the faults that match a
// request, the first that was added and is not used up has it.
//
// Without Status the real answer goes out, changed as the other fields say.
// The service acts on the request (a job is started) before any delay.
type Fault struct {
	// Which requests: empty fields match all.
	Endpoint string // one of the Endpoint constants
	Method   string
	Path     string // glob, as path.Match has it, over the escaped path below /v1

	Skip  int // matching requests that pass first
	Times int // requests that go wrong then; 0 is for ever

	Delay time.Duration // before anything is sent
	Hang  bool          // nothing is sent, until the client leaves
	Cut   Cut
	// Acts makes the service act although its answer does not go out. Needed
	// with Status or Hang only.
	Acts bool

	Status int
	// Header is added to the answer in place of headers of the same names,
	// which must be in canonical form. A nil value removes one, also Date.
	Header http.Header
	Body   string
	// Repeat sends the body over and over up to this many bytes; a body of
	// one letter if there is none.
	Repeat int64
	// Gzip compresses the body. With Repeat, that is rounded to MiB.
	Gzip bool
	// ContentLength is declared in place of the true one; the body ends there
	// if that is shorter. Negative: none is declared.
	ContentLength int64
	// TruncateBody closes the connection after this many bytes of the body;
	// if negative, after the headers.
	TruncateBody int64
	// DelayBody is a pause in the middle of the body.
	DelayBody time.Duration
}

type activeFault struct {
	Fault
	seen int // matching requests
}

// AddFault makes matching requests go wrong until they have done so Times
// times, or until remove is called. A Path that is no glob panics.
func (s *Service) AddFault(f Fault) (remove func()) {
	if _, err := path.Match(f.Path, ""); err != nil {
		panic(fmt.Sprintf("simulator: Fault.Path %q: %v", f.Path, err))
	}
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

// takeFault returns the fault that this request has, if any.
func (s *Service) takeFault(call *Request) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		used := f.Times > 0 && f.seen >= f.Skip+f.Times
		if used || !f.matches(call) {
			continue
		}
		if f.seen++; f.seen > f.Skip {
			return f.Fault, true
		}
	}
	return Fault{}, false
}

func (f Fault) matches(call *Request) bool {
	if f.Endpoint != "" && f.Endpoint != call.Endpoint ||
		f.Method != "" && f.Method != call.Method {
		return false
	}
	if f.Path == "" {
		return true
	}
	below := strings.TrimPrefix(call.Path, apiBase)
	ok, _ := path.Match(f.Path, below) // AddFault has checked the glob
	return ok
}

// acts tells whether the service acts on a request with this fault.
func (f Fault) acts() bool {
	switch {
	case f.Cut != CutNone:
		return f.Cut == CutAfter
	case f.Hang || f.Status != 0:
		return f.Acts
	default:
		return true
	}
}

func (s *Service) serveFault(w http.ResponseWriter, r *http.Request, f Fault, body string) {
	var answer recordedAnswer
	if f.acts() {
		s.answer(&answer, r, body)
	}
	if f.Hang {
		f.Delay = Forever
	}
	if err := s.pause(r.Context(), f.Delay); err != nil || f.Cut != CutNone {
		cut(w, true)
		return
	}
	s.sendFaulty(w, r, f, f.payload(answer))
}

// departure is how long, in real time, a client has to be seen leaving after
// one of its timers on a virtual clock has fired.
const departure = time.Second

// pause waits, or returns an error when the client has left. On a virtual
// clock it goes from timer to timer, since one of them may be what makes the
// client give up; without a stop there the clock would run on to the end.
func (s *Service) pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	virtual, ok := s.clock.(*VirtualClock)
	if !ok {
		return s.clock.Sleep(ctx, d)
	}
	end := virtual.Now().Add(d)
	for {
		due, ok := virtual.nextTimer()
		if !ok && d == Forever {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		if !ok || due.After(end) {
			return virtual.Sleep(ctx, end.Sub(virtual.Now()))
		}
		if err := virtual.Sleep(ctx, due.Sub(virtual.Now())); err != nil {
			return err
		}
		if err := (wallClock{}).Sleep(ctx, departure); err != nil {
			return err
		}
	}
}

// cut ends the connection: with a reset, or in good order.
func cut(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if reset {
		resetConn(conn)
		return
	}
	_ = conn.Close()
}

// resetConn closes a connection so that the other end sees a reset.
func resetConn(conn net.Conn) {
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = wrapped.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
