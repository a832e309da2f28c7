package provider

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// harness is a simulated service and a provider that talks to it, both on one virtual clock: jobs and links take their
// time, tests take none. Every exchange is checked against the contract.
// TestInterruptedReplacementLosesOnlyJobsThatThePlanHasShown is an example of how a test uses it:
//
//   - h.cli gives a directory with a configuration, and c.apply(t, 1) runs terraform apply there and expects exit code 1.
//   - h.service.AddFault makes the next requests of an endpoint fail.
//   - h.clock.Advance lets time pass between two runs. Within a run, a wait advances the clock by itself.
//   - h.wantCounts checks which requests were sent.
type harness struct {
	service *simulator.Server
	clock   *clocktest.Virtual
}

// startOfTime is when every test begins.
var startOfTime = time.Date(2130, time.January, 31, 12, 0, 0, 0, time.UTC)

// newHarness starts a service. The harness sets the clock and the observer. A fault that
// meets no request fails the test, which would otherwise test nothing.
func newHarness(t *testing.T, options simulator.Options) *harness {
	t.Helper()
	clock := clocktest.NewVirtual(startOfTime)
	options.Now = clock.Now
	options.Observe = contract.New(t).Check
	service, err := simulator.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = service.Close()
		for _, fault := range service.UnusedFaults() {
			if t.Skipped() {
				break
			}
			t.Errorf("no request met the fault %+v", fault)
		}
	})
	return &harness{service: service, clock: clock}
}

// server constructs the provider under test, configured by its environment. Its polls have no jitter, so their number
// is exact.
func (h *harness) server() func() tfprotov6.ProviderServer {
	return NewServer(Options{
		Version: "test", Getenv: environment(h.service.BaseURL), Clock: h.clock,
		Client: func(c *client.Config) { c.Random = func() float64 { return 0 } },
	})
}

// environment returns a provider's access to its environment.
func environment(baseURL string) func(string) string {
	variables := map[string]string{baseURLVariable: baseURL, apiKeyVariable: simulator.DefaultAPIKey}
	return func(name string) string { return variables[name] }
}

// counts is how often each endpoint of the service was called. Its fields have the names of the simulator's endpoints.
type counts struct {
	start, job, bundle, download, update int
}

// wantCounts checks the calls of all endpoints since the last reset of the request log.
func (h *harness) wantCounts(t *testing.T, want counts) {
	t.Helper()
	if got := h.service.Count(simulator.EndpointUnknown); got > 0 {
		t.Errorf("%d requests to no endpoint", got)
	}
	for _, endpoint := range simulator.Endpoints() {
		field := reflect.ValueOf(want).FieldByName(endpoint)
		if !field.IsValid() {
			t.Fatalf("the type counts in harness_test.go has no field %q: add one for this endpoint of internal/simulator", endpoint)
		}
		if got := h.service.Count(endpoint); int64(got) != field.Int() {
			t.Errorf("%d requests to the endpoint %q, want %+v", got, endpoint, want)
		}
	}
}

// wantWork is wantCounts without the reads of jobs, whose number the schedule of polls decides.
func (h *harness) wantWork(t *testing.T, want counts) {
	t.Helper()
	want.job = h.service.Count(simulator.EndpointJob)
	h.wantCounts(t, want)
}

// wantPhrases checks that a text contains all phrases, of which there must be one.
func wantPhrases(t *testing.T, text string, phrases ...string) {
	t.Helper()
	if len(phrases) == 0 {
		t.Error("the test expects no phrase")
	}
	for _, phrase := range phrases {
		if !strings.Contains(text, phrase) {
			t.Errorf("no %q in:\n%s", phrase, text)
		}
	}
}

// wantAttributes checks some attributes of an object, which must have them.
func wantAttributes(t *testing.T, object, want map[string]any) {
	t.Helper()
	if object == nil || len(want) == 0 {
		t.Fatalf("the object is %v, the wanted attributes are %v", object, want)
	}
	for name, value := range want {
		if got, ok := object[name]; !ok || !reflect.DeepEqual(got, value) {
			t.Errorf("%s is %#v (%t), want %#v", name, got, ok, value)
		}
	}
}
