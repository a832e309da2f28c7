// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/binary"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzPoller reads its input as a sequence of answers, ten bytes each: what
// phase and whether there is a progress, how long the answer took, and the
// progress as the bits of a float64.
func FuzzPoller(f *testing.F) {
	answer := func(kind byte, took byte, progress float64) []byte {
		return binary.LittleEndian.AppendUint64([]byte{kind, took}, math.Float64bits(progress))
	}
	var linear, odd []byte
	for i := range 50 {
		linear = append(linear, answer(2, 1, float64(2*i))...)
	}
	for i, progress := range oddities {
		odd = append(odd, answer(byte(i), byte(20*i), progress)...)
	}
	f.Add(linear, .5)
	f.Add(odd, 0.)
	f.Add(append(answer(1, 200, 0), linear...), .999)
	f.Fuzz(func(t *testing.T, answers []byte, random float64) {
		if !(random >= 0 && random < 1) {
			t.Skip("not what a source of random numbers returns")
		}
		poller := NewPoller(PollOptions{}, func() float64 { return random })
		elapsed, shown := time.Duration(0), false
		for range min(len(answers)/10, 1000) {
			phase, progress := PollRunning, percent(math.Float64frombits(binary.LittleEndian.Uint64(answers[2:])))
			if answers[0]&1 != 0 {
				phase = PollQueued
			}
			if answers[0]&2 == 0 {
				progress = nil
			}
			shown = shown || progress != nil
			wait := poller.Next(elapsed, phase, progress, 0)
			checkWait(t, wait, elapsed, shown)
			elapsed += wait + time.Duration(answers[1])*100*time.Millisecond
			answers = answers[10:]
		}
	})
}

// FuzzGate reads its input as what happens to a gate, a byte each: somebody
// comes, gives up, or comes back with one of several outcomes, or time passes.
// Whatever that is, nobody enters during a pause, no more are in flight than
// may be, and in the end everybody who waited has entered.
func FuzzGate(f *testing.F) {
	f.Add([]byte("eeeeeeessssss"))
	f.Add([]byte("eeeeeeeeeerhhsseeet.ttesesesest"))
	f.Add([]byte("eeeegegegessssrhrhrhe......tttteeeeeee"))
	f.Add([]byte("ehehehehehehesesesesesesesehehh"))
	f.Add([]byte("eLegegeLtt"))
	f.Fuzz(func(t *testing.T, events []byte) {
		if len(events) > 300 {
			t.Skip("long inputs only take long")
		}
		synctest.Test(t, func(t *testing.T) {
			g := newGate(systemClock{})
			var giveUp []context.CancelFunc
			var waiting, inside atomic.Int64
			come := func() {
				ctx, cancel := context.WithCancel(t.Context())
				giveUp = append(giveUp, cancel)
				waiting.Add(1)
				go func() {
					err := g.enter(ctx, time.Time{})
					waiting.Add(-1)
					if err != nil {
						return
					}
					inside.Add(1)
					g.mu.Lock()
					defer g.mu.Unlock()
					if time.Now().Before(g.resume) {
						t.Errorf("entered %s before the pause was over", time.Until(g.resume))
					}
					if float64(g.inFlight) > g.limit {
						t.Errorf("%d are in flight, of %g", g.inFlight, g.limit)
					}
				}()
			}
			leave := func(o outcome) {
				if inside.Load() > 0 {
					inside.Add(-1)
					g.leave(o)
				}
			}
			for _, event := range events {
				switch event {
				case 'g':
					if len(giveUp) > 0 {
						giveUp[0]()
						giveUp = giveUp[1:]
					}
				case 's':
					leave(outcome{ok: true})
				case 'f':
					leave(outcome{})
				case 'r':
					leave(outcome{throttled: true})
				case 'h':
					leave(outcome{throttled: true, retryAfter: 3 * time.Second})
				case 'L':
					leave(outcome{throttled: true, retryAfter: 1000 * time.Hour})
				case '.':
					<-time.After(100 * time.Millisecond)
				case 't':
					<-time.After(10 * time.Second)
				default:
					come()
				}
				synctest.Wait()
			}
			for waiting.Load() > 0 || inside.Load() > 0 {
				leave(outcome{ok: true})
				if synctest.Wait(); inside.Load() == 0 && waiting.Load() > 0 {
					<-time.After(1000 * time.Hour) // the longest pause
					synctest.Wait()
				}
			}
			if g.inFlight != 0 || len(g.queue) != 0 {
				t.Errorf("%d in flight and %d in the queue at the end, want none", g.inFlight, len(g.queue))
			}
			for _, cancel := range giveUp {
				cancel()
			}
		})
	})
}
