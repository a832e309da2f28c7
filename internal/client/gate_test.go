// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// limiter is a service's side of a limit: it serves a request or says when to
// come back.
type limiter func(now time.Time) (served bool, retryAfter time.Duration)

func wholeSeconds(d time.Duration) time.Duration {
	return time.Duration(math.Ceil(d.Seconds())) * time.Second
}

// tokenBucket serves rate requests per second, and burst at once.
func tokenBucket(rate, burst float64) limiter {
	tokens, last := burst, time.Time{}
	return func(now time.Time) (bool, time.Duration) {
		if !last.IsZero() {
			tokens = min(burst, tokens+rate*now.Sub(last).Seconds())
		}
		last = now
		if tokens < 1 {
			return false, wholeSeconds(time.Duration((1 - tokens) / rate * float64(time.Second)))
		}
		tokens--
		return true, 0
	}
}

// quota serves n requests in each window of the length per.
func quota(n int, per time.Duration) limiter {
	var window time.Time
	used := 0
	return func(now time.Time) (bool, time.Duration) {
		if start := now.Truncate(per); start != window {
			window, used = start, 0
		}
		if used == n {
			return false, wholeSeconds(window.Add(per).Sub(now))
		}
		used++
		return true, 0
	}
}

// unsaid is a limiter that does not say when to come back.
func unsaid(l limiter) limiter {
	return func(now time.Time) (bool, time.Duration) {
		served, _ := l(now)
		return served, 0
	}
}

func unlimited(time.Time) (bool, time.Duration) { return true, 0 }

// crowd sends requests, each worker one after the other and each again until it
// is served, and returns how long that took and how many were refused.
func crowd(t *testing.T, service limiter, workers, requests int, seed uint64) (took time.Duration, refused int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		clock := systemClock{}
		g := newGate(clock)
		random := rand.New(rand.NewPCG(seed, 0))
		began := clock.Now()
		var mu sync.Mutex
		send := func() (bool, time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			served, retryAfter := service(clock.Now())
			if !served {
				refused++
			}
			return served, retryAfter
		}
		oneWay := func() {
			mu.Lock()
			d := time.Duration((.04 + .04*random.Float64()) * float64(time.Second))
			mu.Unlock()
			<-time.After(d)
		}
		var wait sync.WaitGroup
		for range workers {
			wait.Go(func() {
				for range requests {
					for served := false; !served; {
						if err := g.enter(t.Context(), time.Time{}); err != nil {
							t.Error(err)
							return
						}
						var retryAfter time.Duration
						oneWay()
						served, retryAfter = send()
						oneWay()
						g.leave(outcome{throttled: !served, retryAfter: retryAfter, ok: served})
					}
				}
			})
		}
		wait.Wait()
		took = clock.Now().Sub(began)
	})
	return took, refused
}

// The bounds are what was measured over ten seeds, with a margin: a change of
// the gate that makes it clearly slower or ruder goes red.
func TestGateKeepsToLimitsThatItHasToLearn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		service func() limiter
		workers int
		ideal   time.Duration // without a single refusal, the burst or first window free
		slower  float64       // than ideal, at most
		refused int           // at most
	}{
		"a bucket of 2 per second":                     {func() limiter { return tokenBucket(2, 2) }, 50, 99 * time.Second, 1.15, 26},
		"a bucket of 5 per second":                     {func() limiter { return tokenBucket(5, 5) }, 50, 39 * time.Second, 1.15, 16},
		"a bucket of 10 per second":                    {func() limiter { return tokenBucket(10, 10) }, 50, 19 * time.Second, 1.2, 12},
		"a bucket of 50 per second":                    {func() limiter { return tokenBucket(50, 50) }, 50, 3 * time.Second, 1.8, 42},
		"a bucket that does not say when to come back": {func() limiter { return unsaid(tokenBucket(10, 10)) }, 50, 19 * time.Second, 1.2, 12},
		"a bucket without any burst":                   {func() limiter { return tokenBucket(2, 1) }, 50, 100 * time.Second, 1.6, 30},
		"windows of a second":                          {func() limiter { return quota(10, time.Second) }, 50, 19 * time.Second, 1.5, 18},
		"windows of a minute":                          {func() limiter { return quota(60, time.Minute) }, 50, 180 * time.Second, 1.1, 45},
		"ten workers, Terraform's own parallelism":     {func() limiter { return tokenBucket(10, 10) }, 10, 3 * time.Second, 1.6, 10},
		"no limit at all":                              {func() limiter { return unlimited }, 50, time.Second, 1.5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(5) {
				took, refused := crowd(t, c.service(), c.workers, 4, seed)
				if most := time.Duration(c.slower * float64(c.ideal)); took > most {
					t.Errorf("seed %d: took %s, want at most %s", seed, took, most)
				}
				if refused > c.refused {
					t.Errorf("seed %d: %d requests were refused, want at most %d", seed, refused, c.refused)
				}
			}
		})
	}
}

// enterLater enters in the background and reports when and how that ended.
func enterLater(ctx context.Context, g *gate, deadline time.Time) <-chan error {
	done := make(chan error, 1)
	go func() { done <- g.enter(ctx, deadline) }()
	synctest.Wait()
	return done
}

func mustEnter(t *testing.T, g *gate) {
	t.Helper()
	if err := g.enter(t.Context(), time.Time{}); err != nil {
		t.Fatal(err)
	}
}

// ended returns what came of an enterLater that must have ended by now.
func mustHaveEnded(t *testing.T, done <-chan error) error {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		return err
	default:
		t.Fatal("it still waits")
		return nil
	}
}

func mustWait(t *testing.T, done <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		t.Fatalf("it no longer waits, with error %v", err)
	default:
	}
}

func TestGateOpensWithEachSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(systemClock{})
		began := time.Now()
		const roundTrips = 12
		most := 0
		for range roundTrips {
			ctx, cancel := context.WithCancel(t.Context())
			entered := 0
			for ; entered < 64; entered++ {
				if len(enterLater(ctx, g, time.Time{})) == 0 {
					break
				}
			}
			cancel() // whoever still waits
			synctest.Wait()
			most = max(most, entered)
			for range entered {
				g.leave(outcome{ok: true})
			}
		}
		if most != 64 {
			t.Errorf("%d requests at once after %d round trips, want 64", most, roundTrips)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %s though nothing was refused", waited)
		}
	})
}

func TestGateLetsInWhoeverCameFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(systemClock{})
		for range gateStart {
			mustEnter(t, g)
		}
		var order []int
		for i := range 20 {
			go func() {
				if err := g.enter(t.Context(), time.Time{}); err != nil {
					t.Error(err)
				}
				order = append(order, i)
			}()
			synctest.Wait()
		}
		for range 20 {
			g.leave(outcome{})
			synctest.Wait()
		}
		if len(order) != 20 || !slices.IsSorted(order) {
			t.Errorf("they entered in the order %v", order)
		}
	})
}

func TestGateLosesNoPlaceToThoseWhoGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(systemClock{})
		for range gateStart {
			mustEnter(t, g)
		}
		gone := errors.New("gone")
		var cancels []context.CancelCauseFunc
		var waiting []<-chan error
		for range 9 {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancels = append(cancels, cancel)
			waiting = append(waiting, enterLater(ctx, g, time.Time{}))
		}
		for _, i := range []int{0, 4, 8, 1} { // first, in the middle, last, first again
			cancels[i](gone)
			if err := mustHaveEnded(t, waiting[i]); !errors.Is(err, gone) {
				t.Errorf("the error is %v, want the context's cause", err)
			}
		}
		for _, i := range []int{2, 3, 5, 6, 7} {
			mustWait(t, waiting[i])
			g.leave(outcome{})
			if err := mustHaveEnded(t, waiting[i]); err != nil {
				t.Error(err)
			}
		}
		for range gateStart {
			g.leave(outcome{})
		}
		if g.inFlight != 0 || len(g.queue) != 0 {
			t.Errorf("%d in flight and %d in the queue at the end, want none", g.inFlight, len(g.queue))
		}
	})
}

func TestGateRefusesAContextThatIsDone(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	g := newGate(systemClock{})
	if err := g.enter(ctx, time.Time{}); !errors.Is(err, gone) {
		t.Errorf("the error is %v, want the context's cause", err)
	}
}

func TestGatePausesForAllAndRefusesAtOnceWhoCannotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(systemClock{})
		for range gateStart {
			mustEnter(t, g)
		}
		now := time.Now()
		first := enterLater(t.Context(), g, now.Add(time.Minute))
		patient := enterLater(t.Context(), g, time.Time{})
		late := enterLater(t.Context(), g, now.Add(time.Minute))
		inTime := enterLater(t.Context(), g, now.Add(3*time.Hour))

		g.leave(outcome{throttled: true, retryAfter: 2 * time.Hour})
		for _, done := range []<-chan error{first, late, enterLater(t.Context(), g, now.Add(time.Minute))} {
			var busy *BusyError
			if err := mustHaveEnded(t, done); !errors.As(err, &busy) {
				t.Errorf("the error is %v, want a BusyError", err)
			} else if want := now.Add(2 * time.Hour); !busy.RetryAt.Equal(want) {
				t.Errorf("it says to retry at %s, want %s", busy.RetryAt, want)
			}
		}
		if waited := time.Since(now); waited != 0 {
			t.Errorf("they were refused after %s, want at once", waited)
		}
		for _, done := range []<-chan error{patient, inTime} {
			mustWait(t, done)
		}
		if err := <-patient; err != nil {
			t.Error(err)
		}
		if waited := time.Since(now); waited != 2*time.Hour {
			t.Errorf("waited %s, want what the service asked for", waited)
		}
		g.leave(outcome{ok: true})
		if err := <-inTime; err != nil {
			t.Error(err)
		}
	})
}

func TestGateRefusesThoseWhoSleepWhenAPauseGetsLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(systemClock{})
		mustEnter(t, g)
		mustEnter(t, g)
		now := time.Now()
		g.leave(outcome{throttled: true, retryAfter: 10 * time.Second})
		sleeping := enterLater(t.Context(), g, now.Add(time.Minute))
		<-time.After(5 * time.Second)
		mustWait(t, sleeping)
		g.leave(outcome{throttled: true, retryAfter: time.Hour})
		var busy *BusyError
		if err := mustHaveEnded(t, sleeping); !errors.As(err, &busy) {
			t.Errorf("the error is %v, want a BusyError", err)
		}
		if waited := time.Since(now); waited != 5*time.Second {
			t.Errorf("it was refused after %s, want as soon as the pause was known", waited)
		}
	})
}

func TestGateGuessesPausesThatTheServiceDoesNotName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(systemClock{})
		refused, served := outcome{throttled: true}, outcome{ok: true}
		mustEnter(t, g)
		for i, step := range []struct {
			last  outcome
			pause time.Duration
		}{
			{refused, 1 * time.Second},
			{refused, 2 * time.Second},
			{refused, 4 * time.Second},
			{refused, 8 * time.Second},
			{refused, 16 * time.Second},
			{refused, 30 * time.Second},
			{refused, 30 * time.Second},
			{outcome{throttled: true, retryAfter: 7 * time.Second}, 7 * time.Second},
			{outcome{throttled: true, retryAfter: -time.Second}, 30 * time.Second},
			{served, 2 * time.Second},  // no pause: the slowest pace
			{refused, 2 * time.Second}, // the first guess again, less than that pace
		} {
			left := time.Now()
			g.leave(step.last)
			mustEnter(t, g)
			if waited := time.Since(left); waited > step.pause || waited < step.pause*9/10 {
				t.Errorf("step %d: waited %s, want about %s", i, waited, step.pause)
			}
		}
	})
}

func TestGateSpendsMostOfAQuotaWhenItIsThereAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(systemClock{})
		for range 100 {
			mustEnter(t, g)
			g.leave(outcome{ok: true})
		}
		mustEnter(t, g)
		g.leave(outcome{throttled: true, retryAfter: 40 * time.Second})
		began := time.Now()
		entered := 0
		for ; time.Since(began) <= 40*time.Second; entered++ {
			mustEnter(t, g)
			g.leave(outcome{ok: true})
		}
		if entered < 95 || entered > 97 {
			t.Errorf("%d requests as soon as the pause was over, want 95 of 100", entered)
		}

		mustEnter(t, g)
		g.leave(outcome{throttled: true, retryAfter: 40 * time.Second})
		mustEnter(t, g)
		g.leave(outcome{throttled: true, retryAfter: time.Second})
		began = time.Now()
		mustEnter(t, g)
		mustEnter(t, g)
		if waited := time.Since(began); waited <= time.Second {
			t.Errorf("two requests within %s of another refusal, want the second at a pace", waited)
		}
	})
}

func TestGateLearnsOnceFromManyRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(systemClock{})
		for range 20 {
			for range gateStart {
				mustEnter(t, g)
			}
			for range gateStart {
				g.leave(outcome{ok: true})
			}
			<-time.After(100 * time.Millisecond)
		}
		for range 6 {
			mustEnter(t, g)
		}
		paused := time.Now()
		for _, retryAfter := range []time.Duration{time.Second, 2 * time.Second, time.Second, 0, time.Second} {
			g.leave(outcome{throttled: true, retryAfter: retryAfter})
		}
		mustEnter(t, g)
		if waited := time.Since(paused); waited != 2*time.Second {
			t.Errorf("waited %s, want the longest that was asked for", waited)
		}
		if want := 20. * gateStart / 4; math.Abs(g.rate-want) > .1 {
			t.Errorf("the pace is %.2f, want the %.2f a second that were served, pause included", g.rate, want)
		}

		// The sixth of those that were sent before the pause is refused only now.
		before := g.rate
		g.leave(outcome{throttled: true, retryAfter: time.Second})
		mustEnter(t, g)
		if g.rate < before/2 || g.rate > before {
			t.Errorf("the pace went from %.2f to %.2f, want no less than half", before, g.rate)
		}
	})
}

func TestGateForgetsTheTimeBeforeASilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(systemClock{})
		for range 3 {
			mustEnter(t, g)
			g.leave(outcome{ok: true})
			<-time.After(time.Hour)
		}
		for range 4 {
			mustEnter(t, g)
		}
		for range 3 {
			g.leave(outcome{ok: true})
		}
		g.leave(outcome{throttled: true, retryAfter: time.Second})
		mustEnter(t, g)
		if want := 3.; math.Abs(g.rate-want) > .1 {
			t.Errorf("the pace is %.2f, want %.2f, that of the last second", g.rate, want)
		}
	})
}

func BenchmarkGateWithoutLimits(b *testing.B) {
	g := newGate(systemClock{})
	for b.Loop() {
		if err := g.enter(b.Context(), time.Time{}); err != nil {
			b.Fatal(err)
		}
		g.leave(outcome{ok: true})
	}
}
