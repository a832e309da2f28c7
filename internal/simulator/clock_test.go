// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

var epoch = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// since returns how far a clock is past epoch.
func since(c *simulator.VirtualClock) time.Duration { return c.Now().Sub(epoch) }

func TestVirtualClockSleepMovesTheClock(t *testing.T) {
	t.Parallel()
	clock := simulator.NewVirtualClock(epoch)
	began := time.Now()
	for _, d := range []time.Duration{time.Hour, 0, -time.Hour, time.Millisecond} {
		if err := clock.Sleep(t.Context(), d); err != nil {
			t.Fatalf("Sleep(%v): %v", d, err)
		}
	}
	if got, want := since(clock), time.Hour+time.Millisecond; got != want {
		t.Errorf("the clock moved by %v, want %v", got, want)
	}
	if real := time.Since(began); real > 10*time.Second {
		t.Errorf("sleeping took %v of real time", real)
	}
}

func TestVirtualClockTimersFireInOrderAtTheirInstants(t *testing.T) {
	t.Parallel()
	clock := simulator.NewVirtualClock(epoch)
	var fired []time.Duration
	note := func() { fired = append(fired, since(clock)) }
	clock.AfterFunc(3*time.Second, note)
	clock.AfterFunc(time.Second, func() {
		note()
		clock.AfterFunc(time.Second, note)
	})
	stopped := clock.AfterFunc(2*time.Second, func() { t.Error("a stopped timer fired") })
	clock.AfterFunc(11*time.Second, func() { t.Error("a timer fired early") })
	if !stopped() || stopped() {
		t.Error("stop should succeed once")
	}

	clock.Advance(10 * time.Second)

	want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}
	if !slices.Equal(fired, want) {
		t.Errorf("timers fired at %v, want %v", fired, want)
	}
	if got := since(clock); got != 10*time.Second {
		t.Errorf("the clock stands at %v", got)
	}
}

func TestVirtualClockTimersOfOneInstantFireInTheOrderOfTheirMaking(t *testing.T) {
	t.Parallel()
	clock := simulator.NewVirtualClock(epoch)
	var fired, want []int
	for i := range 20 {
		want = append(want, i)
		clock.AfterFunc(time.Second, func() { fired = append(fired, i) })
	}
	clock.Advance(time.Second)
	if !slices.Equal(fired, want) {
		t.Errorf("timers fired in the order %v", fired)
	}
}

func TestVirtualClockStopAfterFiringReportsFalse(t *testing.T) {
	t.Parallel()
	clock := simulator.NewVirtualClock(epoch)
	stop := clock.AfterFunc(time.Second, func() {})
	clock.Advance(time.Second)
	if stop() {
		t.Error("stop took back a timer that had fired")
	}
}

func TestVirtualClockSleepEndsWhereATimerEndsItsContext(t *testing.T) {
	t.Parallel()
	clock := simulator.NewVirtualClock(epoch)
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	clock.AfterFunc(5*time.Second, func() { cancel(late) })
	clock.AfterFunc(6*time.Second, func() { t.Error("a timer after the end fired") })

	if err := clock.Sleep(ctx, time.Minute); !errors.Is(err, late) {
		t.Errorf("Sleep: %v, want the cause", err)
	}
	if err := clock.Sleep(ctx, time.Minute); !errors.Is(err, late) {
		t.Errorf("Sleep with a context that is done: %v, want the cause", err)
	}
	if got := since(clock); got != 5*time.Second {
		t.Errorf("the clock stands at %v, want 5s", got)
	}
}

// The timer's function holds the clock at 1 s until the second sleeper has
// called: its target must count from there, and the first one's must not grow.
func TestVirtualClockSleepersCountFromTheirOwnCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := simulator.NewVirtualClock(epoch)
		var second time.Duration
		clock.AfterFunc(time.Second, func() {
			go func() {
				_ = clock.Sleep(t.Context(), 3*time.Second)
				second = since(clock)
			}()
			synctest.Wait()
		})
		_ = clock.Sleep(t.Context(), 4*time.Second)
		synctest.Wait()
		if first := since(clock); first != 4*time.Second || second != 4*time.Second {
			t.Errorf("the sleepers ended at %v and %v, want both at 4s", first, second)
		}
	})
}

func TestVirtualClockSleepersFromOneInstantEndAtOneInstant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := simulator.NewVirtualClock(epoch)
		clock.AfterFunc(0, func() {
			for range 10 {
				go func() { _ = clock.Sleep(t.Context(), time.Minute) }()
			}
			synctest.Wait()
		})
		clock.Advance(0)
		synctest.Wait()
		if got := since(clock); got != time.Minute {
			t.Errorf("ten sleepers of a minute moved the clock by %v", got)
		}
	})
}

func TestVirtualClockIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	clock := simulator.NewVirtualClock(epoch)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				d := time.Duration(1+(i*7+j)%13) * time.Millisecond
				before := clock.Now()
				stop := clock.AfterFunc(d, func() {
					if now := clock.Now(); now.Before(before.Add(d)) {
						t.Errorf("a timer of %v fired %v after it was made", d, now.Sub(before))
					}
				})
				if j%3 == 0 {
					stop()
				}
				at := clock.Now()
				_ = clock.Sleep(t.Context(), d)
				if now := clock.Now(); now.Before(at.Add(d)) {
					t.Errorf("Sleep(%v) ended after %v", d, now.Sub(at))
				}
			}
		})
	}
	wg.Wait()
}

// Another goroutine must not move the clock on while a timer's function runs.
func TestVirtualClockStandsWhileATimerRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := simulator.NewVirtualClock(epoch)
		clock.AfterFunc(time.Second, func() {
			go clock.Advance(time.Hour)
			synctest.Wait()
			if got := since(clock); got != time.Second {
				t.Errorf("the clock stood at %v in a timer of 1s", got)
			}
		})
		clock.Advance(time.Second)
		synctest.Wait()
		if got, want := since(clock), time.Hour+time.Second; got != want {
			t.Errorf("the clock stands at %v, want %v", got, want)
		}
	})
}

func TestVirtualClockSurvivesATimerThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	clock := simulator.NewVirtualClock(epoch)
	clock.AfterFunc(time.Second, runtime.Goexit)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		clock.Advance(time.Minute)
	}()
	<-ended
	clock.Advance(time.Minute)
	if got, want := since(clock), time.Minute+time.Second; got != want {
		t.Errorf("the clock stands at %v, want %v", got, want)
	}
}
