// Package simulator is an in-process simulation of the documentation hosting service
// for tests and the demo: update records, export jobs, and bundles behind
// presigned links that work and expire like real ones.
//
// The service keeps a log of its requests and misbehaves on demand (Fault). It
// implements api/openapi.yaml, whose operations the comments cite. It shares no
// code with the client or the provider, so that tests notice a misspelled
// field name in one of them.
package simulator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"
)

// DefaultAPIKey is the key that the service accepts if Options names none.
const DefaultAPIKey = "sim_00112233445566778899aabbccddeeff" //nolint:gosec // opens nothing but a simulator

// Forever is the duration of a phase that never ends by itself.
const Forever = time.Duration(1<<63 - 1)

// Omit is the value of a field that is left out of its JSON object.
var Omit any = omitted{}

type omitted struct{}

// Options configures a Service. The zero value is a service that works.
type Options struct {
	// APIKey is the key that the service accepts: DefaultAPIKey if empty.
	APIKey string
	// Now returns the current time: time.Now if nil.
	Now func() time.Time
	// Queue and Run are how long jobs and updates are queued and then run,
	// unless their specs say otherwise: 2 s and 18 s if zero, no time if
	// negative.
	Queue, Run time.Duration
	// Fail, unless empty, is the failure message of every job whose spec has
	// no Fail.
	Fail string
	// LinkLifetime is how long a presigned link works, in whole seconds: 15 min
	// if zero. Links are dated in whole seconds, so a link that is created
	// in the middle of a second expires up to a second earlier.
	LinkLifetime time.Duration
	// KeepLink makes the service return the same link until it has expired,
	// instead of a new one for every request.
	KeepLink bool
	// Store stores an archive under a name and returns a URL from which anyone can GET it
	// until lifetime is over. If nil, the service stores its bundles itself.
	Store func(ctx context.Context, name string, archive []byte, lifetime time.Duration) (url string, err error)
	// IDSeed changes the IDs of jobs and updates. With the same seed, the IDs
	// repeat from run to run, so that outputs can be compared.
	IDSeed string
	// ListenAddr is the address of the API for Listen: 127.0.0.1:0 if empty.
	ListenAddr string
	// Observe, unless nil, is called with every exchange below the base URL
	// before the response is sent. It is called concurrently.
	Observe func(Exchange)
}

// Service is the simulated service. It is an http.Handler that serves the API
// below /v1 and the built-in store below /storage, and is safe for concurrent
// use.
type Service struct {
	options   Options
	mux       *http.ServeMux
	endpoints []string // those of the routes
	store     *store

	mu      sync.Mutex
	jobs    map[string]*job
	jobIDs  []string  // in the order of creation
	next    []JobSpec // of the next jobs, one each
	later   JobSpec   // of the jobs after those
	updates map[string]update
	madeIDs int
	rewrite func(endpoint string, body map[string]any) any
	faults  []*activeFault
	log     []Request
	served  int // number of requests ever
}

// New returns a service without jobs and updates.
func New(options Options) *Service {
	options.APIKey = cmp.Or(options.APIKey, DefaultAPIKey)
	if options.Now == nil {
		options.Now = time.Now
	}
	options.Queue = orDefault(options.Queue, 2*time.Second)
	options.Run = orDefault(options.Run, 18*time.Second)
	options.LinkLifetime = max(orDefault(options.LinkLifetime, 15*time.Minute).Truncate(time.Second), time.Second)
	s := &Service{
		options: options,
		store:   &store{now: options.Now, objects: map[string]object{}, links: map[string]time.Time{}},
		jobs:    map[string]*job{},
		updates: map[string]update{},
	}
	if options.Store == nil {
		s.options.Store = s.store.put
	}
	s.mux = s.routes()
	return s
}

// Rewrite passes the body of every successful JSON response through f, which can
// change it or return something else to send. f is called concurrently. A nil
// f ends the rewriting.
func (s *Service) Rewrite(f func(endpoint string, body map[string]any) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rewrite = f
}

// newID returns an ID of 16 hexadecimal digits after prefix. Call it with s.mu
// held.
func (s *Service) newID(prefix string) string {
	s.madeIDs++
	return prefix + digits(fmt.Sprint(s.options.IDSeed, prefix, s.madeIDs), 16)
}

// digits returns the first n hexadecimal digits of a hash of seed.
func digits(seed string, n int) string {
	sum := sha256.Sum256([]byte(seed))
	return hex.EncodeToString(sum[:])[:n]
}

// orDefault returns usual if d is zero, and zero if d is negative.
func orDefault(d, usual time.Duration) time.Duration {
	if d == 0 {
		return usual
	}
	return max(d, 0)
}

// timestamp formats a time as the service does in its records.
func timestamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// withoutOmitted removes the fields whose value is Omit.
func withoutOmitted(object map[string]any) map[string]any {
	maps.DeleteFunc(object, func(_ string, v any) bool { return v == Omit })
	return object
}
