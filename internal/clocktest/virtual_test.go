package clocktest_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
)

// The tests of the provider sleep on the clock. These tests show what a single sleeper
// does not.

func TestContextEndsWithTheCauseOfItsParent(t *testing.T) {
	t.Parallel()
	errTimeout := errors.New("the operation took too long")
	c := clocktest.NewVirtual(time.Now())
	began := c.Now()
	parent, cancel := c.WithTimeout(t.Context(), time.Minute, errTimeout)
	defer cancel()
	child, cancel := c.WithTimeout(parent, time.Hour, errors.New("not this cause"))
	defer cancel()
	if deadline, _ := child.Deadline(); !deadline.Equal(began.Add(time.Minute)) {
		t.Errorf("the deadline is in %s, not that of the parent", deadline.Sub(began))
	}
	err := c.Sleep(child, 2*time.Hour)
	if elapsed := c.Now().Sub(began); elapsed != time.Minute || !errors.Is(err, errTimeout) {
		t.Errorf("after %s: %v, want the parent's cause after a minute", elapsed, err)
	}
}

func TestSleepersOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clocktest.NewVirtual(time.Now())
		began := c.Now()
		var all sync.WaitGroup
		for _, d := range []time.Duration{time.Minute, time.Second, time.Minute} {
			all.Go(func() { _ = c.Sleep(t.Context(), d) })
		}
		all.Wait()
		if elapsed := c.Now().Sub(began); elapsed != time.Minute {
			t.Errorf("they slept for %s, want a minute", elapsed)
		}
	})
}
