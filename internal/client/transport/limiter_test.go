// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

func throttled(retryAfter time.Duration) error {
	return &APIError{Exchange: Exchange{StatusCode: 429, RetryAfter: retryAfter}}
}

// waiter is an acquire that runs in the background.
type waiter struct {
	done     chan struct{}
	admitted time.Time
	err      error
}

func acquire(ctx context.Context, l *limiter) *waiter {
	w := &waiter{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.admitted, w.err = l.acquire(ctx)
	}()
	synctest.Wait()
	return w
}

func (w *waiter) waits() bool {
	synctest.Wait()
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}

// window returns how many requests the limiter admits at once now.
func window(t *testing.T, l *limiter) int {
	t.Helper()
	ctx, cancel := context.WithCancel(bounded(t, time.Hour))
	count := 0
	for !acquire(ctx, l).waits() {
		count++
	}
	cancel()
	synctest.Wait()
	for range count {
		l.release(time.Time{}, errRefused) // neither a success nor a 429
	}
	return count
}

func TestLimiterAddsOneForEachWindowOfSuccesses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLimiter(clock.System{})
		for want := initialLimit; want < 8; want++ {
			if got := window(t, l); got != want {
				t.Errorf("%d requests at once, want %d", got, want)
			}
			for range want + 1 { // a window of 4.0 takes five steps of less than 1/4
				admitted, _ := l.acquire(bounded(t, time.Hour))
				l.release(admitted, nil)
			}
		}
	})
}

func TestLimiterHalvesOnceForEachEpoch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLimiter(clock.System{})
		l.limit = 16
		for _, step := range []struct {
			name       string
			admitted   int // requests admitted together
			throttled  int // of them
			retryAfter time.Duration
			pause      time.Duration
			window     int // after the pause
		}{
			{"one 429", 1, 1, 5 * second, 5 * second, 8},
			{"several 429 to requests of one time", 6, 6, 5 * second, 5 * second, 4},
			{"two more", 4, 2, 0, 4 * second, 2},
			{"down to one", 2, 2, 0, 8 * second, 1},
			{"and not below", 1, 1, 0, 16 * second, 1},
		} {
			var admitted []time.Time
			for range step.admitted {
				at, err := l.acquire(bounded(t, time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				admitted = append(admitted, at)
			}
			<-time.After(second) // the answers
			began := time.Now()
			for i, at := range admitted {
				if i < step.throttled {
					l.release(at, throttled(step.retryAfter))
				} else {
					l.release(at, errRefused)
				}
			}
			at, err := l.acquire(bounded(t, time.Hour))
			l.release(at, errRefused)
			if paused := time.Since(began); err != nil || paused != step.pause {
				t.Errorf("%s: pauses %s, %v; want %s", step.name, paused, err, step.pause)
			}
			if got := window(t, l); got != step.window {
				t.Errorf("%s: %d requests at once, want %d", step.name, got, step.window)
			}
		}
	})
}

func TestLimiterPausesLongerWhileTheServiceNamesNoTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLimiter(clock.System{})
		for i, step := range []struct {
			outcome error
			pause   time.Duration
		}{
			{throttled(0), second},
			{throttled(0), 2 * second},
			{throttled(0), 4 * second},
			{throttled(0), 8 * second},
			{throttled(0), 16 * second},
			{throttled(0), 30 * second},
			{throttled(0), 30 * second},
			{throttled(7 * second), 7 * second},
			{throttled(second / 10), second},
			{throttled(-second), 30 * second},
			{errRefused, 0},
			{throttled(0), 30 * second},
			{nil, 0},
			{throttled(0), second},
		} {
			admitted, err := l.acquire(bounded(t, time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(1) // so that each 429 begins an epoch
			began := time.Now()
			l.release(admitted, step.outcome)
			admitted, _ = l.acquire(bounded(t, time.Hour))
			l.release(admitted, errRefused)
			if paused := time.Since(began); paused != step.pause {
				t.Errorf("step %d: pauses %s, want %s", i, paused, step.pause)
			}
		}
	})
}

func TestLimiterFailsAtOnceIfTheWaitIsTooLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLimiter(clock.System{})
		began := time.Now()
		for range initialLimit {
			_, _ = l.acquire(bounded(t, time.Hour))
		}
		early := acquire(bounded(t, time.Minute), l)
		patient := acquire(bounded(t, 3*time.Hour), l)
		if !early.waits() || !patient.waits() {
			t.Fatal("more requests than the limit are admitted")
		}
		l.release(began, throttled(2*time.Hour))
		l.release(began, errRefused)
		l.release(began, errRefused)
		late := acquire(bounded(t, time.Minute), l)
		for name, w := range map[string]*waiter{"a request that waits for a slot": early, "a later request": late} {
			var busy *BusyError
			if w.waits() || !errors.As(w.err, &busy) || !busy.RetryAt.Equal(began.Add(2*time.Hour)) {
				t.Errorf("%s: waits %t, %v; want a BusyError at once", name, w.waits(), w.err)
			}
		}
		if <-patient.done; patient.err != nil || !patient.admitted.Equal(began.Add(2*time.Hour)) {
			t.Errorf("the patient request is admitted at %s, %v", patient.admitted, patient.err)
		}
		// A request that sleeps learns of a longer pause when it wakes up.
		l.release(time.Now(), throttled(10*second))
		sleeper := acquire(bounded(t, time.Minute), l)
		l.release(time.Now(), throttled(time.Hour))
		began = time.Now()
		var busy *BusyError
		if <-sleeper.done; !errors.As(sleeper.err, &busy) || time.Since(began) != 10*second {
			t.Errorf("the sleeping request gets %v after %s, want a BusyError after 10s", sleeper.err, time.Since(began))
		}
	})
}

func TestLimiterKeepsTheSlotOfACanceledWaiter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLimiter(clock.System{})
		for range initialLimit {
			_, _ = l.acquire(bounded(t, time.Hour))
		}
		ctx, cancel := context.WithCancelCause(bounded(t, time.Hour))
		quitter, other := acquire(ctx, l), acquire(bounded(t, time.Hour), l)
		cancel(errInterrupt)
		if quitter.waits() || !errors.Is(quitter.err, errInterrupt) || !other.waits() {
			t.Errorf("gets %v, want the cause of its context", quitter.err)
		}
		l.release(time.Now(), nil)
		if other.waits() || other.err != nil {
			t.Errorf("waits %t, %v; want the slot of the finished request", other.waits(), other.err)
		}
	})
}
