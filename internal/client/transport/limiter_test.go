// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// slots takes all free slots of a limiter and returns how many there were.
func slots(t *testing.T, l *limiter) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	count := 0
	for l.acquire(ctx) == nil {
		count++
	}
	return count
}

// Ten calls come at once after four that came one by one.
func TestSuccessesAddSlotsAndFailuresDoNot(t *testing.T) {
	for status, want := range map[int]int{200: 5, 500: 4} {
		bubble(t, func(t *testing.T) {
			handler := reply(status, "{}")
			tr, s := serve(t, inTurn(handler, handler, handler, handler, silent), retries(0))
			ctx, cancel := context.WithCancel(bounded(t, time.Hour))
			for range 4 {
				_, _ = tr.Do(ctx, read)
			}
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() { _, _ = tr.Do(ctx, read) })
			}
			synctest.Wait()
			if got := len(s.received()) - 4; got != want {
				t.Errorf("%d calls are in flight after four responses of %d, want %d", got, status, want)
			}
			cancel()
			all.Wait()
		})
	}
}

func TestLimiterCutsItsSizeOnceForRequestsThatWereSentTogether(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLimiter(clock.System{})
		l.size = 20
		got := []int{}
		for range 8 {
			sent := time.Now()
			<-time.After(second)
			l.refused(sent)
			l.refused(sent)
			count := slots(t, l)
			for range count {
				l.release(false)
			}
			got = append(got, count)
		}
		if want := []int{14, 9, 6, 4, 3, 2, 1, 1}; !slices.Equal(got, want) {
			t.Errorf("%v slots, want %v", got, want)
		}
	})
}

func TestLimiterGivesAFreeSlotToACallThatStillWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLimiter(clock.System{})
		slots(t, l)
		ctx, cancel := context.WithCancelCause(t.Context())
		var canceled, admitted error
		done := 0
		go func() { canceled = l.acquire(ctx); done++ }()
		go func() { admitted = l.acquire(t.Context()); done++ }()
		synctest.Wait()
		cancel(errInterrupt)
		synctest.Wait()
		if done != 1 || !errors.Is(canceled, errInterrupt) {
			t.Fatalf("%d calls ended with %v, want one with the cause of its context", done, canceled)
		}
		l.release(false)
		synctest.Wait()
		if done != 2 || admitted != nil {
			t.Errorf("%d calls ended, %v; want the other one to get the slot", done, admitted)
		}
	})
}

func TestCallThatWasRefusedComesBackAtARandomTime(t *testing.T) {
	for name, test := range map[string]struct {
		refusal       http.HandlerFunc
		timeout, want time.Duration
	}{
		"up to twice as late":              {reply(429, "", "Retry-After: 60"), time.Hour, 105 * second},
		"as asked if the deadline is near": {reply(429, "", "Retry-After: 60"), 100 * second, 60 * second},
		"after a backoff":                  {reply(500, ""), time.Hour, 875 * time.Millisecond},
	} {
		bubble(t, func(t *testing.T) {
			tr, s := serve(t, inTurn(test.refusal, reply(200, "{}")), func(c *Config) { c.Random = func() float64 { return .75 } })
			if _, err := tr.Do(bounded(t, test.timeout), read); err != nil || time.Since(s.began) != test.want {
				t.Errorf("%s: %v after %s, want %s", name, err, time.Since(s.began), test.want)
			}
		})
	}
}

// Eight reads share four slots. The first one is refused and waits a minute in its slot.
func TestCallThatWasRefusedDelaysNoOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, s := serve(t, inTurn(reply(429, "", "Retry-After: 60"), late(second, reply(200, "{}"))))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := tr.Do(bounded(t, time.Hour), Request{Method: http.MethodGet}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if times := s.times(); len(times) != 9 || times[7] > 4 || times[8] != 60 {
			t.Errorf("requests at %v, want the last but one within four seconds and the last after a minute", times)
		}
	})
}
