// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleepEndsAfterItsTimeOrWithTheContext(t *testing.T) {
	interrupted := errors.New("interrupted")
	tests := map[string]struct {
		endAfter time.Duration // of the context; negative: ended before
		took     time.Duration
		err      error
	}{
		"after its time":          {time.Hour, time.Minute, nil},
		"with the context":        {time.Second, time.Second, interrupted},
		"at once if that is over": {-1, 0, interrupted},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				if test.endAfter < 0 {
					cancel(interrupted)
				}
				defer systemClock{}.AfterFunc(test.endAfter, func() { cancel(interrupted) })()
				began := time.Now()
				if err := (systemClock{}).Sleep(ctx, time.Minute); !errors.Is(err, test.err) {
					t.Errorf("got %v, want %v", err, test.err)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %s, want %s", took, test.took)
				}
			})
		})
	}
}

func TestWithTimeoutEndsWithItsOwnCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, reset)
		ctx, cancel := c.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if got := deadlineOf(ctx); !got.Equal(s.began.Add(time.Minute)) {
			t.Errorf("the deadline is %s", got)
		}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), ErrTimeout) || time.Since(s.began) != time.Minute {
			t.Errorf("ended with %v after %s", context.Cause(ctx), time.Since(s.began))
		}
	})
}

func TestWithTimeoutKeepsAnEarlierDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, reset)
		outer, cancelOuter := c.WithTimeout(t.Context(), time.Minute)
		defer cancelOuter()
		for name, d := range map[string]time.Duration{"a longer one inside": time.Hour, "a shorter one inside": time.Second} {
			inner, cancel := c.WithTimeout(outer, d)
			if got, want := deadlineOf(inner), s.began.Add(min(d, time.Minute)); !got.Equal(want) {
				t.Errorf("%s: the deadline is %s, want %s", name, got, want)
			}
			cancel()
		}
		inner, cancel := c.WithTimeout(outer, time.Hour)
		defer cancel()
		<-inner.Done()
		if !errors.Is(context.Cause(inner), ErrTimeout) || time.Since(s.began) != time.Minute {
			t.Errorf("ended with %v after %s", context.Cause(inner), time.Since(s.began))
		}
	})
}

func TestWithTimeoutThatIsCancelledIsNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, reset) // which checks that no timer is left
		ctx, cancel := c.WithTimeout(t.Context(), time.Minute)
		cancel()
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) || errors.Is(cause, ErrTimeout) {
			t.Errorf("ended with %v", cause)
		}
	})
}

func TestContextWithoutATimeoutHasNoDeadline(t *testing.T) {
	if got := deadlineOf(t.Context()); !got.IsZero() {
		t.Errorf("the deadline is %s", got)
	}
}

func TestWithTimeoutOfNothingIsOverAtOnce(t *testing.T) {
	for name, d := range map[string]time.Duration{"none": 0, "less than none": -time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, reply(202, `{"jobId":"se_1"}`))
				ctx, cancel := c.WithTimeout(t.Context(), d)
				defer cancel()
				if _, err := c.StartStaticExport(ctx, "docs.example.com", nil); !errors.Is(err, ErrTimeout) || len(s.got()) > 0 {
					t.Errorf("got %v after %d requests", err, len(s.got()))
				}
			})
		})
	}
}
