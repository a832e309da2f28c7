package walk

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// walk is a scene and the steps in it, as data: a step has its own faults, so that the others stay the same without it.
type walk struct {
	Scene scene
	Steps []step
}

// step is a command, or something that happens between commands.
type step struct {
	Do    string
	On    int           // the export that the step is about
	Set   settings      // changes the configuration from this step on
	After time.Duration // the time before the step

	Unknown   string        // the argument that is not known in the plan
	NoRefresh bool          // -refresh=false
	Replace   bool          // -replace
	Between   bool          // a replacement fails between its two parts
	Saved     time.Duration // the time from the plan to the apply
	Stop      time.Duration // an interrupt so long after the apply began
	Kill      time.Duration // and a kill
	Run       time.Duration // of the jobs that it starts
	Fail      string        // their message

	Plan  []simulator.Fault // faults during the plan
	Apply []simulator.Fault // faults during the apply
}

const (
	doApply   = "apply"
	doUntaint = "untaint"
	doImport  = "import"
	doDestroy = "destroy"
	doPlan    = "plan" // after an apply that succeeded
)

func address(i int) string { return fmt.Sprintf("docs_static_export.s%d", i) }

// settings are the arguments of an export by name. The value of triggers is a revision, of timeouts one duration for
// all, and of domain a part of it. Others are as configured.
type settings map[string]string

func (s settings) domain(i int) string { return fmt.Sprintf("s%d.%sexample.com", i, s["domain"]) }

// content identifies what a job exports.
func (s settings) content(i int) string {
	return strings.Join([]string{s.domain(i), s["triggers"], strings.ReplaceAll(s["additional_parameters"], " ", "")}, " ")
}

// duration returns the value of an argument, or 0.
func (s settings) duration(name string) time.Duration {
	d, _ := time.ParseDuration(s[name])
	return d
}

// values returns the arguments of an export that are set, as in JSON.
func (s settings) values(i int) map[string]any {
	all := map[string]any{}
	for name, text := range s {
		switch {
		case text == "":
		case name == "triggers":
			all[name] = map[string]string{"revision": text}
		case name == "timeouts":
			all[name] = map[string]string{"create": text, "update": text}
		default:
			all[name] = text
		}
	}
	all["domain"] = s.domain(i)
	return all
}

// configuration returns the configuration of an export. One argument, or the revision in the triggers, may be unknown.
func (s settings) configuration(i int, unknown string) tftypes.Value {
	text := must(json.Marshal(s.values(i)))
	config := attributes(must(tfprotov6.RawState{JSON: text}.Unmarshal(schemaType)))
	switch {
	case unknown == "revision":
		revision := map[string]tftypes.Value{"revision": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)}
		config["triggers"] = tftypes.NewValue(config["triggers"].Type(), revision)
	case unknown != "" && unknown != "timeouts": // a block is there or not
		config[unknown] = tftypes.NewValue(config[unknown].Type(), tftypes.UnknownValue)
	}
	return tftypes.NewValue(schemaType, config)
}

// walker takes the steps of a walk.
type walker struct {
	*world
	*core
	settings []settings
	judge    *judge
}

// newWalker returns a walker at the beginning of a walk, in a bubble.
func newWalker(s scene) *walker {
	service := simulator.New(simulator.Options{LinkLifetime: s.Lifetime, KeepLink: s.Keeps})
	k := &walker{
		world: &world{scene: s, service: service, jobs: map[string]string{}, tally: map[string]int{}},
		core:  &core{map[string]object{}},
	}
	for range k.Exports {
		k.settings = append(k.settings, settings{"triggers": "1"})
	}
	k.judge = &judge{walker: k, content: map[string]string{}, broken: map[string]bool{}, gone: map[string]bool{}}
	return k
}

// take takes a walk in a bubble. It returns what broke, and a tally.
func take(t *testing.T, w walk) (problem string, counts map[string]int) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		began := time.Now()
		k := newWalker(w.Scene)
		for i, s := range w.Steps {
			k.step(s)
			if len(k.judge.problems) > 0 {
				problem = fmt.Sprintf("step %d: %s", i+1, strings.Join(k.judge.problems, "\n"))
				break
			}
		}
		k.tally["walks"], k.tally["milliseconds"], counts = 1, int(time.Since(began).Milliseconds()), k.tally
	})
	return problem, counts
}

func (k *walker) step(s step) {
	maps.Copy(k.settings[s.On], s.Set)
	pause(context.Background(), s.After)
	k.service.LaterJobs(simulator.JobSpec{Queue: -1, Run: cmp.Or(s.Run, 20*time.Second), Fail: s.Fail})
	stored, found := k.state[address(s.On)]
	switch {
	case s.Do == doApply:
		k.takeApply(s)
	case s.Do == doDestroy:
		c := k.command(s, nil)
		c.all = k.destroy(c.process, k.changes(s))
		k.end(c)
	case !found:
	case s.Do == doUntaint:
		stored.tainted = false
		k.state[address(s.On)] = stored
	case s.Do == doImport: // after the export was removed from the state
		delete(k.state, address(s.On))
		c := k.command(s, s.Plan)
		c.all = k.importState(c.process, k.changes(s)[s.On], k.settings[s.On].domain(s.On)+","+stored.text("job_id"))
		k.end(c)
	}
}

// changes returns the configuration of all exports, which a plan completes.
func (k *walker) changes(s step) (all []change) {
	for i, set := range k.settings {
		forced := s.Replace && i == s.On
		all = append(all, change{address: address(i), config: set.configuration(i, s.Unknown), known: set.configuration(i, ""), forced: forced})
	}
	return all
}

// command is a plan, an apply, an import, or a destroy.
type command struct {
	step
	process         *process
	began, ended    time.Time
	planned         *plan // or nil
	all             []said
	requests        []exchange
	applying        bool
	stopped, killed bool
}

// command begins a command. Its faults end with it.
func (k *walker) command(s step, faults []simulator.Fault) *command {
	k.seen = nil
	c := &command{step: s, process: k.launch(), began: time.Now()}
	for _, f := range faults {
		f.Match = func(simulator.Request) bool { return !c.process.killed() }
		k.service.AddFault(f)
	}
	return c
}

// end ends a command, and reports whether the walk can continue with its result.
func (k *walker) end(c *command) bool {
	c.stopped, c.killed, c.ended = c.process.stopped.Load(), c.process.killed(), time.Now()
	c.process.kill()
	k.service.ResetRequests()
	c.requests = k.seen
	return k.judge.judge(c)
}

// takePlan plans. It returns nil if the walk cannot continue with the plan.
func (k *walker) takePlan(s step) *plan {
	c := k.command(s, s.Plan)
	c.planned = k.plan(c.process, k.changes(s), !s.NoRefresh)
	if c.all = c.planned.said; !k.end(c) {
		return nil
	}
	return c.planned
}

// takeApply plans and applies, and plans again without faults.
func (k *walker) takeApply(s step) {
	planned := k.takePlan(s)
	if planned == nil {
		return
	}
	pause(context.Background(), s.Saved)
	c := k.command(s, s.Apply)
	c.applying, c.planned, c.process.between = true, planned, s.Between
	if s.Stop > 0 {
		defer time.AfterFunc(s.Stop, c.process.stop).Stop()
	}
	if s.Kill > 0 {
		defer time.AfterFunc(s.Kill, c.process.kill).Stop()
	}
	c.all = k.apply(c.process, planned)
	k.tally["applies"]++
	if k.end(c) && !c.stopped && !c.killed {
		k.takePlan(step{Do: doPlan})
	}
}

// shrink returns a shorter walk that breaks, too: without some steps, and without some fields of the others.
func shrink(t *testing.T, w walk) walk {
	t.Helper()
	breaks := func(w walk) bool {
		problem, _ := take(t, w)
		return problem != ""
	}
	for i := 0; i < len(w.Steps); i++ {
		shorter := walk{w.Scene, slices.Delete(slices.Clone(w.Steps), i, i+1)}
		if breaks(shorter) {
			w, i = shorter, -1
		}
	}
	for i := range w.Steps {
		for field := range reflect.TypeFor[step]().NumField() {
			shorter := walk{w.Scene, slices.Clone(w.Steps)}
			if reflect.ValueOf(&shorter.Steps[i]).Elem().Field(field).SetZero(); breaks(shorter) {
				w = shorter
			}
		}
	}
	return w
}

var (
	walkFrom  = flag.Uint64("walk-from", 1, "the first seed")
	walkSeeds = flag.Uint64("walk-seeds", 60, "how many seeds to walk from, one after the other")
	walkTime  = flag.Duration("walk-time", 24*time.Hour, "how long to walk at most")
)

// TestWalk walks from seeds, on each processor, until a walk breaks.
func TestWalk(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(2000))
	began, all := time.Now(), map[string]int{}
	var taken atomic.Uint64
	var mu sync.Mutex
	var running sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for time.Since(began) < *walkTime && !t.Failed() {
				n := taken.Add(1) - 1
				if n >= *walkSeeds {
					return
				}
				counts := walkFromSeed(t, *walkFrom+n)
				mu.Lock()
				for name, count := range counts {
					all[name] += count
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	t.Logf("from seed %d, %.0f applies a second, %v", *walkFrom, float64(all["applies"])/time.Since(began).Seconds(), all)
}

func walkFromSeed(t *testing.T, seed uint64) (counts map[string]int) {
	t.Helper()
	w := newWalk(seed)
	problem, counts := take(t, w)
	if problem != "" {
		short := shrink(t, w)
		shortest, _ := take(t, short)
		t.Errorf("the walk from seed %d breaks: %s\nIt breaks the same way, or another, with these steps: %s\n%+v\n"+
			"To replay it: make walk SEED=%d", seed, problem, shortest, short, seed)
	}
	return counts
}

// TestWalkIsRepeatable takes a walk twice, and compares how many requests there were, what came of them, and how long it all took.
func TestWalkIsRepeatable(t *testing.T) {
	_, first := take(t, newWalk(1))
	if _, second := take(t, newWalk(1)); first["requests"] == 0 || !maps.Equal(first, second) {
		t.Errorf("the second walk differs from the first:\n%v\n%v", first, second)
	}
}
