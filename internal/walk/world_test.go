package walk

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
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
	ok      outcome = "ok"
	missing outcome = "missing"   // 404, 410
	busy    outcome = "busy"      // 429
	trouble outcome = "trouble"   // any other failure; the service may have acted
	never   outcome = "never"     // there was no connection
	left    outcome = "abandoned" // by the provider
)

// exchange is a request and what the provider received.
type exchange struct {
	at, ended time.Time
	endpoint  string
	job       string // in the path, or as the start created it
	domain    string // of a start
	address   string // of the resource that sent it
	body      string
	connected bool // so the service may have received it
	outcome   outcome
	status    string // of the job that was received
	url       string // of the link that was received
}

func (x exchange) failed() bool { return strings.HasPrefix(x.status, "fail") }

// world is the service, the network, and the processes that use it.
type world struct {
	scene
	service *simulator.Service
	wrap    func(tfprotov6.ProviderServer) tfprotov6.ProviderServer // or nil

	mu    sync.Mutex
	seen  []exchange        // in this command
	jobs  map[string]string // the addresses of the exports, by job
	tally map[string]int    // of what happened
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
	environment := map[string]string{"DOCS_BASE_URL": "https://docs.test/v1", "DOCS_API_KEY": simulator.DefaultAPIKey}
	p.ProviderServer = provider.NewServer(provider.Options{
		Version: "test",
		Clock:   clock.System{},
		Getenv:  func(name string) string { return environment[name] },
		Client:  func(c *client.Config) { c.RoundTripper, c.Random = &network{w, p}, w.chance },
	})()
	if w.wrap != nil {
		p.ProviderServer = w.wrap(p.ProviderServer)
	}
	none := &tfprotov6.DynamicValue{JSON: []byte("{}")}
	must(p.ConfigureProvider(p.ctx, &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.12.0", Config: none}))
	return p
}

// network is the network as one process sees it.
type network struct {
	*world
	process *process
}

var errLost = errors.New("the connection was lost")

// RoundTrip implements [http.RoundTripper].
func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	x := n.arrive(req)
	response, err := n.respond(req, x)
	if n.process.killed() || req.Context().Err() != nil {
		response, err = nil, context.Canceled
	}
	n.note(x, response, err)
	return response, err
}

// arrive returns the exchange that a request begins.
func (n *network) arrive(req *http.Request) *exchange {
	path := strings.Split(strings.TrimPrefix(req.URL.Path, "/v1/static-export/jobs"), "/") // "", the job, and "bundle"
	x := &exchange{at: time.Now(), endpoint: simulator.EndpointJob}
	switch len(path) {
	case 1:
		body, _ := io.ReadAll(req.Body)
		_ = req.Body.Close()
		var start struct{ Domain string }
		_ = json.Unmarshal(body, &start)
		label, _, _ := strings.Cut(start.Domain, ".")
		x.endpoint, x.body, x.domain, x.address = simulator.EndpointStart, string(body), start.Domain, kind+"."+label
		return x
	case 3:
		x.endpoint = simulator.EndpointBundle
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	x.job, x.address = path[1], n.jobs[path[1]]
	return x
}

// respond lets the service act, and returns what arrives.
func (n *network) respond(req *http.Request, x *exchange) (*http.Response, error) {
	ctx := req.Context()
	pause(ctx, 2*time.Millisecond+time.Duration(n.chance()*float64(20*time.Millisecond)))
	if ctx.Err() != nil || n.process.killed() {
		return nil, context.Canceled
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	x.connected = true
	served, answer := req.Clone(ctx), httptest.NewRecorder()
	served.Host, served.TLS, served.Body = req.URL.Host, &tls.ConnectionState{}, io.NopCloser(strings.NewReader(x.body))
	if n.serve(x, answer, served) {
		return nil, errLost
	}
	pause(ctx, time.Millisecond)
	response := answer.Result()
	response.Request = req
	return response, nil
}

// serve lets the service act, and reports whether it cut the connection. It notes which job a start has started.
func (n *network) serve(x *exchange, answer *httptest.ResponseRecorder, req *http.Request) (cut bool) {
	before := n.service.JobIDsOf(x.domain)
	defer func() {
		cut = recover() != nil
		if after := n.service.JobIDsOf(x.domain); len(after) > len(before) {
			n.mu.Lock()
			defer n.mu.Unlock()
			x.job = after[len(before)]
			n.jobs[x.job] = x.address
		}
	}()
	n.service.ServeHTTP(answer, req)
	return false
}

// requestTimeout is when the provider abandons a request without an interrupt.
const requestTimeout = 30 * time.Second

// note records an exchange as the provider saw it.
func (n *network) note(x *exchange, response *http.Response, err error) {
	x.ended, x.outcome = time.Now(), ok
	switch {
	case err != nil && !x.connected:
		x.outcome = never
	case n.process.killed(), err != nil && !errors.Is(err, errLost) && x.ended.Sub(x.at) < requestTimeout:
		x.outcome = left
	case err != nil:
		x.outcome = trouble
	case response.StatusCode == http.StatusTooManyRequests:
		x.outcome = busy
	case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusGone:
		x.outcome = missing
	case response.StatusCode >= 300:
		x.outcome = trouble
	default:
		body, _ := io.ReadAll(response.Body)
		response.Body = io.NopCloser(bytes.NewReader(body))
		var record struct{ Status, BundleURL string }
		_ = json.Unmarshal(body, &record)
		x.status, x.url = record.Status, record.BundleURL
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tally["requests"]++
	n.tally[x.endpoint+" "+string(x.outcome)]++
	n.seen = append(n.seen, *x)
}

// requestsFor returns the requests for a job, if it is not "", to an endpoint, if it is not "".
func requestsFor(job, endpoint string, all []exchange) []exchange {
	return slices.DeleteFunc(slices.Clone(all), func(x exchange) bool {
		return job != "" && x.job != job || endpoint != "" && x.endpoint != endpoint
	})
}
