package walk

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
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
	Do string
	// On is the export that the step is about.
	On int
	// Set changes arguments in the configuration from this step on.
	Set map[string]string
	// After is the time before the step.
	After time.Duration

	Unknown   string        // the argument that is not known in the plan
	NoRefresh bool          // -refresh=false
	Replace   bool          // -replace
	Between   bool          // a replacement fails between its two parts
	Saved     time.Duration // the time from the plan to the apply
	Stop      time.Duration // an interrupt so long after the apply began
	Kill      time.Duration
	Down      time.Duration // the apply has no connection for so long
	Run       time.Duration // of the jobs that it starts
	Fail      string        // their message

	Plan  []simulator.Fault // faults during the plan
	Apply []simulator.Fault // faults during the apply

	Which string // of doHide: bundle, job, or last (the last job that was started)
	For   time.Duration
}

const (
	doApply   = "apply"
	doUntaint = "untaint"
	doImport  = "import"
	doDestroy = "destroy"
	doHide    = "hide" // the service does not find a job for a while
	doSkew    = "skew" // the service's clock is set
)

func address(i int) string { return fmt.Sprintf("docs_static_export.s%d", i) }

// settings are the arguments of an export by name. The value of triggers is a revision, of timeouts one duration for all, and of domain a part of it. Others are as configured.
type settings map[string]string

func (s settings) domain(i int) string { return fmt.Sprintf("s%d.%sexample.com", i, s["domain"]) }

// content identifies what a job exports.
func (s settings) content(i int) string {
	return strings.Join([]string{s.domain(i), s["triggers"], unspaced(s["additional_parameters"])}, " ")
}

func unspaced(text string) string { return strings.ReplaceAll(text, " ", "") }

// duration returns the value of an argument, or the usual one.
func (s settings) duration(name string, usual time.Duration) time.Duration {
	d, err := time.ParseDuration(s[name])
	if err != nil {
		return usual
	}
	return d
}

const (
	defaultTimeout = time.Hour
	readTimeout    = 5 * time.Minute
)

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
	config := attributes(must(tfprotov6.RawState{JSON: text}.Unmarshal(typeOf(kind))))
	switch {
	case unknown == "revision":
		revision := map[string]tftypes.Value{"revision": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)}
		config["triggers"] = tftypes.NewValue(config["triggers"].Type(), revision)
	case unknown != "" && unknown != "timeouts": // a block is there or not
		config[unknown] = tftypes.NewValue(config[unknown].Type(), tftypes.UnknownValue)
	}
	return tftypes.NewValue(typeOf(kind), config)
}

// walker takes the steps of a walk.
type walker struct {
	*world
	*core
	settings []settings
	judge    *judge
}

// take takes a walk in a bubble. It returns what broke, and a tally.
func take(t *testing.T, w walk) (problem string, counts map[string]int) {
	t.Helper()
	schemas()
	synctest.Test(t, func(*testing.T) {
		began := time.Now()
		k := &walker{world: newWorld(w.Scene), core: &core{state: map[string]object{}}}
		for range k.Exports {
			k.settings = append(k.settings, settings{"triggers": "1"})
		}
		k.judge = &judge{walker: k, content: map[string]string{}, broken: map[string]bool{}, gone: map[string]bool{}}
		for i, s := range w.Steps {
			k.step(s)
			if len(k.judge.problems) > 0 {
				problem = fmt.Sprintf("step %d: %s", i+1, strings.Join(k.judge.problems, "\n"))
				break
			}
		}
		k.tally["milliseconds"], counts = int(time.Since(began).Milliseconds()), k.tally
	})
	return problem, counts
}

func (k *walker) step(s step) {
	on := s.On % k.Exports
	for name, value := range s.Set {
		k.settings[on][name] = value
	}
	pause(context.Background(), s.After)
	k.service.LaterJobs(simulator.JobSpec{Queue: -1, Run: cmp.Or(s.Run, 20*time.Second), Fail: s.Fail})
	switch s.Do {
	case doApply:
		k.takeApply(s)
	case doUntaint:
		if o, found := k.state[address(on)]; found {
			o.tainted = false
			k.state[address(on)] = o
		}
	case doImport:
		k.takeImport(s, on)
	case doDestroy:
		c := k.command(s, nil)
		c.all = k.destroy(c.process, k.blocks(""))
		k.end(c)
	case doHide:
		k.hide(s, on)
	case doSkew:
		k.skew = s.For
	}
}

// hide makes the service not find a job, or only its bundle, from the first request for it on.
func (k *walker) hide(s step, on int) {
	id := k.state[address(on)].text("job_id")
	if s.Which == "last" {
		id = cmp.Or(k.lastJob(address(on)), id)
	}
	if id == "" {
		return
	}
	f := simulator.Fault{Match: func(r simulator.Request) bool { return r.ID == id }, Lasts: s.For, Status: http.StatusNotFound}
	if s.Which == "bundle" {
		f.Endpoint = simulator.EndpointBundle
	}
	k.service.AddFault(f)
}

// lastJob returns the last job that was started for an export.
func (k *walker) lastJob(address string) (last string) {
	for _, id := range k.service.JobIDs() {
		if k.jobs[id].address == address {
			last = id
		}
	}
	return last
}

func (k *walker) blocks(unknown string) (all []block) {
	for i := range k.Exports {
		all = append(all, block{address(i), k.settings[i].configuration(i, unknown), k.settings[i].configuration(i, "")})
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
	after           map[string]object
	applying        bool
	refreshes       []exchange // of the plan that is applied
	removals        []func()   // of its faults
	settled         bool       // the plan after an apply that succeeded
	replaced        string
	stopped, killed bool
}

// command begins a command with its faults.
func (k *walker) command(s step, faults []simulator.Fault) *command {
	k.seen, k.stored = nil, map[string]bool{}
	c := &command{step: s, process: k.launch(), began: time.Now()}
	for _, f := range faults {
		c.removals = append(c.removals, k.service.AddFault(f))
	}
	return c
}

// end ends a command, and reports whether the walk can continue with its result.
func (k *walker) end(c *command) bool {
	c.stopped, c.killed, c.ended = c.process.stopped.Load(), c.process.killed(), time.Now()
	c.process.kill()
	for _, remove := range c.removals {
		remove()
	}
	k.service.ResetRequests()
	k.world.mu.Lock()
	c.requests, c.after = k.seen, k.state
	k.world.mu.Unlock()
	k.tally["messages"] += len(fmt.Sprint(c.all))
	for _, endpoint := range []string{simulator.EndpointStart, simulator.EndpointJob, simulator.EndpointBundle} {
		if slices.ContainsFunc(requestsFor("", endpoint, c.requests), wentWrong) {
			k.tally["faults at "+endpoint]++
		}
	}
	return k.judge.judge(c)
}

// takePlan plans.
func (k *walker) takePlan(s step, faults []simulator.Fault, settled bool) (*command, bool) {
	c := k.command(s, faults)
	if s.Replace {
		c.replaced = address(s.On % k.Exports)
	}
	c.planned = k.plan(c.process, k.blocks(s.Unknown), !s.NoRefresh, c.replaced)
	c.settled, c.all = settled, c.planned.said
	return c, k.end(c)
}

// takeApply plans and applies, and plans again without faults.
func (k *walker) takeApply(s step) {
	planned, ok := k.takePlan(s, s.Plan, false)
	if !ok {
		return
	}
	pause(context.Background(), s.Saved)
	c := k.command(s, s.Apply)
	k.down = c.began.Add(s.Down)
	c.applying, c.planned, c.refreshes, c.replaced = true, planned.planned, planned.requests, planned.replaced
	for d, do := range map[time.Duration]func(){s.Stop: c.process.stop, s.Kill: c.process.kill} {
		if d > 0 {
			go func() {
				if pause(c.process.ctx, d); !c.process.killed() {
					do()
				}
			}()
		}
	}
	c.process.between = s.Between
	c.all = k.apply(c.process, c.planned)
	k.tally["applies"]++
	if k.end(c) && !c.stopped && !c.killed {
		k.takePlan(step{Do: doApply, On: s.On}, nil, true)
	}
}

// takeImport forgets an export and imports its job.
func (k *walker) takeImport(s step, on int) {
	o, found := k.state[address(on)]
	if !found {
		return
	}
	id := k.settings[on].domain(on) + "," + o.text("job_id")
	delete(k.state, address(on))
	c := k.command(s, s.Plan)
	c.all = k.importState(c.process, k.blocks("")[on], id)
	k.end(c)
}

// shrink returns a shorter walk that breaks, too: without some steps, and without some fields
// of the others.
func shrink(w walk, breaks func(walk) bool) walk {
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

// TestWalk walks from seeds, on each processor.
func TestWalk(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(2000))
	all := map[string]int{"breaks": 0}
	var mu sync.Mutex
	var walked atomic.Uint64
	began := time.Now()
	t.Run("group", func(t *testing.T) {
		for n := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				for time.Since(began) < *walkTime {
					n := walked.Add(1) - 1
					if n >= *walkSeeds {
						break
					}
					counts, held := walkFromSeed(t, *walkFrom+n)
					mu.Lock()
					for name, n := range counts {
						all[name] += n
					}
					if !held {
						all["breaks"]++
						walked.Store(*walkSeeds)
					}
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("seeds %d to %d, %.0f applies a second, %v", *walkFrom, *walkFrom+min(walked.Load(), *walkSeeds)-1, float64(all["applies"])/time.Since(began).Seconds(), all)
}

func walkFromSeed(t *testing.T, seed uint64) (counts map[string]int, held bool) {
	t.Helper()
	w := newWalk(seed)
	problem, counts := take(t, w)
	if problem != "" {
		short := shrink(w, func(w walk) bool {
			problem, _ := take(t, w)
			return problem != ""
		})
		shortest, _ := take(t, short)
		t.Errorf("the walk from seed %d breaks: %s\nIt breaks the same way, or another, with these steps: %s\n%+v\nTo replay it: make walk SEED=%d", seed, problem, shortest, short, seed)
	}
	return counts, problem == ""
}

// TestWalkIsRepeatable takes a walk twice, and compares how many requests and diagnostics there were, and when.
func TestWalkIsRepeatable(t *testing.T) {
	_, first := take(t, newWalk(1))
	if _, second := take(t, newWalk(1)); first["requests"] == 0 || !maps.Equal(first, second) {
		t.Errorf("the second walk differs from the first:\n%v\n%v", first, second)
	}
}
