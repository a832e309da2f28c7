package client

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const accepted, refusal = false, true

// seconds has a pacer record accepted and refused requests, each pair in a second of its own, and returns the requests
// per second that it allows in the second after them.
func seconds(p *pacer, counts ...[2]int) int {
	for _, count := range counts {
		for range count[0] {
			p.count(accepted)
		}
		for range count[1] {
			p.count(refusal)
		}
		<-time.After(second)
	}
	p.limited, p.latest = true, time.Now().Unix()
	return int(second / p.pace())
}

func TestPaceFollowsTheAcceptedRequests(t *testing.T) {
	type row struct {
		counts [][2]int // of accepted and refused requests per second
		now    int      // of both in the present second
		want   int      // requests per second
	}
	inBubbles(t, map[string]row{
		"is that of the accepted requests, not the refused": {[][2]int{{10, 40}}, 0, 10},
		"is that of the best second":                        {[][2]int{{5, 5}, {9, 9}, {7, 7}}, 0, 9},
		"is at least two per second":                        {[][2]int{{0, 40}}, 0, 2},
		"doubles if one in five was refused":                {[][2]int{{8, 2}}, 0, 16},
		"does not double if more than one in five":          {[][2]int{{9, 3}}, 0, 9},
		"does not double for three seconds":                 {[][2]int{{10, 9}, {10, 0}, {10, 0}}, 0, 10},
		"doubles after three seconds":                       {[][2]int{{10, 9}, {10, 0}, {10, 0}, {10, 0}}, 0, 20},
		"forgets what was four seconds ago":                 {[][2]int{{99, 0}, {0, 0}, {0, 0}, {0, 0}}, 0, 4},
		"doubles until the end of a second of refusals":     {nil, 9, 18},
	}, func(t *testing.T, test row) {
		p := newPacer(clock.System{})
		for range test.now {
			p.count(refusal)
			p.count(accepted)
		}
		if got := seconds(p, test.counts...); got != test.want {
			t.Errorf("allows %d requests per second, want %d", got, test.want)
		}
		<-time.After(time.Minute)
		if got := p.pace(); got != second/4 {
			t.Errorf("requests leave %s apart after a minute, want %s", got, second/4)
		}
		p.count(accepted) // any response keeps the limit
		<-time.After(100 * second)
		if got := p.pace(); got != second/4 {
			t.Errorf("requests leave %s apart 100 s after a response, want %s", got, second/4)
		}
		<-time.After(9 * time.Minute)
		if got := p.pace(); got != 0 {
			t.Errorf("requests leave %s apart after ten minutes, want no limit", got)
		}
	})
}

// Ten requests ask in their order, a millisecond apart.
func TestRequestsLeaveInTheirOrder(t *testing.T) {
	for name, test := range map[string]struct {
		recorded bool
		apart    time.Duration
	}{
		"at once before the first 429": {accepted, time.Millisecond},
		"one by one after it":          {refusal, second / 4},
	} {
		bubble(t, func(t *testing.T) {
			p := newPacer(clock.System{})
			p.count(test.recorded)
			<-time.After(4 * second)
			var all sync.WaitGroup
			order, began := make(chan int, 10), time.Now()
			for i := range 10 {
				all.Go(func() {
					if p.take(t.Context()) == nil {
						order <- i
					}
				})
				<-time.After(time.Millisecond)
			}
			all.Wait()
			close(order)
			took, last := time.Since(began), -1
			for i := range order {
				if last++; i != last {
					t.Errorf("%s: request %d leaves after %d others", name, i, last)
				}
			}
			if last != 9 || took < 9*test.apart || took > 10*test.apart {
				t.Errorf("%s: %d requests leave in %s, want %s apart", name, last+1, took, test.apart)
			}
		})
	}
}

// Four requests may leave in a second. One leaves, and eleven wait.
func TestTurnThatDoesNotCome(t *testing.T) {
	type row struct {
		timeout, interrupt, took time.Duration
		want                     string
	}
	inBubbles(t, map[string]row{
		"comes before the deadline":         {3001 * time.Millisecond, time.Hour, 3 * second, "<nil>"},
		"is not awaited after the deadline": {2750 * time.Millisecond, time.Hour, 2750 * time.Millisecond, "context deadline exceeded"},
		"is not awaited after an interrupt": {time.Hour, second / 8, second / 8, "interrupt"},
		"is not taken after an interrupt":   {time.Hour, 2900 * time.Millisecond, 2900 * time.Millisecond, "interrupt"},
	}, func(t *testing.T, test row) {
		p := newPacer(clock.System{})
		p.count(refusal)
		<-time.After(4 * second)
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() { _ = p.take(t.Context()) })
		}
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(bounded(t, test.timeout))
		time.AfterFunc(test.interrupt, func() { cancel(errInterrupt) })
		began := time.Now()
		err := p.take(ctx)
		if took := time.Since(began); took != test.took || fmt.Sprint(err) != test.want {
			t.Errorf("%v after %s, want %v after %s", err, took, test.want, test.took)
		}
		all.Wait()
		if err := p.take(bounded(t, second)); err != nil {
			t.Errorf("the next turn does not come: %v", err)
		}
		cancel(errInterrupt)
		if err := newPacer(clock.System{}).take(ctx); err == nil {
			t.Error("a request leaves after its context has ended")
		}
	})
}

func TestOnlyAResponseCountsAsAccepted(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    int // requests per second after 40 reads of 10 ms at most
	}{
		"a success":          {reply(200, "{}"), 80},
		"another error":      {reply(404, ""), 80},
		"a canceled attempt": {silent, 4},
	} {
		bubble(t, func(t *testing.T) {
			c, _ := serve(t, test.handler)
			for range 40 {
				_, _ = c.send(bounded(t, 10*time.Millisecond), aRead, firstAttempt)
			}
			<-time.After(second)
			if got := seconds(c.pacer); got != test.want {
				t.Errorf("%s: allows %d requests per second, want %d", name, got, test.want)
			}
		})
	}
}
