package walk

import (
	"math/rand/v2"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// random makes a walk from a seed.
type random struct{ *rand.Rand }

func pick[T any](r random, all ...T) T { return all[r.IntN(len(all))] }

func (r random) often(percent int) bool { return r.IntN(100) < percent }

// span returns a duration between two, mostly closer to the shorter one.
func (r random) span(shortest, longest time.Duration) time.Duration {
	share := r.Float64()
	return (shortest + time.Duration(share*share*float64(longest-shortest))).Truncate(time.Millisecond)
}

func newWalk(seed uint64) walk {
	r := random{rand.New(rand.NewPCG(seed, 1))}
	w := walk{Scene: scene{
		Seed: seed, Exports: pick(r, 1, 1, 1, 1, 2, 3),
		Lifetime: pick(r, 15*time.Minute, time.Minute, time.Hour, 24*time.Hour),
		Keeps:    r.often(20),
	}}
	for len(w.Steps) < 12 {
		w.Steps = append(w.Steps, r.steps(w.Scene)...)
	}
	return w
}

// steps returns the next steps. Cases that a uniform choice would rarely reach have their own steps.
func (r random) steps(s scene) []step {
	on := r.IntN(s.Exports)
	plain := func() step {
		a := step{Do: doApply, On: on, After: r.span(0, 30*time.Minute), Run: r.span(0, 4*time.Minute), Set: settings{}}
		if r.often(8) {
			a.Fail = "the site could not be built"
		}
		return a
	}
	set := func(name, value string) step {
		a := plain()
		a.Set[name] = value
		return a
	}
	cut := func(a step) step { // ends with a job that is still running
		a.Run = 10 * time.Minute
		if r.often(60) {
			if a.Stop = r.span(5*time.Second, 3*time.Minute); r.often(30) { // while a response is awaited
				a.Apply = []simulator.Fault{{Endpoint: pick(r, simulator.EndpointJob, simulator.EndpointBundle), Times: 1, Delay: 10 * time.Minute}}
			}
		} else {
			a.Set["timeouts"] = "2m"
		}
		return a
	}
	switch r.IntN(25) {
	case 0: // A to B to A, perhaps with B cut off
		steps := []step{set("triggers", "1"), set("triggers", "2"), set("triggers", "1"), set("triggers", "2")}
		if r.often(70) {
			steps[1] = cut(steps[1])
		}
		steps[2].Set["renew_before"] = pick(r, "", "", "1m", "10m", "2h")
		return steps
	case 1: // a saved plan that is applied late
		a := plain()
		a.Saved = r.span(time.Minute, 3*s.Lifetime)
		a.Set[pick(r, "renew_before", "poll_interval")] = pick(r, "", "1m", "5m")
		return []step{a}
	case 2: // a new spacing, perhaps beside other changes
		a, b := set("additional_parameters", `{"version":"1"}`), set("additional_parameters", `{ "version": "1" }`)
		b.Unknown = pick(r, "", "revision", r.argument())
		return []step{a, b}
	case 3:
		return []step{cut(set("triggers", "1")), cut(set("triggers", "2")), set("triggers", "3")}
	case 4: // an import
		return []step{{Do: doImport, On: on}, set("domain", pick(r, "", "other."))}
	case 5: // a replacement on request, perhaps cut off and untainted
		a := plain()
		if a.Replace = true; r.often(50) {
			a = cut(a)
		}
		return []step{a, {Do: doUntaint, On: on, After: r.span(0, 10*time.Minute)}, plain()}
	case 6, 7, 8, 9, 10, 11, 12, 13, 14, 15: // an apply that goes wrong, perhaps after another one that did
		first := cut(set("triggers", r.revision()))
		before := pick(r, nil, nil, []step{first}, []step{first}, []step{{Do: doImport, On: on}})
		if r.often(30) { // a first export, which is tainted
			first.Stop, first.Set["timeouts"] = 0, "2m"
			before = []step{{Do: doDestroy}, first}
		}
		return append(before, r.wrong(plain()), plain())
	}
	return []step{r.apply(plain())}
}

// wrong returns an apply that probably goes wrong.
func (r random) wrong(a step) step {
	if r.often(60) {
		a.Set["triggers"] = r.revision()
	}
	switch r.IntN(8) {
	case 0: // faults in a row
		a.Apply = []simulator.Fault{r.fault(simulator.EndpointJob), r.fault(simulator.EndpointJob), r.fault(simulator.EndpointBundle)}
	case 1: // a job that is missing for a while
		a.Apply = []simulator.Fault{
			{Endpoint: simulator.EndpointJob, Status: pick(r, 404, 404, 500), Lasts: r.span(10*time.Second, 10*time.Minute)},
			r.fault(simulator.EndpointStart),
		}
	case 2:
		a.Kill, a.Apply = r.span(time.Millisecond, time.Minute), []simulator.Fault{{Endpoint: simulator.EndpointBundle, Delay: 25 * time.Second}}
	case 3:
		a.Between = true
	default:
		if a.Apply = []simulator.Fault{r.fault(simulator.EndpointStart)}; r.often(50) {
			a.Stop = r.span(0, 40*time.Second)
		}
	}
	return a
}

func (r random) revision() string { return pick(r, "1", "2", "3") }

func (r random) argument() string {
	return pick(r, "triggers", "additional_parameters", "domain", "link_renewal", "renew_before", "poll_interval", "timeouts")
}

// apply returns an apply with anything.
func (r random) apply(a step) step {
	if r.often(60) {
		name := pick(r, "triggers", "triggers", r.argument())
		a.Set[name] = pick(r, map[string][]string{
			"triggers":              {"1", "2", "3"},
			"additional_parameters": {"", `{"version":"1"}`, `{ "version": "1" }`, `{"version":"2"}`},
			"domain":                {"", "other."},
			"link_renewal":          {"", "", "never"},
			"renew_before":          {"", "1m", "10m", "2h"},
			"timeouts":              {"", "1m", "3m", "10m"},
			"poll_interval":         {"", "", "5s", "1m"},
		}[name]...)
	}
	a.NoRefresh, a.Replace, a.Between = r.often(25), r.often(4), r.often(4)
	if r.often(15) {
		a.Unknown = pick(r, "revision", r.argument(), r.argument())
	}
	if r.often(15) {
		a.Stop = r.span(0, 5*time.Minute)
	} else if r.often(8) {
		a.Kill = r.span(0, 5*time.Minute)
	}
	if r.often(8) {
		a.Plan = append(a.Plan, r.fault(simulator.EndpointJob))
	}
	for r.often(45) {
		a.Apply = append(a.Apply, r.fault(pick(r, simulator.EndpointStart, simulator.EndpointJob, simulator.EndpointBundle)))
	}
	return a
}

// fault returns a fault of an endpoint.
func (r random) fault(endpoint string) simulator.Fault {
	f := simulator.Fault{Endpoint: endpoint, Times: 1, Skip: pick(r, 0, 0, 0, 0, r.IntN(4))}
	switch kind := r.IntN(20); {
	case kind < 6:
		f.Status = pick(r, 400, 401, 403, 409, 422, 429, 429)
	case kind < 10:
		f.Status = pick(r, 404, 404, 410)
	case kind < 14:
		f.Status, f.Acts = pick(r, 500, 502, 503, 504), r.often(50)
	case kind < 17:
		f.Cut = pick(r, simulator.CutBefore, simulator.CutAfter)
	case kind < 19 || endpoint != simulator.EndpointBundle:
		f.Delay = r.span(0, 90*time.Second)
	default: // accepted, without a link
		f.Status = 202
	}
	if r.often(25) {
		f.Times = 2 + r.IntN(5)
	} else if r.often(40) {
		f.Times, f.Lasts = 0, r.span(time.Second, 5*time.Minute)
	}
	return f
}
