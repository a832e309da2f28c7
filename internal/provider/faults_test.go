// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// kind is what a fault allows the provider to do about it.
type kind int

const (
	harmless  kind = iota // the answer can be used
	refused               // the service certainly did not act: any request may be repeated
	throttled             // the same, and repeated until the timeout
	uncertain             // the service may have acted: all but the start may be repeated
	final                 // another attempt would end the same
)

// fault is something that goes wrong with requests of one endpoint.
type fault struct {
	name string
	kind kind
	// One of these says what goes wrong: an answer of the service, a change of
	// its answer, or a transport that these requests go through.
	answer  simulator.Fault
	rewrite func(body map[string]any) any
	wire    func(*testing.T, *harness) http.RoundTripper
	// says is part of the diagnostic, where the fault ends in one.
	says string
	// startRecovers: the answer to the start is broken, but holds the job's id.
	startRecovers bool
	// unsent: the requests do not arrive at the service.
	unsent bool
	// except gives the kind for single endpoints.
	except map[string]kind
	// attempts is how many requests arrive while the fault lasts, if it is not
	// what the kind says.
	attempts int
}

// linkMark stands in the signature of a link that a fault's answer quotes.
const linkMark = "5ec2e7c0ffee"

// echo is what a careless server or proxy may quote in an error.
const echo = "Authorization: Bearer " + simulator.DefaultAPIKey + " for https://storage.example/bundle.tar.gz?X-Amz-Signature=" + linkMark

func status(code int) simulator.Fault {
	return simulator.Fault{Status: code, Body: `{"error": "it went wrong, ` + echo + `"}`}
}

func acting(f simulator.Fault) simulator.Fault {
	f.Acts = true
	return f
}

func withHeader(f simulator.Fault, name, value string) simulator.Fault {
	f.Header = http.Header{name: {value}}
	return f
}

func with(name string, value any) func(map[string]any) any {
	return func(body map[string]any) any {
		body[name] = value
		return body
	}
}

// faults is the table. Its order is that of the generated document.
var faults = []fault{
	{name: "connection refused", kind: refused, wire: refusingWire, unsent: true, says: "connection refused"},
	{name: "connection reset before the request was written", kind: uncertain, wire: resettingWire, unsent: true, says: "connection reset by peer"},
	{name: "connection reset after the request was read", kind: uncertain, answer: simulator.Fault{Cut: simulator.CutBefore}, says: "got no answer from 127.0.0.1"},
	{name: "connection reset after the service had acted", kind: uncertain, answer: simulator.Fault{Cut: simulator.CutAfter}, says: "got no answer from 127.0.0.1"},
	{name: "no answer", kind: uncertain, answer: simulator.Fault{Hang: true}, says: "no answer within the request timeout (30s)"},
	{name: "no answer after the service had acted", kind: uncertain, answer: simulator.Fault{Hang: true, Acts: true}, says: "no answer within the request timeout (30s)"},
	{name: "slow answer, within the request timeout", kind: harmless, answer: simulator.Fault{Delay: 20 * time.Second}},
	{name: "body that stalls", kind: uncertain, wire: stallingWire, says: "no answer within the request timeout (30s)", startRecovers: true},
	{name: "body cut off in the middle", kind: uncertain, answer: simulator.Fault{TruncateBody: 80}, says: "the answer was cut off after 80 bytes", startRecovers: true},
	{name: "body cut off before its first byte", kind: uncertain, answer: simulator.Fault{TruncateBody: -1}, says: "the answer was cut off after 0 bytes"},
	{name: "content length too long", kind: uncertain, answer: simulator.Fault{ContentLength: 100_000}, says: "the answer was cut off after", startRecovers: true},
	{name: "content length too short", kind: uncertain, answer: simulator.Fault{ContentLength: 20}, says: "the body is broken JSON"},

	{name: "400", kind: final, answer: status(400), says: "The service did not accept the values"},
	{name: "401", kind: final, answer: status(401), says: "Check the API key"},
	{name: "402", kind: final, answer: status(402), says: "Enterprise plan"},
	{name: "403", kind: final, answer: status(403), says: "may not do this"},
	{name: "404", kind: final, answer: status(404), says: "Check the id", except: map[string]kind{simulator.EndpointJob: uncertain}},
	{name: "408", kind: uncertain, answer: status(408), says: "HTTP 408 Request Timeout"},
	{name: "409", kind: final, answer: status(409), says: "does not fit the current state"},
	{name: "425", kind: uncertain, answer: status(425), says: "HTTP 425 Too Early"},
	{name: "429", kind: throttled, answer: status(429), says: "HTTP 429 Too Many Requests"},
	{name: "429 with Retry-After in seconds", kind: throttled, answer: withHeader(status(429), "Retry-After", "30"), says: "HTTP 429 Too Many Requests"},
	{name: "429 with Retry-After as a date", kind: throttled, answer: withHeader(status(429), "Retry-After", startOfTime.Add(time.Minute).Format(http.TimeFormat)), says: "HTTP 429 Too Many Requests"},
	{name: "429 with Retry-After in the past", kind: throttled, answer: withHeader(status(429), "Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT"), says: "HTTP 429 Too Many Requests"},
	{name: "429 with Retry-After that means nothing", kind: throttled, answer: withHeader(status(429), "Retry-After", "in a while"), says: "HTTP 429 Too Many Requests"},
	{name: "429 with Retry-After beyond the timeout", kind: final, answer: withHeader(status(429), "Retry-After", "999999999"), says: "after this operation's timeout"},
	{name: "500", kind: uncertain, answer: status(500), says: "HTTP 500 Internal Server Error"},
	{name: "501", kind: final, answer: status(501), says: "HTTP 501 Not Implemented"},
	{name: "502", kind: uncertain, answer: status(502), says: "HTTP 502 Bad Gateway"},
	{name: "502 after the service had acted", kind: uncertain, answer: acting(status(502)), says: "HTTP 502 Bad Gateway"},
	{name: "503", kind: uncertain, answer: status(503), says: "HTTP 503 Service Unavailable"},
	{name: "503 with Retry-After", kind: refused, answer: withHeader(status(503), "Retry-After", "7"), says: "HTTP 503 Service Unavailable"},
	{name: "503 with Retry-After beyond the timeout", kind: final, answer: withHeader(status(503), "Retry-After", "999999999"), says: "after this operation's timeout"},
	{name: "504", kind: uncertain, answer: status(504), says: "HTTP 504 Gateway Timeout"},
	{name: "504 after the service had acted", kind: uncertain, answer: acting(status(504)), says: "HTTP 504 Gateway Timeout"},

	{name: "502 with a page of HTML", kind: uncertain, answer: simulator.Fault{Status: 502, Body: "<html><script>x</script><h1>Bad gateway</h1>" + echo + "</html>"}, says: "Bad gateway"},
	{name: "500 in invalid UTF-8", kind: uncertain, answer: simulator.Fault{Status: 500, Body: "caf\xe9 \xff\xfe\x00\x1b[31m " + echo}, says: "caf\uFFFD"},
	{name: "200 with a page of HTML", kind: uncertain, answer: simulator.Fault{Status: 200, Body: "<!DOCTYPE html><title>Sign in</title>" + echo}, says: "the body is an HTML or XML page"},
	{name: "200 without a body", kind: uncertain, answer: simulator.Fault{Status: 200}, says: "the body is empty"},
	{name: "204", kind: uncertain, answer: simulator.Fault{Status: 204}, says: "the body is empty"},
	{name: "200 with an error inside", kind: uncertain, answer: simulator.Fault{Status: 200, Body: `{"error": {"code": 17, "message": "the renderer is down, ` + echo + `"}}`}, says: "the renderer is down"},
	{name: "200 with text", kind: uncertain, answer: simulator.Fault{Status: 200, Body: "OK " + echo}, says: "the body is not JSON"},
	{name: "200 with an array", kind: uncertain, answer: simulator.Fault{Status: 200, Body: `[{"status": "completed"}]`}, says: "an array instead of an object"},
	{name: "200 with null", kind: uncertain, answer: simulator.Fault{Status: 200, Body: `null`}, says: "null instead of an object"},
	{name: "200 in invalid UTF-8", kind: uncertain, answer: simulator.Fault{Status: 200, Body: "\xff\xfe{\x00}\x00"}, says: "the body is not JSON"},
	{name: "200 nested twenty thousand deep", kind: uncertain, answer: simulator.Fault{Status: 200, Body: `{"x":` + strings.Repeat("[", 20_000)}, says: "the body is broken JSON"},
	{name: "body that says gzip and is not", kind: uncertain, answer: simulator.Fault{Status: 200, Body: `{"status": "completed"}`, Header: http.Header{"Content-Encoding": {"gzip"}}}, says: "gzip: invalid header"},
	{name: "body in gzip", kind: harmless, answer: simulator.Fault{Gzip: true}},
	{name: "unknown fields", kind: harmless, rewrite: with("unexpected", map[string]any{"status": "failed", "list": []any{1, "2", nil}})},
	{name: "field in invalid UTF-8", kind: harmless, rewrite: invalidText},
	{name: "unknown field nested five thousand deep", kind: harmless, rewrite: with("deep", deep(5000))},

	{name: "redirect to the same host, 307", kind: refused, answer: withHeader(status(307), "Location", "?again=1"), says: "a redirect to", attempts: 6},
	{
		name: "redirect to the same host, 302", kind: refused, answer: withHeader(status(302), "Location", "?again=1"), says: "a redirect to", attempts: 6,
		except: map[string]kind{simulator.EndpointStart: final, simulator.EndpointBundle: final},
	},
	{name: "redirect to another host", kind: final, answer: withHeader(status(307), "Location", "https://elsewhere.invalid/v1?X-Amz-Signature="+linkMark), says: "a redirect to https://elsewhere.invalid/v1"},
	{name: "redirect to another port of the same host", kind: final, answer: withHeader(status(308), "Location", "http://127.0.0.1:9/v1"), says: "a redirect to http://127.0.0.1:9/v1"},
	{name: "redirect to nowhere", kind: final, answer: status(307), says: "HTTP 307 Temporary Redirect"},
}

// invalidText gives a body a text that is not UTF-8, byte for byte.
func invalidText(body map[string]any) any {
	body["summary"], body["error"] = "BYTES", "BYTES"
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return json.RawMessage(bytes.ReplaceAll(text, []byte("BYTES"), []byte("caf\xe9 \xff")))
}

// deep is n arrays, one in the other.
func deep(n int) any {
	var value any = "core"
	for range n {
		value = []any{value}
	}
	return value
}

// places are the endpoints, with what Terraform does that calls them.
var places = []string{simulator.EndpointStart, simulator.EndpointJob, simulator.EndpointBundle, simulator.EndpointUpdate}

// TestFaults runs every fault at every endpoint, once and for as long as the
// operation takes. -faults-table writes what came of it.
func TestFaults(t *testing.T) {
	table := newOutcomes(t)
	for _, f := range faults {
		table.announce(f.name)
		for _, lasts := range []bool{false, true} {
			for _, place := range places {
				if f.rewrite != nil && !lasts {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", f.name, place, extent(lasts)), func(t *testing.T) {
					t.Parallel()
					run := newFaultRun(t, f, place, lasts)
					run.want(t)
					table.addRun(run)
				})
			}
		}
	}
	testHugeBodies(t, table)
	testWrongTypes(t, table)
	testTLSFaults(t, table)
	testProxyFaults(t, table)
	testWrongClocks(t, table)
}

func extent(lasts bool) string {
	if lasts {
		return "lasting"
	}
	return "once"
}

const faultTimeout = 10 * time.Minute

// faultRun is one operation that meets a fault, and what came of it.
type faultRun struct {
	fault
	place     string
	lasts     bool
	protocol  *protocol
	export    *instance // of an operation that exports
	options   Options
	heal      func() // ends the fault
	said      string
	requests  int // of the place's endpoint
	took      time.Duration
	succeeded bool
}

func newFaultRun(t *testing.T, f fault, place string, lasts bool) *faultRun {
	t.Helper()
	if k, ok := f.except[place]; ok {
		f.kind = k
	}
	run := &faultRun{fault: f, place: place, lasts: lasts, heal: func() {}}
	h := newHarness(t, simulator.Options{})
	options := h.options()
	switch {
	case f.rewrite != nil:
		h.Rewrite(func(endpoint string, body map[string]any) any {
			if endpoint == place {
				return f.rewrite(body)
			}
			return body
		})
	case f.wire != nil:
		wire := &faultyWire{RoundTripper: options.HTTPClient.Transport, faulty: f.wire(t, h), endpoint: place, lasts: lasts}
		options.HTTPClient.Transport = wire
		run.heal = wire.heal
	default:
		f.answer.Endpoint = place
		if !lasts {
			f.answer.Times = 1
		}
		run.heal = h.AddFault(f.answer)
	}
	run.options = options
	run.protocol = h.newProtocolWith(t, options, nil)
	run.operate(t)
	return run
}

// operate does what calls the endpoint, from nothing.
func (run *faultRun) operate(t *testing.T) {
	t.Helper()
	began := run.protocol.clock.Now()
	if run.place == simulator.EndpointUpdate {
		id := run.protocol.AddUpdate(simulator.UpdateSpec{Run: -1, Queue: -1})
		var state map[string]any
		state, run.said = run.protocol.read(t, "docs_update_status", map[string]any{"status_id": id, "timeouts": map[string]any{"read": faultTimeout.String()}})
		run.succeeded = state != nil && state["status"] == "success"
	} else {
		run.export = run.protocol.newInstance("docs_static_export")
		run.said = run.export.apply(t, run.arguments())
		run.succeeded = run.said == "" && run.export.exists()
	}
	run.took = run.protocol.clock.Now().Sub(began)
	run.requests = run.protocol.Count(run.place)
}

func (run *faultRun) arguments() map[string]any {
	return map[string]any{"domain": "docs.example.com", "timeouts": map[string]any{"create": faultTimeout.String(), "update": faultTimeout.String()}}
}

// want checks what came of the operation against the kind of the fault.
func (run *faultRun) want(t *testing.T) {
	t.Helper()
	run.wantCommon(t)
	start := run.place == simulator.EndpointStart
	fails := run.lasts
	switch run.kind {
	case harmless:
		fails = false
	case uncertain:
		fails = fails || start && !run.startRecovers
		if start && run.startRecovers {
			fails = false
		}
	case final:
		fails = true
	}
	if run.succeeded == fails {
		t.Fatalf("succeeded: %t, want %t, and it said:\n%s", run.succeeded, !fails, run.said)
	}
	if run.place != simulator.EndpointJob {
		run.wantRequests(t, fails)
	}
	if fails {
		run.wantExplained(t)
		run.wantResumed(t)
	} else if run.export != nil {
		planned, said := run.export.plan(t, run.arguments())
		if said != "" || !planned.empty(run.export) {
			t.Errorf("the second plan is not empty: %s", said)
		}
	}
}

// wantCommon checks what holds for every fault: no second job, nothing over
// the timeout, no secret told.
func (run *faultRun) wantCommon(t *testing.T) {
	t.Helper()
	if jobs := run.protocol.JobIDs(); len(jobs) > 1 {
		t.Errorf("%d jobs were started", len(jobs))
	}
	limit := faultTimeout
	if run.place == simulator.EndpointStart {
		limit += 30 * time.Second // its answer is waited for, whatever the timeout
	}
	if run.took > limit {
		t.Errorf("it took %s, over its timeout", run.took)
	}
	wantNoSecret(t, "the diagnostics", run.said)
	wantNoSecret(t, "the log", run.protocol.logs.String())
	if !utf8.ValidString(run.said) {
		t.Errorf("the diagnostics are not valid UTF-8: %q", run.said)
	}
}

// wantRequests checks how many requests the endpoint was sent. What does not
// reach the service is not seen there.
func (run *faultRun) wantRequests(t *testing.T, fails bool) {
	t.Helper()
	want := 1
	switch {
	case !run.lasts:
		if !fails && (run.kind == refused || run.kind == throttled || run.kind == uncertain && run.place != simulator.EndpointStart) {
			want = 2
		}
	case run.attempts > 0 && run.kind != final:
		want = run.attempts
	case run.kind == refused, run.kind == uncertain && run.place != simulator.EndpointStart:
		want = 5
	case run.kind == throttled:
		if run.requests < 10 {
			t.Errorf("only %d requests, although the timeout was not reached", run.requests)
		}
		return
	}
	if run.unsent {
		want--
		if run.lasts || fails {
			want = 0
		}
	}
	if run.requests != want {
		t.Errorf("%d requests, want %d", run.requests, want)
	}
}

// wantExplained checks the words of the diagnostic.
func (run *faultRun) wantExplained(t *testing.T) {
	t.Helper()
	wants := []string{run.says}
	switch {
	case run.place != simulator.EndpointStart:
	case run.mayHaveStarted():
		wants = append(wants, "The service may have started a job all the same")
	default:
		wants = append(wants, "No job was started.")
	}
	if run.export != nil && run.export.exists() {
		wants = append(wants, run.protocol.JobIDs()[0])
	}
	for _, want := range wants {
		if !strings.Contains(run.said, want) {
			t.Errorf("the diagnostics do not say %q:\n%s", want, run.said)
		}
	}
}

// mayHaveStarted is what a start that failed leaves open.
func (run *faultRun) mayHaveStarted() bool {
	switch code := run.answer.Status; {
	case run.kind == refused, run.kind == throttled:
		return false
	case code == http.StatusRequestTimeout:
		return true
	case code >= 500:
		return run.answer.Header == nil // without a Retry-After
	default:
		return code < 300
	}
}

// wantResumed checks that once the fault is over the next apply goes on with
// the job that there is.
func (run *faultRun) wantResumed(t *testing.T) {
	t.Helper()
	run.heal()
	if run.export == nil {
		return
	}
	if run.place == simulator.EndpointStart {
		if run.export.exists() {
			t.Error("there is an export in the state, but no id of a job")
		}
		return
	}
	jobs := run.protocol.JobIDs()
	if !run.export.exists() || run.export.attributes(t)["job_id"] != jobs[0] {
		t.Fatalf("the id of the job is lost; the state is %s", run.export.state)
	}
	if run.export.attributes(t)["bundle_url"] != nil {
		t.Error("there is a link in the state, of an export that did not succeed")
	}
	run.export.tainted = false
	run.export.protocol = run.protocol.newProtocolWith(t, run.options, nil) // as another run of Terraform has
	if said := run.export.apply(t, run.arguments()); said != "" {
		t.Fatalf("the next apply says:\n%s", said)
	}
	run.protocol.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
	if run.export.attributes(t)["bundle_url"] == nil {
		t.Error("the next apply made no link")
	}
}

// wantNoSecret checks a text for the key, for the mark, and for what the
// simulator signs its links with.
func wantNoSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{simulator.DefaultAPIKey, linkMark, "X-Amz-Signature=", "X-Amz-Security-Token=", "X-Amz-Credential="} {
		for rest := text; ; {
			_, after, found := strings.Cut(rest, secret)
			if !found {
				break
			}
			if !strings.HasPrefix(after, "(redacted)") {
				t.Errorf("%s: tells %q:\n%s", where, secret, text)
				return
			}
			rest = after
		}
	}
}
