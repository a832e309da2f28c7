// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestFaultBreaksTheResponse(t *testing.T) {
	t.Parallel()
	const body = `{"jobId":"se_1"}`
	for name, test := range map[string]struct {
		fault simulator.Fault
		want  error
		body  string // what arrives
		acted bool
	}{
		"cut after the service acted":        {simulator.Fault{Cut: simulator.CutAfter}, io.EOF, "", true},
		"truncated":                          {simulator.Fault{Status: 202, Body: body, TruncateBody: 5}, io.ErrUnexpectedEOF, body[:5], false},
		"truncated after the headers":        {simulator.Fault{Status: 202, Body: body, TruncateBody: -1}, io.ErrUnexpectedEOF, "", false},
		"the real response, truncated":       {simulator.Fault{TruncateBody: 1}, io.ErrUnexpectedEOF, "{", true},
		"an error although the service acts": {simulator.Fault{Status: 500, Acts: true}, nil, "", true},
		"an error":                           {simulator.Fault{Status: 500}, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, simulator.Options{})
			h.AddFault(test.fault)
			r, err := h.try("POST", jobs, `{"domain":"a"}`, nil)
			if !errors.Is(err, test.want) || r.body != test.body {
				t.Errorf("%q, %v, want %q, %v", r.body, err, test.body, test.want)
			}
			if acted := len(h.JobIDs()) == 1; acted != test.acted {
				t.Errorf("the service acted: %t, want %t", acted, test.acted)
			}
		})
	}
}

func TestFaultsApplyInOrder(t *testing.T) {
	t.Parallel()
	h := start(t, simulator.Options{})
	path := jobs + "/" + h.completedJob()
	h.AddFault(simulator.Fault{Status: 418, Endpoint: simulator.EndpointBundle})
	h.AddFault(simulator.Fault{Status: 500, Times: 2})
	h.AddFault(simulator.Fault{Status: 502, Skip: 1, Times: 1})
	remove := h.AddFault(simulator.Fault{Status: 504, Skip: 2})
	for i, want := range []int{500, 500, 200, 502, 200, 504, 504} {
		if r := h.get(path); r.status != want {
			t.Errorf("request %d returns %d, want %d", i, r.status, want)
		}
	}
	if r := h.call("POST", path+"/bundle", "", nil); r.status != 418 {
		t.Errorf("the bundle returns %d", r.status)
	}
	remove()
	for range 2 {
		if r := h.get(path); r.status != 200 {
			t.Errorf("after the removal: %d", r.status)
		}
	}
}

func TestFaultDelaysUntilTheClientLeaves(t *testing.T) {
	t.Parallel()
	for delay, want := range map[time.Duration]time.Duration{time.Minute: time.Minute, simulator.Forever: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			service := simulator.New(simulator.Options{})
			service.AddFault(simulator.Fault{Delay: delay})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			w, began := httptest.NewRecorder(), time.Now()
			func() {
				defer func() { _ = recover() }() // http.ErrAbortHandler
				service.ServeHTTP(w, httptest.NewRequest("GET", "/v1/x", nil).WithContext(ctx))
			}()
			if took := time.Since(began); took != want || (w.Body.Len() > 0) != (delay == want) {
				t.Errorf("after %v: %q, want a wait of %v", took, w.Body, want)
			}
		})
	}
}
