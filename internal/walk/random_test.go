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
func (r random) span(shortest, longest time.Duration) span {
	share := r.Float64()
	return span((shortest + time.Duration(share*share*float64(longest-shortest))).Truncate(time.Millisecond))
}

func newWalk(seed uint64) walk {
	r := random{rand.New(rand.NewPCG(seed, 1))}
	w := walk{Scene: scene{
		Seed: seed, Exports: pick(r, 1, 1, 1, 1, 2, 3), Download: r.often(15), Gate: r.often(10),
		Lifetime: pick(r, span(15*time.Minute), span(time.Minute), span(time.Hour), span(24*time.Hour)),
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
		return step{Do: doApply, On: on, After: r.span(0, 30*time.Minute), Job: r.job(), Set: map[string]string{}}
	}
	set := func(name, value string) step {
		a := plain()
		a.Set[name] = value
		return a
	}
	cut := func(a step) step { // ends with a job that is still running
		a.Job.Run = span(10 * time.Minute)
		if r.often(60) {
			a.Stop = r.span(5*time.Second, 3*time.Minute)
		} else {
			a.Set["timeouts"] = "2m"
		}
		return a
	}
	if s.Download && r.often(20) {
		a := plain()
		a.Apply = []fault{{At: simulator.EndpointDownload, Kind: pick(r, kindRefused, kindLost, kindSilence, "500"), Times: pick(r, 1, 8)}}
		if a.Lost = r.often(30); a.Lost {
			a.Apply, a.Set["download"] = nil, pick(r, "", "2h", "3h")
		}
		return []step{{Do: doDisk, Which: pick(r, "fresh", "changed", "fresh")}, a}
	}
	switch r.IntN(22) {
	case 0: // A to B to A, perhaps with B cut off, or with the job of A gone
		steps := []step{set("triggers", "1"), set("triggers", "2"), set("triggers", "1"), set("triggers", "2")}
		if r.often(70) {
			steps[1] = cut(steps[1])
		}
		if r.often(40) {
			steps[2].Set["renew_before"] = pick(r, "1m", "10m", "2h")
		}
		if r.often(40) {
			hide := step{Do: doHide, On: on, For: r.span(10*time.Second, 2*time.Hour), Which: pick(r, "", "last", "bundle")}
			steps = append(steps[:2:2], hide, steps[2], steps[3])
		}
		return steps
	case 1: // a saved plan that is applied late
		a := plain()
		a.Saved = r.span(time.Minute, 3*time.Duration(s.Lifetime))
		if r.often(50) {
			a.Set[pick(r, "renew_before", "poll_interval")] = pick(r, "1m", "5m")
		}
		return []step{a}
	case 2: // faults of two kinds in a row on a job that is resumed
		a := cut(set("triggers", pick(r, "1", "2", "3")))
		b := plain()
		at := pick(r, simulator.EndpointJob, simulator.EndpointJob, simulator.EndpointBundle)
		if b.Apply = []fault{r.fault(), r.fault()}; r.often(40) { // a refusal between responses that count
			kind := pick(r, "404", "403")
			b.Apply = []fault{{Kind: kind}, {Kind: "429", RetryAfter: pick(r, 10, 40)}, {Kind: kind}}
		}
		for i := range b.Apply {
			b.Apply[i].At, b.Apply[i].Skip, b.Apply[i].For = at, 0, r.span(0, 40*time.Second)
		}
		return []step{a, b}
	case 3: // a new spacing beside other changes
		a := set("additional_parameters", `{"version":"1"}`)
		b := set("additional_parameters", pick(r, `{ "version": "1" }`, `{ "version": "1" }`, `{"version":"2"}`))
		b.Unknown = pick(r, "", "revision", r.argument())
		return []step{a, b}
	case 4: // two contents that are cut off, and then another
		return []step{cut(set("triggers", "1")), cut(set("triggers", "2")), set("triggers", "3")}
	case 5:
		return []step{{Do: doDestroy}, plain()}
	case 6:
		steps := []step{{Do: doImport, On: on}, set("domain", pick(r, "", "other."))}
		if r.often(20) {
			steps[0].Plan = []fault{{Kind: "404", For: r.span(time.Second, time.Minute)}}
		}
		return steps
	case 7:
		a := plain()
		if a.Replace = r.often(50); a.Replace {
			a = cut(a)
			a.Job.Fail = pick(r, "", "the site could not be built")
		}
		return []step{a, {Do: doUntaint, On: on, After: r.span(0, 10*time.Minute)}, plain()}
	case 8:
		hide := step{Do: doHide, On: on, For: r.span(5*time.Second, time.Hour), Which: pick(r, "", "last", "bundle")}
		if r.often(50) {
			return []step{hide}
		}
		a, b := plain(), plain() // the job is found again, as no other one could be started
		a.After, a.Apply = 0, []fault{{At: simulator.EndpointStart, Kind: "403"}}
		b.After = hide.For
		return []step{hide, a, a, b}
	case 9: // a bundle that is missing when its link is renewed early, once or twice, and then not needed
		a := set("renew_before", "1000h")
		a.After, a.Apply = s.Lifetime*2/3, []fault{{At: simulator.EndpointBundle, Times: 50, Kind: "404"}}
		return []step{a, a, set("renew_before", "")}[r.IntN(2):]
	case 10: // a start that is interrupted, or whose response is lost
		a := set("triggers", pick(r, "1", "2", "3"))
		a.Apply = []fault{{At: simulator.EndpointStart, Kind: pick(r, "500", "503", kindLost, kindSilence, kindPage), Acts: r.often(50)}}
		if r.often(50) {
			a.Stop = r.span(0, 20*time.Second)
			a.Apply = []fault{{At: simulator.EndpointStart, Kind: kindSlow, Delay: r.span(time.Second, 25*time.Second)}}
		}
		return []step{a, plain()}
	case 11:
		return []step{{Do: doSkew, For: pick(r, span(0), span(2*time.Hour), span(-2*time.Hour), span(40*time.Second))}}
	case 12, 16: // early renewals, over several lifetimes
		all := []step{plain(), plain(), plain(), plain(), plain()}
		for i := range all {
			if all[i].After = s.Lifetime * 4 / 5; r.often(30) {
				all[i].Set["triggers"] = pick(r, "1", "2")
			}
		}
		all[0].Set["renew_before"], all[0].Set["link_renewal"] = time.Duration(s.Lifetime/4).String(), pick(r, "", "", "never")
		if r.often(50) {
			all[3].Set["renew_before"] = time.Duration(s.Lifetime / 3).String()
		}
		return all
	case 13: // a link that is due while another export fails
		a, b := set("triggers", "1"), set("triggers", "2")
		b.After, b.Job = s.Lifetime, job{Run: span(time.Minute), Fail: "the site could not be built"}
		if r.often(50) {
			b.Job, b.Set["timeouts"] = job{Run: span(10 * time.Minute)}, "2m"
		}
		return []step{a, b}
	case 14, 15: // faults that pass
		a := set("triggers", pick(r, "1", "2"))
		a.Set["timeouts"], a.Plan, a.Apply = "", []fault{r.fault()}, []fault{r.fault()}
		for _, f := range []*fault{&a.Plan[0], &a.Apply[0]} {
			f.At, f.Skip, f.For, f.Delay = pick(r, simulator.EndpointJob, simulator.EndpointBundle, simulator.EndpointUpdate, simulator.EndpointDownload), 0, r.span(time.Second, 20*time.Second), 0
		}
		if r.often(30) { // an outage
			a.Apply[0].Kind, a.Apply[0].For, a.Apply[0].RetryAfter = pick(r, "500", kindLost, kindRefused), r.span(time.Minute, 4*time.Minute), 0
		}
		return []step{a}
	case 17: // failures of changing kinds, of a new job or of one that is resumed
		a, b := cut(set("triggers", pick(r, "1", "2"))), plain()
		faults := []fault{{
			At:   pick(r, "", simulator.EndpointJob, simulator.EndpointJob, simulator.EndpointBundle, simulator.EndpointUpdate, simulator.EndpointDownload),
			Kind: pick(r, "404 500", "500 404", "404 403 500", "404 lost refused"), For: r.span(20*time.Second, time.Hour),
		}}
		if b.Set["timeouts"], b.Apply = "", faults; r.often(30) {
			b.Plan, b.Apply = faults, nil
		}
		return []step{a, b, plain()}[r.IntN(2):]
	case 18: // a provider that is killed while it resumes a job, or after an import
		a, b := cut(set("triggers", pick(r, "1", "2"))), plain()
		if r.often(50) {
			a = step{Do: doImport, On: on}
		}
		b.Kill, b.Apply = r.span(time.Millisecond, time.Minute), []fault{{At: simulator.EndpointBundle, Kind: kindSlow, Delay: span(25 * time.Second)}}
		return []step{a, b, plain()}
	case 19, 20: // a first export that does not finish, and is replaced
		a, b := cut(set("triggers", pick(r, "1", "2"))), plain()
		a.Stop, a.Set["timeouts"] = 0, "2m"
		if b.Between = r.often(20); r.often(30) {
			b.Set["triggers"] = pick(r, "1", "2")
		}
		if r.often(40) {
			b.Apply = []fault{{At: simulator.EndpointJob, Kind: pick(r, "404", "404", "500"), For: r.span(10*time.Second, 10*time.Minute)}, {At: simulator.EndpointStart, Kind: pick(r, "403", "500")}}
		}
		return []step{{Do: doDestroy}, a, b, plain()}
	}
	return []step{r.apply(plain())}
}

func (r random) argument() string {
	return pick(r, "triggers", "additional_parameters", "domain", "link_renewal", "renew_before", "poll_interval", "timeouts")
}

// apply returns an apply with anything.
func (r random) apply(a step) step {
	if r.often(60) {
		name := pick(r, "triggers", "triggers", r.argument())
		a.Set[name] = map[string]string{
			"triggers": pick(r, "1", "2", "3"), "additional_parameters": pick(r, "", `{"version":"1"}`, `{ "version": "1" }`, `{"version":"2"}`), "domain": pick(r, "", "other."),
			"link_renewal": pick(r, "", "", "never"), "renew_before": pick(r, "", "1m", "10m", "2h"), "timeouts": pick(r, "", "1m", "3m", "10m"), "poll_interval": pick(r, "", "", "5s", "1m"),
		}[name]
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
		a.Plan = append(a.Plan, r.fault())
	}
	for r.often(45) {
		a.Apply = append(a.Apply, r.fault())
	}
	return a
}

func (r random) job() (j job) {
	j.Run = r.span(0, 4*time.Minute)
	if r.often(2) {
		j.Run = span(3 * time.Hour)
	}
	if r.often(8) {
		j.Fail = "the site could not be built"
	}
	if r.often(15) {
		j.Unknown = r.span(0, time.Minute)
	}
	if r.often(15) {
		j.NoBundle = r.span(0, time.Minute)
	}
	return j
}

// fault returns any fault.
func (r random) fault() fault {
	f := fault{
		At:   pick(r, "", simulator.EndpointStart, simulator.EndpointStart, simulator.EndpointJob, simulator.EndpointJob, simulator.EndpointBundle, simulator.EndpointBundle, simulator.EndpointDownload, simulator.EndpointUpdate),
		Kind: pick(r, "400", "401", "403", "404", "404", "404", "409", "410", "422", "429", "429", "500", "502", "503", "504", kindRefused, kindLost, kindSilence, kindCut, kindPage, kindSlow),
	}
	if r.often(30) {
		f.Skip = r.IntN(4)
	}
	switch r.IntN(3) {
	case 0:
		f.Times = 1 + r.IntN(6)
	case 1:
		f.For = r.span(time.Second, time.Minute)
	}
	if r.often(5) {
		f.For = r.span(time.Minute, 10*time.Minute)
	}
	if (f.Kind == "429" || f.Kind == "503" || f.Kind == kindSlow) && r.often(60) {
		f.RetryAfter = pick(r, 1, 3, 10, 40, 60, 600)
	}
	if r.often(10) {
		f.Delay = r.span(0, 40*time.Second)
	}
	switch f.Kind {
	case "500", "502", "503", "504", kindLost, kindSilence:
		f.Acts = r.often(50)
	}
	return f
}
