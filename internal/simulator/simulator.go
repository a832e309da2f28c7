// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package simulator is an in-process copy of the documentation hosting
// service, for tests and for the demo: update records, export jobs, and
// bundles behind presigned links that really expire and really download.
//
// It tells the time by an injected clock, keeps a log of all requests, and
// misbehaves on demand (Fault). What it answers follows the public reference
// of the API. It knows nothing of the client or the provider and shares no
// type with them, so that a field misnamed there shows.
package simulator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"sync"
	"time"
)

// DefaultAPIKey is the key that is accepted when Options names none.
const DefaultAPIKey = "sim_00112233445566778899aabbccddeeff" //nolint:gosec // no secret: it opens nothing but a simulator

// Forever is a duration for a phase that does not end by itself.
const Forever = time.Duration(1<<63 - 1)

// Omit is the value of a member that is to be left out of its JSON object.
var Omit any = omitted{}

type omitted struct{}

// Options says how the service behaves. The zero value is a good service.
type Options struct {
	// APIKey is the bearer key that is accepted; DefaultAPIKey if empty.
	APIKey string
	// Clock is the time; nil is the wall clock.
	Clock Clock
	// ClockSkew is how far the service's own clock is ahead of Clock. It
	// shows in everything the service dates, and in when links expire.
	ClockSkew time.Duration
	// DateSkew is added to the Date header of answers, and to nothing else.
	DateSkew time.Duration
	// Queue and Run are how long jobs and updates are queued and then run,
	// where they do not say so themselves: 2 s and 18 s if zero, not at all
	// if negative.
	Queue, Run time.Duration
	// Pages is the number of pages of the exported site: those of the
	// built-in site if zero, a part of it if smaller, a larger site if larger.
	Pages int
	// LinkLifetime is how long a presigned link is good, in whole seconds:
	// 15 min if zero. Links are dated in whole seconds too, so one made in
	// the middle of a second lives up to a second less.
	LinkLifetime time.Duration
	// KeepLink makes the service hand out the same link and the same expiry
	// until that link has expired, and not a fresh one at every call.
	KeepLink bool
	// ExpiresAt is how expiresAt is written in JSON: nil is an RFC 3339
	// string in UTC. It may return Omit.
	ExpiresAt func(time.Time) any
	// Storage is where bundles live; nil is the built-in object store.
	Storage Storage
	// ListenAddr is where Listen serves the API: 127.0.0.1:0 if empty.
	ListenAddr string
}

// Storage keeps bundle archives and hands out links to them.
type Storage interface {
	// Put stores the archive under a name, replacing what was there.
	Put(ctx context.Context, name string, archive []byte) error
	// Link returns a URL from which anyone may GET the archive until
	// lifetime is over.
	Link(ctx context.Context, name string, lifetime time.Duration) (url string, err error)
}

// Service is the simulated service. It is an http.Handler for the API, below
// /v1, and for the built-in object store, below /storage. It is safe for
// concurrent use.
type Service struct {
	options Options
	clock   Clock
	store   *objectStore

	mu      sync.Mutex
	key     string
	jobs    map[string]*job
	started []string // ids of the jobs, in the order of their creation
	next    []JobSpec
	updates map[string]update
	sites   map[int][]byte // archives by number of pages
	made    int            // ids made so far
	rewrite func(endpoint string, body map[string]any) any
	limit   *rateLimit
	faults  []*activeFault
	log     []*Request
	served  int // requests ever
}

// New returns a service that has no jobs and no updates yet.
func New(options Options) *Service {
	if options.APIKey == "" {
		options.APIKey = DefaultAPIKey
	}
	if options.Clock == nil {
		options.Clock = wallClock{}
	}
	options.Queue = defaultTo(options.Queue, 2*time.Second)
	options.Run = defaultTo(options.Run, 18*time.Second)
	if options.Pages <= 0 {
		options.Pages = len(builtinPages)
	}
	if options.LinkLifetime == 0 {
		options.LinkLifetime = 15 * time.Minute
	}
	options.LinkLifetime = max(options.LinkLifetime.Truncate(time.Second), time.Second)
	if options.ExpiresAt == nil {
		options.ExpiresAt = func(t time.Time) any { return t.UTC().Format(time.RFC3339) }
	}
	return &Service{
		options: options,
		clock:   options.Clock,
		store:   newObjectStore(),
		key:     options.APIKey,
		jobs:    map[string]*job{},
		updates: map[string]update{},
		sites:   map[int][]byte{},
	}
}

// RotateKey makes key the one that is accepted from now on.
func (s *Service) RotateKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// SetRateLimit answers 429 to requests of the API that come faster than
// perSecond, after a burst. retryAfter writes the Retry-After header from the
// time until the next request would pass; an empty string leaves the header
// out, and nil writes whole seconds. A perSecond of zero lifts the limit.
func (s *Service) SetRateLimit(perSecond float64, burst int, retryAfter func(wait time.Duration) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = newRateLimit(perSecond, burst, retryAfter)
}

// Rewrite passes the body of every successful JSON answer through f, which
// may change it or return anything else to send in its place. f runs
// concurrently. A nil f sends the bodies as they are.
func (s *Service) Rewrite(f func(endpoint string, body map[string]any) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rewrite = f
}

// now is the time by the service's own clock.
func (s *Service) now() time.Time {
	return s.clock.Now().Add(s.options.ClockSkew)
}

// newID returns an identifier of 16 hexadecimal digits behind prefix. Ids
// repeat from run to run, so that outputs can be compared. Call with s.mu held.
func (s *Service) newID(prefix string) string {
	s.made++
	return prefix + digits(fmt.Sprint(prefix, s.made), 16)
}

// digits returns the first n hexadecimal digits of a hash of seed.
func digits(seed string, n int) string {
	sum := sha256.Sum256([]byte(seed))
	return hex.EncodeToString(sum[:])[:n]
}

// defaultTo reads a duration of which zero means "as usual" and less "none".
func defaultTo(d, usual time.Duration) time.Duration {
	if d == 0 {
		return usual
	}
	return max(d, 0)
}

// timestamp writes a time as the service does in its records.
func timestamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// withoutOmitted drops the members whose value is Omit.
func withoutOmitted(object map[string]any) map[string]any {
	maps.DeleteFunc(object, func(_ string, v any) bool {
		_, omit := v.(omitted)
		return omit
	})
	return object
}
