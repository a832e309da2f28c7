//go:build !race

package walk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// script is what happens to one export, round by round.
type script struct {
	name   string
	rounds []round
}

// round is a plan and its apply. Everything that is not set stays as it was.
type round struct {
	set     settings
	unknown string // the argument that is not known in the plan
	replace bool
	do      string // before the plan: doUntaint or doImport
	fault   simulator.Fault
	forget  bool // the service forgets the job
	kill    bool // the apply, before it does anything
}

var scripts = []script{
	{"new content", []round{{set: settings{"triggers": "2"}}, {set: settings{"triggers": "3"}}, {}}},
	{"a content that the plan does not know", []round{{unknown: "revision"}, {unknown: "revision", set: settings{"triggers": "2"}}, {unknown: "revision"}}},
	{"other spacing", []round{
		{set: settings{"additional_parameters": `{"version":"1"}`}},
		{set: settings{"additional_parameters": `{ "version": "1" }`}},
		{set: settings{"additional_parameters": `{"version":"1"}`}, unknown: "revision"},
	}},
	{"a job that fails", []round{{fault: failing}, {}, {set: settings{"triggers": "2"}, fault: failing}}},
	{"a bundle that is refused", []round{{fault: unlinked}, {do: doUntaint}, {}}},
	{"a bundle that is refused, tainted", []round{{fault: unlinked}, {}, {}}},
	{"a job that is gone", []round{{}, {forget: true}, {}}},
	{"replaced on request", []round{{}, {replace: true}, {}}},
	{"killed", []round{{}, {set: settings{"triggers": "2"}, kill: true}, {}}},
	{"imported", []round{{}, {do: doImport}, {}}},
}

var (
	failing  = simulator.Fault{Endpoint: simulator.EndpointJob, Status: 200, Body: `{"jobId":"x","status":"failed","error":"the site could not be built"}`}
	unlinked = simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 422}
)

// later is the time from the plan to the apply of the last round, after which links have
// expired.
const later = 25 * time.Hour

// TestCoreIsLikeTheCLI runs the same scripts through the core and through the real CLI, and
// compares what the provider is asked.
func TestCoreIsLikeTheCLI(t *testing.T) {
	t.Parallel()
	want, got := throughCLI(t), throughCore(t)
	for i, s := range scripts {
		n := 0
		for n < min(len(got[i]), len(want[i])) && got[i][n] == want[i][n] {
			n++
		}
		if n < max(len(got[i]), len(want[i])) {
			t.Errorf("%s, call %d:\nthe core: %s\nthe CLI:  %s", s.name, n+1, append(got[i], "nothing")[n], append(want[i], "nothing")[n])
		}
	}
}

// notes are what a provider is asked about each export. They name its jobs by their order.
type notes struct {
	settings []settings
	round    atomic.Int32

	mu    sync.Mutex
	asked [][]string
	jobs  [][]string
}

func newNotes() *notes {
	n := &notes{asked: make([][]string, len(scripts)), jobs: make([][]string, len(scripts))}
	for range scripts {
		n.settings = append(n.settings, settings{"triggers": "1"})
	}
	return n
}

// listener takes notes.
type listener struct {
	tfprotov6.ProviderServer
	*notes
}

var (
	ownDomain = regexp.MustCompile(`"s(\d+)\.`)
	// varying matches links, times, and sizes, and the null values.
	varying = regexp.MustCompile(`https?://[^"]*|\d{4}-\d\d-\d\dT[0-9:.]*Z|bundle_size_bytes:tftypes.Number<"\d+">|\w+:[^ ]*( "\w+":[^ ]*)*<null> ?`)
)

// note reports whether the provider is killed by an apply.
func (l listener) note(call string, private []byte, values ...*tfprotov6.DynamicValue) (kill bool) {
	var own map[string][]byte
	_ = json.Unmarshal(private, &own) // of the framework's making
	text := fmt.Sprintf("%s %s", call, own)
	for _, v := range values {
		text += fmt.Sprintf("\n  %v", attributes(decode(v)))
	}
	on, _ := strconv.Atoi(ownDomain.FindStringSubmatch(text)[1])
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range jobID.FindAllString(text, -1) {
		if !slices.Contains(l.jobs[on], id) {
			l.jobs[on] = append(l.jobs[on], id)
		}
		text = strings.ReplaceAll(text, id, fmt.Sprint("job ", slices.Index(l.jobs[on], id)))
	}
	l.asked[on] = append(l.asked[on], varying.ReplaceAllString(text, ""))
	return scripts[on].rounds[l.round.Load()].kill
}

func (l listener) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	l.note("read", req.Private, req.CurrentState)
	return l.ProviderServer.ReadResource(ctx, req)
}

func (l listener) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	l.note("plan", req.PriorPrivate, req.PriorState, req.ProposedNewState, req.Config)
	return l.ProviderServer.PlanResourceChange(ctx, req)
}

func (l listener) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	if l.note("apply", req.PlannedPrivate, req.PriorState, req.PlannedState, req.Config) {
		return nil, errors.New("the provider was killed")
	}
	return l.ProviderServer.ApplyResourceChange(ctx, req)
}

// arrange prepares the settings and the service for a round.
func (n *notes) arrange(round int, service *simulator.Service) {
	n.round.Store(int32(round))
	for i, s := range scripts {
		maps.Copy(n.settings[i], s.rounds[round].set)
		own := n.settings[i].domain(i)
		if f := s.rounds[round].fault; f.Endpoint != "" {
			f.Match = func(r simulator.Request) bool { return r.Domain == own && n.round.Load() == int32(round) }
			service.AddFault(f)
		}
		if s.rounds[round].forget {
			service.ForgetJob(service.JobIDsOf(own)[0])
		}
	}
}

func throughCore(t *testing.T) [][]string {
	t.Helper()
	notes := newNotes()
	synctest.Test(t, func(*testing.T) {
		k := newWalker(scene{Exports: len(scripts), Lifetime: 24 * time.Hour})
		k.settings = notes.settings
		k.wrap = func(server tfprotov6.ProviderServer) tfprotov6.ProviderServer { return listener{server, notes} }
		for n := range 3 {
			notes.arrange(n, k.service)
			var changes []change
			for i, s := range scripts {
				k.step(step{Do: s.rounds[n].do, On: i})
				changes = append(changes, k.changes(step{On: i, Unknown: s.rounds[n].unknown, Replace: s.rounds[n].replace})[i])
			}
			planned := k.plan(k.launch(), changes, true)
			if n == 2 {
				pause(context.Background(), later)
			}
			k.apply(k.launch(), planned)
			pause(context.Background(), time.Minute) // in which every job ends
		}
		k.plan(k.launch(), k.changes(step{}), true)
	})
	return notes.asked
}

func throughCLI(t *testing.T) [][]string {
	t.Helper()
	notes := newNotes()
	clock := clocktest.NewVirtual(time.Date(2130, time.January, 31, 12, 0, 0, 0, time.UTC))
	clock.Speed = 50
	service := contract.Listen(t, simulator.Options{Now: clock.Now, Run: 20 * time.Second, LinkLifetime: 24 * time.Hour})
	environment := map[string]string{"DOCS_BASE_URL": service.BaseURL, "DOCS_API_KEY": simulator.DefaultAPIKey}
	options := provider.Options{Version: "test", Getenv: func(name string) string { return environment[name] }, Clock: clock}
	cli := clitest.New(t, "docs-hosting/docs", func() tfprotov6.ProviderServer { return listener{provider.NewServer(options)(), notes} })
	cli.SkipBelow(t, 4, 0, "terraform_data")
	run := func(args ...string) {
		command, _ := cli.Command(args...)
		_ = command.Run() // some fail
	}
	for n := range 3 {
		notes.arrange(n, service.Service)
		exports, flags := map[string]any{}, []string{"plan", "-input=false", "-out=plan"}
		for i, s := range scripts {
			values := notes.settings[i].values(i)
			if s.rounds[n].unknown != "" {
				values["triggers"] = map[string]string{
					"revision": fmt.Sprintf("${terraform_data.unknown.output == 99 ? \"\" : %q}", notes.settings[i]["triggers"]),
				}
			}
			exports[fmt.Sprintf("s%d", i)] = values
		}
		cli.Write(t, "exports.tf.json", string(must(json.Marshal(map[string]any{"resource": map[string]any{kind: exports}}))))
		cli.Write(t, "main.tf", cli.Require()+fmt.Sprintf("resource \"terraform_data\" \"unknown\" { input = %d }\n", n))
		for i, s := range scripts {
			switch domain := notes.settings[i].domain(i); s.rounds[n].do {
			case doUntaint:
				cli.Run(t, 0, "untaint", address(i))
			case doImport:
				cli.Run(t, 0, "state", "rm", address(i))
				cli.Run(t, 0, "import", address(i), domain+","+service.JobIDsOf(domain)[0])
			}
			if s.rounds[n].replace {
				flags = append(flags, "-replace="+address(i))
			}
		}
		run(flags...)
		if n == 2 {
			clock.Advance(later)
		}
		run("apply", "plan")
		clock.Advance(time.Minute)
	}
	run("plan")
	return notes.asked
}
