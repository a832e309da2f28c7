// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// leastRate is the lowest rate in requests per second. If the service accepts fewer,
// trying this rate also reveals when it accepts more.
const leastRate = 2

// pacer spaces requests as the service accepts them. Until the first 429, it does
// nothing. From then on, requests leave one by one, in the order in which they asked. A
// request that was refused holds nothing while it waits, so it delays no other.
type pacer struct {
	clock   clock.Clock
	waiting atomic.Int64 // requests that have asked and not left
	// gate holds the request that leaves next, and guards left. A channel serves those
	// who wait for it in their order.
	gate chan struct{}
	left time.Time // when the last request left

	mu      sync.Mutex
	limited bool     // since the first 429
	tallies [4]tally // of the last four seconds, by second modulo 4
}

// tally counts the responses of one second.
type tally struct {
	second            int64 // Unix time
	accepted, refused int
}

func newPacer(c clock.Clock) *pacer { return &pacer{clock: c, gate: make(chan struct{}, 1)} }

// take waits for the turn of a request. It fails with the cause of ctx or, as soon as it
// is clear that ctx will end first, with a [*retry.BusyError].
func (p *pacer) take(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	interval := p.pace()
	if interval == 0 {
		return nil
	}
	queue := interval * time.Duration(p.waiting.Add(1)-1)
	defer p.waiting.Add(-1)
	turn := p.clock.Now().Add(queue)
	if deadline, bounded := ctx.Deadline(); bounded && !turn.Before(deadline) {
		return &retry.BusyError{RetryAt: turn, Queued: true}
	}
	select {
	case p.gate <- struct{}{}:
		defer func() { <-p.gate }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if cause := p.clock.Sleep(ctx, p.left.Add(p.pace()).Sub(p.clock.Now())); cause != nil {
		return cause
	}
	p.left = p.clock.Now()
	return nil
}

// pace returns the interval between requests, or zero before the first 429. It is that of
// the best of the last four seconds, including the present one. If the
// service refused at most one request in five in each of the last three full seconds, the
// interval is halved to find out whether it accepts more: with a true limit, this is one
// second in four.
func (p *pacer) pace() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.limited {
		return 0
	}
	best, factor, now := leastRate, 2, p.clock.Now().Unix()
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

// record counts a response by its status. Every one but a 429 means that the request was
// accepted.
func (p *pacer) record(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now().Unix()
	t := &p.tallies[now%int64(len(p.tallies))]
	if t.second != now {
		*t = tally{second: now}
	}
	if status == http.StatusTooManyRequests {
		t.refused++
		p.limited = true
	} else {
		t.accepted++
	}
}
