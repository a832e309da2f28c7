package walk

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/iotest"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// scene is what stays the same during a walk.
type scene struct {
	Seed     uint64 `json:"seed,omitempty"`
	Exports  int    `json:"exports,omitempty"`
	Download bool   `json:"download,omitempty"` // of the first export
	Gate     bool   `json:"gate,omitempty"`
	Lifetime span   `json:"lifetime,omitzero"` // of a link
	Keeps    bool   `json:"keeps,omitempty"`
}

// job is how the jobs that a step starts behave.
type job struct {
	Run  span   `json:"run,omitzero"`
	Fail string `json:"fail,omitempty"`
	// Unknown is how long the service does not know a job that it has started.
	Unknown span `json:"unknown,omitzero"`
	// NoBundle is how long it does not find the bundle of a job that has completed.
	NoBundle span `json:"no_bundle,omitzero"`
}

// fault is a way in which requests go wrong. If it has neither Times nor For, it is for
// one request. Faults of one step follow one another: the next one begins when those
// before it have ended.
type fault struct {
	At    string `json:"at,omitempty"` // an endpoint; any if empty
	Skip  int    `json:"skip,omitempty"`
	Times int    `json:"times,omitempty"`
	For   span   `json:"for,omitempty"`
	// Kind is an HTTP status or one of the constants below, or several of them, in turn.
	Kind       string `json:"kind,omitempty"`
	RetryAfter int    `json:"retry_after,omitempty"` // seconds
	Acts       bool   `json:"acts,omitempty"`        // the service acts on the request anyway
	Delay      span   `json:"delay,omitempty"`       // of the response
}

const (
	kindRefused = "refused" // there is no connection
	kindLost    = "lost"    // the connection is lost before the response
	kindSilence = "silence"
	kindCut     = "cut"  // the response is cut; the service has acted
	kindPage    = "page" // a web page with status 200
	kindSlow    = "slow" // a success, perhaps with a delay or with Retry-After
)

type activeFault struct {
	fault
	met, used int
	began     time.Time
}

// outcome is what the provider received.
type outcome string

const (
	ok       outcome = "ok"
	missing  outcome = "missing"   // 404, 410
	rejected outcome = "rejected"  // another response that more attempts do not change
	busy     outcome = "busy"      // 429
	trouble  outcome = "trouble"   // temporary; the service may have acted
	never    outcome = "never"     // there was no connection
	left     outcome = "abandoned" // by the provider
)

// failures are the outcomes that a streak of failures consists of. A 429 is none.
var failures = []outcome{missing, rejected, trouble, never}

// exchange is a request and what the provider received.
type exchange struct {
	at, ended time.Time
	endpoint  string
	job       string // in the path, or as the start created it
	address   string // of the export
	body      string
	connected bool // so the service may have received it
	outcome   outcome
	after     time.Duration // Retry-After
	status    string        // of the job or update that was received
	failed    bool          // it has failed
	url       string        // of the link that was received
}

// world is the service, the network, and the processes that use it.
type world struct {
	scene
	service *simulator.Service
	skew    time.Duration                                           // of the service's clock
	wrap    func(tfprotov6.ProviderServer) tfprotov6.ProviderServer // or nil

	mu      sync.Mutex
	faults  []*activeFault
	job     job
	hidden  map[string]hiding // by job
	seen    []exchange        // in this command
	owner   map[string]string // addresses of exports by job
	started map[string]string // the last job by address
	links   map[string]string // jobs by link
	sites   map[string][]byte // bundles by job
	leaks   []string          // log records with a secret
	tally   map[string]int    // of what happened
}

// hiding says until when a job, or only its bundle, is not found.
type hiding struct{ job, bundle time.Time }

const (
	requestTimeout = 30 * time.Second

	baseURL = "https://docs.test/v1"
	apiKey  = "sim_5ecre7c0ffee5ecre7c0ffee"
)

func newWorld(s scene) *world {
	s.Exports = max(s.Exports, 1)
	w := &world{scene: s, hidden: map[string]hiding{}, owner: map[string]string{}, links: map[string]string{}, sites: map[string][]byte{}, started: map[string]string{}, tally: map[string]int{}}
	w.service = simulator.New(simulator.Options{APIKey: apiKey, LinkLifetime: time.Duration(s.Lifetime), KeepLink: s.Keeps, Now: func() time.Time { return time.Now().Add(w.skew) }})
	return w
}

// chance is a number in [0, 1) that depends on the seed and the time alone, so that the
// order of goroutines does not matter.
func (w *world) chance() float64 {
	return rand.New(rand.NewPCG(w.Seed, uint64(time.Now().UnixNano()))).Float64()
}

// launch starts a provider.
func (w *world) launch() *process {
	p := &process{}
	p.ctx, p.kill = context.WithCancel(context.Background())
	environment := map[string]string{"DOCS_BASE_URL": baseURL, "DOCS_API_KEY": apiKey}
	p.ProviderServer = provider.NewServer(provider.Options{
		Version: "test",
		Clock:   clock.System{},
		Getenv:  func(name string) string { return environment[name] },
		Client: func(c *client.Config) {
			c.RoundTripper, c.Random = &network{w, p}, w.chance
			c.Log = func(_ context.Context, _ slog.Level, message string, fields map[string]any) {
				if text := fmt.Sprint(message, fields); isSecret(text) {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.leaks = append(w.leaks, text)
				}
			}
		},
	})()
	if w.wrap != nil {
		p.ProviderServer = w.wrap(p.ProviderServer)
	}
	config := encode("", configuration("", nil))
	must(p.ConfigureProvider(p.ctx, &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.12.0", Config: config}))
	return p
}

// isSecret reports whether a text contains the API key or the query of a link.
func isSecret(text string) bool {
	return strings.Contains(text, apiKey) || strings.Contains(text, "X-Amz-")
}

// network is the network as one process sees it.
type network struct {
	*world
	process *process
}

var errLost = errors.New("the connection was lost")

// RoundTrip implements [http.RoundTripper].
func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	body := []byte{}
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		_ = req.Body.Close()
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	defer context.AfterFunc(n.process.ctx, func() { cancel(errKilled) })()
	x := n.arrive(req, string(body))
	f := n.fault(x)
	response, err := n.respond(ctx, req, body, x, f)
	if context.Cause(ctx) != nil {
		response, err = nil, cmp.Or(err, context.Cause(ctx))
	}
	n.note(x, f, response, err)
	return response, err
}

// arrive returns the exchange that a request begins.
func (n *network) arrive(req *http.Request, body string) *exchange {
	x := &exchange{at: time.Now(), body: body}
	path := strings.Split(strings.TrimPrefix(req.URL.Path, "/v1/"), "/")
	switch {
	case path[0] == "project":
		x.endpoint, x.address = simulator.EndpointUpdate, gate
	case path[0] != "static-export":
		x.endpoint = simulator.EndpointDownload
	case len(path) == 2:
		x.endpoint = simulator.EndpointStart
		for i := range n.Exports {
			if strings.Contains(body, fmt.Sprintf(`"s%d.`, i)) {
				x.address = address(i)
			}
		}
	case len(path) == 3:
		x.endpoint, x.job = simulator.EndpointJob, path[2]
	default:
		x.endpoint, x.job = simulator.EndpointBundle, path[2]
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if x.address = cmp.Or(x.address, n.owner[x.job]); n.process.later.Load() {
		x.address = download
	}
	return x
}

// fault returns the fault of a request. The zero value is none.
func (n *network) fault(x *exchange) fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range n.faults {
		over := f.used >= max(f.Times, 1) && f.For == 0 || f.For > 0 && f.used > 0 && x.at.Sub(f.began) >= time.Duration(f.For)
		if over || f.At != "" && f.At != x.endpoint {
			continue
		}
		if f.met++; f.met <= f.Skip {
			return fault{}
		}
		if f.used++; f.used == 1 {
			f.began = x.at
		}
		kinds, one := strings.Split(f.Kind, " "), f.fault
		one.Kind = kinds[(f.used-1)%len(kinds)]
		n.tally["fault "+one.Kind]++
		return one
	}
	if h := n.hidden[x.job]; x.at.Before(h.job) || x.at.Before(h.bundle) && x.endpoint == simulator.EndpointBundle {
		n.tally["fault missing"]++
		return fault{Kind: "404"}
	}
	return fault{}
}

// respond lets the service act, and returns what arrives.
func (n *network) respond(ctx context.Context, req *http.Request, body []byte, x *exchange, f fault) (*http.Response, error) {
	pause(ctx, 2*time.Millisecond+time.Duration(n.chance()*float64(20*time.Millisecond)))
	if ctx.Err() != nil || f.Kind == kindRefused {
		return nil, cmp.Or(context.Cause(ctx), errLost)
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	x.connected = true
	status, _ := strconv.Atoi(f.Kind)
	answer := httptest.NewRecorder()
	if f.Acts || f.Kind == "" || f.Kind == kindCut || f.Kind == kindSlow || x.endpoint == simulator.EndpointDownload {
		n.act(req, body, x, answer)
	}
	pause(ctx, time.Millisecond+time.Duration(f.Delay))
	switch {
	case f.Kind == kindSilence:
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case f.Kind == kindLost:
		return nil, errLost
	case f.Kind == kindPage:
		answer = httptest.NewRecorder()
		_, _ = answer.WriteString("<!doctype html><title>Sign in</title>")
	case status != 0:
		answer = httptest.NewRecorder()
		answer.WriteHeader(status)
		_, _ = answer.WriteString(`{"error":"a fault"}`)
	}
	response := answer.Result()
	response.Request = req
	if f.RetryAfter > 0 {
		response.Header.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	if f.Kind == kindCut {
		half := answer.Body.Len() / 2
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(answer.Body.Bytes()[:half]), iotest.ErrReader(errLost)))
	}
	return response, nil
}

// act passes a request to the service.
func (n *network) act(req *http.Request, body []byte, x *exchange, answer *httptest.ResponseRecorder) {
	n.mu.Lock()
	defer n.mu.Unlock()
	served := req.Clone(context.Background())
	served.Host, served.TLS, served.Body = req.URL.Host, &tls.ConnectionState{}, io.NopCloser(bytes.NewReader(body))
	var site []byte
	if x.endpoint == simulator.EndpointStart {
		site = bytes.Repeat(fmt.Appendf(nil, "\x00job %d ", len(n.owner)), 50) // text is never a bundle
		n.service.NextJob(simulator.JobSpec{Run: cmp.Or(time.Duration(n.job.Run), 20*time.Second), Fail: n.job.Fail, Archive: site})
	}
	n.service.ServeHTTP(answer, served)
	n.service.ResetRequests()
	if x.endpoint == simulator.EndpointStart && answer.Code < 300 {
		ids := n.service.JobIDs()
		x.job = ids[len(ids)-1]
		n.owner[x.job], n.started[x.address], n.sites[x.job] = x.address, x.job, site
		began := time.Now()
		n.hidden[x.job] = hiding{began.Add(time.Duration(n.job.Unknown)), began.Add(time.Duration(n.job.Run + n.job.NoBundle))}
	}
}

// note records an exchange as the provider saw it.
func (n *network) note(x *exchange, f fault, response *http.Response, err error) {
	x.ended, x.outcome = time.Now(), ok
	if err == nil {
		x.after = time.Duration(f.RetryAfter) * time.Second
	}
	switch {
	case n.process.killed():
		x.outcome = left
	case f.Kind == kindRefused && err != nil, x.endpoint == simulator.EndpointStart && !x.connected:
		x.outcome = never
	case err != nil && !errors.Is(err, errLost) && x.ended.Sub(x.at) < requestTimeout:
		x.outcome = left
	case err != nil, f.Kind == kindCut, f.Kind == kindPage, response.StatusCode >= 500, response.StatusCode == http.StatusRequestTimeout:
		x.outcome = trouble
	case response.StatusCode == http.StatusTooManyRequests:
		x.outcome = busy
	case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusGone:
		x.outcome = missing
	case response.StatusCode >= 300:
		x.outcome = rejected
	default:
		body, _ := io.ReadAll(response.Body)
		response.Body = io.NopCloser(bytes.NewReader(body))
		var record struct{ Status, BundleURL string }
		_ = json.Unmarshal(body, &record)
		x.status, x.failed = record.Status, strings.HasPrefix(record.Status, "fail")
		x.url = record.BundleURL
	}
	if x.outcome != busy {
		x.after = min(x.after, time.Minute)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tally["requests"]++
	n.tally[x.endpoint+" "+string(x.outcome)]++
	if x.url != "" {
		n.links[x.url] = x.job
	}
	n.seen = append(n.seen, *x)
}

func saidAt(all []said, address string) []said {
	return slices.DeleteFunc(slices.Clone(all), func(s said) bool { return s.address != address })
}

func seenAt(all []exchange, address string) []exchange {
	return slices.DeleteFunc(slices.Clone(all), func(x exchange) bool { return x.address != address })
}

func failure(all []said) bool { return slices.ContainsFunc(all, func(s said) bool { return s.failed }) }

// requestsFor returns the requests for a job, if it is not "", to an endpoint, if it is not "".
func requestsFor(job, endpoint string, all []exchange) []exchange {
	return slices.DeleteFunc(slices.Clone(all), func(x exchange) bool {
		return job != "" && x.job != job || endpoint != "" && x.endpoint != endpoint
	})
}

// lasted returns for how long the last responses were all of some kinds: from the response to
// the first request until the last one was sent, without the pauses after a 429.
func lasted(asked []exchange, kinds ...outcome) (total time.Duration) {
	var next time.Time
	var sum time.Duration
	for _, x := range slices.Backward(asked) {
		switch {
		case x.outcome == busy:
			sum += x.ended.Sub(x.at)
		case !slices.Contains(kinds, x.outcome):
			return total
		case !next.IsZero():
			sum += next.Sub(x.at)
			total = sum - x.ended.Sub(x.at)
		}
		next = x.at
	}
	return total
}

func hasFailed(x exchange) bool { return x.failed }

func succeeded(x exchange) bool { return x.outcome == ok }

func wentWrong(x exchange) bool { return x.outcome != ok }
