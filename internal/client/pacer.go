package client

import (
	"context"
	"sync"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const (
	// leastRate is the lowest rate in requests per second. Even if the service accepts fewer, probing at this rate
	// shows when the limit rises.
	leastRate = 2
	// remembered is how many seconds after the last response a 429 still counts. It is longer than the pauses that
	// services usually request, after which refused requests come back together.
	remembered = 120
)

// pacer spaces requests to match what the service accepts. Until the first 429, and again after a pause without
// responses, it does nothing. In between, requests leave one by one, in the order in which they asked. A refused
// request does not hold the gate while it waits, so it delays no other.
type pacer struct {
	clock clock.Clock
	// gate admits one request at a time and guards previous. Requests that wait for a channel are served in order.
	gate     chan struct{}
	previous time.Time // when the last request left

	mu      sync.Mutex
	limited bool     // since the first 429
	latest  int64    // Unix time of the last response
	tallies [4]tally // of the last four seconds, by second modulo 4
}

// tally counts the responses of one second.
type tally struct {
	second            int64 // Unix time
	accepted, refused int
}

func newPacer(c clock.Clock) *pacer { return &pacer{clock: c, gate: make(chan struct{}, 1)} }

// take waits for the turn of a request. It fails with context.Cause(ctx) when ctx ends.
func (p *pacer) take(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p.pace() == 0 {
		return nil
	}
	select {
	case p.gate <- struct{}{}:
		defer func() { <-p.gate }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if cause := p.clock.Sleep(ctx, p.previous.Add(p.pace()).Sub(p.clock.Now())); cause != nil {
		return cause
	}
	p.previous = p.clock.Now()
	return nil
}

// pace returns the interval between requests, or zero if they are not limited. The rate is the number of requests
// that were accepted in the best of the last four seconds, including the present one. If the service refused at most
// one request in five in each of the last three full seconds, the rate is doubled to find out whether the service
// accepts more. If the limit of the service is fixed, this happens in one second of four.
func (p *pacer) pace() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	best, factor, now := leastRate, 2, p.clock.Now().Unix()
	if p.limited = p.limited && now-p.latest <= remembered; !p.limited {
		return 0
	}
	for _, t := range p.tallies {
		if t.second <= now-int64(len(p.tallies)) {
			continue
		}
		best = max(best, t.accepted)
		if t.second < now && 5*t.refused > t.accepted+t.refused {
			factor = 1
		}
	}
	return time.Second / time.Duration(best*factor)
}

// count counts a response. Every one but a 429, or what means the same, means that the request was accepted.
func (p *pacer) count(refused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now().Unix()
	p.latest = now
	t := &p.tallies[now%int64(len(p.tallies))]
	if t.second != now {
		*t = tally{second: now}
	}
	if refused {
		t.refused++
		p.limited = true
	} else {
		t.accepted++
	}
}
