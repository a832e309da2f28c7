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
	Seed     uint64
	Exports  int
	Lifetime time.Duration // of a link
	Keeps    bool          // the service returns the same link until it has expired
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

// exchange is a request and what the provider received.
type exchange struct {
	at, ended time.Time
	endpoint  string
	job       string // in the path, or as the start created it
	address   string // of the resource that sent it
	body      string
	connected bool // so the service may have received it
	outcome   outcome
	after     time.Duration // Retry-After
	status    string        // of the job or update that was received
	url       string        // of the link that was received
}

func (x exchange) failed() bool { return strings.HasPrefix(x.status, "fail") }

// world is the service, the network, and the processes that use it.
type world struct {
	scene
	service *simulator.Service
	skew    time.Duration                                           // of the service's clock
	wrap    func(tfprotov6.ProviderServer) tfprotov6.ProviderServer // or nil

	mu    sync.Mutex
	down  time.Time             // until when there are no connections
	seen  []exchange            // in this command
	jobs  map[string]startedJob // that the service has started, by ID
	links map[string]string     // jobs by link
	leaks []string              // log records with a secret
	tally map[string]int        // of what happened
}

// startedJob is a job, and the export and the content that it was started for.
type startedJob struct{ address, body string }

const (
	requestTimeout = 30 * time.Second

	baseURL = "https://docs.test/v1"
	apiKey  = "sim_5ecre7c0ffee5ecre7c0ffee"
)

func newWorld(s scene) *world {
	s.Exports = max(s.Exports, 1)
	w := &world{scene: s, jobs: map[string]startedJob{}, links: map[string]string{}, tally: map[string]int{}}
	w.service = simulator.New(simulator.Options{APIKey: apiKey, LinkLifetime: s.Lifetime, KeepLink: s.Keeps, Now: func() time.Time { return time.Now().Add(w.skew) }})
	return w
}

// chance is a number in [0, 1) that depends on the seed and the time alone, so that the order of goroutines does not
// matter.
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
	none := must(tfprotov6.RawState{JSON: []byte("{}")}.Unmarshal(typeOf("")))
	must(p.ConfigureProvider(p.ctx, &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.12.0", Config: encode("", none)}))
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

var (
	errLost   = errors.New("the connection was lost")
	errKilled = errors.New("the process was killed")
)

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
	response, err := n.respond(ctx, req, body, x)
	if context.Cause(ctx) != nil {
		response, err = nil, context.Cause(ctx)
	}
	n.note(x, response, err)
	return response, err
}

// arrive returns the exchange that a request begins.
func (n *network) arrive(req *http.Request, body string) *exchange {
	x := &exchange{at: time.Now(), body: body}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch path := strings.Split(strings.TrimPrefix(req.URL.Path, "/v1/"), "/"); {
	case len(path) == 2:
		x.endpoint = simulator.EndpointStart
		_, domain, _ := strings.Cut(body, `"domain":"s`)
		x.address = "docs_static_export.s" + domain[:1]
	default:
		x.endpoint, x.job = simulator.EndpointJob, path[2]
		if x.address = n.jobs[x.job].address; len(path) > 3 {
			x.endpoint = simulator.EndpointBundle
		}
	}
	return x
}

// respond lets the service act, and returns what arrives.
func (n *network) respond(ctx context.Context, req *http.Request, body []byte, x *exchange) (*http.Response, error) {
	pause(ctx, 2*time.Millisecond+time.Duration(n.chance()*float64(20*time.Millisecond)))
	if ctx.Err() != nil || x.at.Before(n.down) {
		return nil, cmp.Or(context.Cause(ctx), errLost)
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	x.connected = true
	served, answer := req.Clone(ctx), httptest.NewRecorder()
	served.Host, served.TLS, served.Body = req.URL.Host, &tls.ConnectionState{}, io.NopCloser(bytes.NewReader(body))
	cut := n.serve(x, answer, served)
	pause(ctx, time.Millisecond)
	if cut && !answer.Flushed {
		return nil, errLost
	}
	response := answer.Result()
	if response.Request = req; cut {
		response.Body = io.NopCloser(io.MultiReader(response.Body, iotest.ErrReader(errLost)))
	}
	return response, nil
}

// serve lets the service act, and reports whether it cut the connection. It notes which job a start has started.
func (n *network) serve(x *exchange, answer *httptest.ResponseRecorder, req *http.Request) (cut bool) {
	var start struct{ Domain string }
	_ = json.Unmarshal([]byte(x.body), &start) // only the body of a start has a domain
	before := n.service.JobIDsOf(start.Domain)
	defer func() {
		cut = recover() != nil
		if after := n.service.JobIDsOf(start.Domain); len(after) > len(before) {
			n.mu.Lock()
			defer n.mu.Unlock()
			x.job = after[len(before)]
			n.jobs[x.job] = startedJob{x.address, x.body}
		}
	}()
	n.service.ServeHTTP(answer, req)
	return false
}

// note records an exchange as the provider saw it.
func (n *network) note(x *exchange, response *http.Response, err error) {
	x.ended, x.outcome = time.Now(), ok
	var body []byte
	if err == nil {
		x.after, _ = time.ParseDuration(response.Header.Get("Retry-After") + "s")
		if body, err = io.ReadAll(response.Body); err == nil {
			response.Body = io.NopCloser(bytes.NewReader(body))
		} else {
			response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), iotest.ErrReader(err)))
		}
	}
	switch {
	case n.process.killed():
		x.outcome = left
	case err != nil && !x.connected && (errors.Is(err, errLost) || x.endpoint == simulator.EndpointStart):
		x.outcome = never
	case err != nil && !errors.Is(err, errLost) && x.ended.Sub(x.at) < requestTimeout:
		x.outcome = left
	case err != nil, response.StatusCode >= 500, response.StatusCode == http.StatusRequestTimeout, bytes.HasPrefix(body, []byte("<")):
		x.outcome = trouble
	case response.StatusCode == http.StatusTooManyRequests:
		x.outcome = busy
	case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusGone:
		x.outcome = missing
	case response.StatusCode >= 300:
		x.outcome = rejected
	default:
		var record struct{ Status, BundleURL string }
		_ = json.Unmarshal(body, &record)
		x.status, x.url = record.Status, record.BundleURL
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

// requestsFor returns the requests for a job, if it is not "", to an endpoint, if it is not "".
func requestsFor(job, endpoint string, all []exchange) []exchange {
	return slices.DeleteFunc(slices.Clone(all), func(x exchange) bool {
		return job != "" && x.job != job || endpoint != "" && x.endpoint != endpoint
	})
}

// lasted returns for how long the last responses were all of some kinds: from the response to the first request until
// the last one was sent, without the pauses after a 429.
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
