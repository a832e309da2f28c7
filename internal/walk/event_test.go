// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package walk

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const (
	// patience is how long a response must repeat itself until it counts, and outage how long
	// temporary failures must. The judge does not insist on the last second.
	patience = 29 * time.Second
	outage   = 5*time.Minute - time.Second
	// grace is how long an operation may last after its timeout: half a minute for the
	// response to a start, and half a minute to renew the old link.
	grace = 62 * time.Second
	// An operation may end this long before its timeout, instead of a pause that lasts longer.
	margin = 20 * time.Second
)

// command is a plan, an apply, an import, or a destroy.
type command struct {
	step
	began, ended    time.Time
	planned         *plan // or nil
	all             []said
	requests        []exchange
	after           map[string]object
	applying        bool
	refreshes       []exchange // of the plan that is applied
	settled         bool       // the plan after an apply that succeeded
	replaced        string
	stopped, killed bool
}

// event is what a command did to one resource.
type event struct {
	*judge
	*command
	address        string
	on             int // the number of the export
	export         bool
	change                // its before is the resource as refreshed
	after          object // of the command
	exists         bool   // afterwards
	failed, forced bool   // forced by -replace
	said           []said
	seen           []exchange
	job, pending   *record // before: the job in the state, and a later one without a link
}

// record is what the provider has been told about a job.
type record struct {
	id, content         string
	domain              string // that an import named, or ""
	imported            bool   // it takes the configured content
	failed              bool
	jobGone, bundleGone bool // for half a minute
}

func (r *record) is(id string) bool { return r != nil && r.id == id && id != "" }

func (r *record) isMissing() bool { return r.jobGone || r.bundleGone }

// memory is what the provider must remember about an export beside its state.
type memory struct {
	pending *record // started after the job in the state, without a link; or nil
	// useless counts the updates that changed nothing with this renew_before.
	useless     int
	renewBefore string
}

// judge checks what happens against the promises. It knows the requests, the plans, the
// diagnostics, and the attributes, but not the private state.
type judge struct {
	*walker
	records  map[string]*record
	memories []memory
	problems []string
}

func newJudge(k *walker) *judge {
	return &judge{walker: k, records: map[string]*record{}, memories: make([]memory, k.Exports)}
}

// judge judges a command. It reports whether the walk can go on with its result.
func (j *judge) judge(c *command) bool {
	var events []*event
	for i := range j.Exports {
		if c.Do != doImport || i == c.On%j.Exports {
			events = append(events, j.event(c, address(i), i))
		}
	}
	for _, other := range []string{download, gate} {
		if c.planned != nil && c.planned.changes[other].action != "" {
			events = append(events, j.event(c, other, 0))
		}
	}
	for _, e := range events {
		if e.export {
			j.learn(e)
		}
		for _, p := range promises {
			if p.when(e) && !p.check(e) {
				j.problems = append(j.problems, fmt.Sprintf("%s breaks a promise: %s\n%s", e.address, p.sentence, e))
			}
		}
	}
	return len(j.problems) == 0 && !failure(c.all)
}

func (j *judge) event(c *command, address string, on int) *event {
	e := &event{judge: j, command: c, address: address, on: on, said: saidAt(c.all, address), seen: seenAt(c.requests, address)}
	e.export, e.forced, e.failed = address != download && address != gate, c.replaced == address, failure(e.said)
	if c.planned != nil {
		e.change = c.planned.changes[address]
	}
	e.after, e.exists = c.after[address]
	e.job, e.pending = cmp.Or(j.records[e.before.text("job_id")], &record{}), cmp.Or(j.memories[on].pending, &record{})
	return e
}

// learn records what the provider was told. A plan does not store what it refreshed, only
// the apply after it does.
func (j *judge) learn(e *event) {
	for _, x := range e.seen {
		if x.endpoint == simulator.EndpointStart && x.outcome == ok {
			j.records[x.job] = &record{id: x.job, content: e.config().content(e.on)}
		}
		if r := j.records[x.job]; r != nil {
			r.failed = r.failed || x.failed
		}
	}
	refreshed := []exchange{}
	if e.applying {
		refreshed = seenAt(e.refreshes, e.address)
	}
	if e.action == noop || e.stored[e.address] {
		refreshed = append(refreshed, e.seen...)
	}
	gone := func(was bool, id, endpoint string) bool {
		back := slices.ContainsFunc(requestsFor(id, endpoint, refreshed), func(x exchange) bool { return x.outcome == ok })
		return lasted(requestsFor(id, endpoint, e.seen), missing) >= patience || was && !back
	}
	for _, r := range []*record{j.records[e.job.id], j.records[e.pending.id], j.records[e.after.text("job_id")]} {
		if r != nil {
			r.jobGone, r.bundleGone = gone(r.jobGone, r.id, simulator.EndpointJob), gone(r.bundleGone, r.id, simulator.EndpointBundle)
		}
	}
	m := &j.memories[e.on]
	switch {
	case imports(e) && e.exists:
		j.imported(e)
	case !e.exists && (e.applying || e.Do != doApply):
		*m = memory{}
	case e.applying && e.stored[e.address]:
		m.update(e)
	}
}

// imported starts over with an imported job.
func (j *judge) imported(e *event) {
	id := e.after.text("job_id")
	r := cmp.Or(j.records[id], &record{id: id})
	r.imported, r.domain = true, e.after.text("domain")
	j.records[id], j.memories[e.on] = r, memory{}
}

// update updates the memory after an apply.
func (m *memory) update(e *event) {
	id := e.after.text("job_id")
	if before := e.config()["renew_before"]; e.action != update || before != m.renewBefore {
		m.useless, m.renewBefore = 0, before
	}
	if e.action != update {
		m.pending = nil
	}
	for _, x := range e.seen {
		if x.endpoint == simulator.EndpointStart && x.outcome == ok {
			m.pending = e.records[x.job]
		}
	}
	if p := m.pending; p != nil && (p.id == id || p.failed) {
		m.pending = nil
	}
	if !succeeds(e) || e.action != update {
		return
	}
	if r := e.records[id]; r != nil && r.imported {
		r.imported, r.content = false, e.config().content(e.on)
	} else if expires, err := time.Parse(time.RFC3339, e.before.text("expires_at")); err == nil && e.began.Before(expires) && e.Unknown == "" && e.before.value.Equal(e.after.value) {
		m.useless++
	}
}

// due reports whether the link in the state must be renewed at a time, and whether it may be.
func (e *event) due(now time.Time) (must, may bool) {
	expires, err := time.Parse(time.RFC3339, e.before.text("expires_at"))
	switch {
	case !e.linked():
		return true, true
	case e.config()["link_renewal"] != "" || err != nil:
		return false, false
	}
	lead, tolerance := e.config().duration("renew_before", 0), 2*time.Second
	if lifetime := expires.Sub(e.links[e.before.text("bundle_url")].received); lead >= lifetime-tolerance {
		lead = max(0, lifetime/2)
	}
	may = !now.Before(expires.Add(-lead - tolerance))
	if e.Keeps {
		lead = 0
	}
	return !now.Before(expires.Add(-lead)), may
}

func (e *event) config() settings { return e.settings[e.on] }

func (e *event) linked() bool { return e.before.text("bundle_url") != "" }

// known reports whether a plan shows the value of an attribute.
func (e *event) known(name string) bool { return attributes(e.change.after)[name].IsKnown() }

// otherInputs reports whether the configuration asks for something else than the job has. An
// imported job has whatever is configured, except for a domain that the import named.
func (e *event) otherInputs() bool {
	if domain := e.config().domain(e.on); e.job.imported {
		return e.job.domain != "" && e.job.domain != domain
	}
	return e.job.content != e.config().content(e.on)
}

// last returns the last request.
func (e *event) last() (x exchange) {
	if len(e.seen) > 0 {
		x = e.seen[len(e.seen)-1]
	}
	return x
}

// work returns the requests without those that renew the old link because a new export failed.
func (e *event) work() []exchange {
	return slices.DeleteFunc(slices.Clone(e.seen), func(x exchange) bool {
		return e.action == update && e.linked() && e.otherInputs() && e.job.is(x.job) && x.endpoint == simulator.EndpointBundle
	})
}

// troubles are the requests that went wrong.
func (e *event) troubles() []exchange {
	return slices.DeleteFunc(slices.Clone(e.seen), func(x exchange) bool { return x.outcome == ok })
}

func (e *event) limit() time.Duration { return e.config().duration("timeouts", defaultTimeout) }

// outOfTime reports whether the last request came so late that no other one was possible.
func (e *event) outOfTime() bool {
	if len(e.seen) == 0 {
		return false
	}
	last, began, limit := e.last(), e.began, e.limit()
	switch {
	case !e.export:
		began, limit = e.seen[0].at, defaultTimeout
	case !e.applying:
		limit = readTimeout
	}
	end := began.Add(limit)
	return last.ended.After(end.Add(-margin)) || last.outcome != ok && last.ended.Add(last.after).After(end.Add(-margin/4))
}

// requestsFor returns the requests for a job, if it is not "", to an endpoint, if it is not "".
func requestsFor(job, endpoint string, all []exchange) []exchange {
	return slices.DeleteFunc(slices.Clone(all), func(x exchange) bool {
		return job != "" && x.job != job || endpoint != "" && x.endpoint != endpoint
	})
}

// lasted returns for how long the last responses were all of some kinds. A 429, and the pause
// after it, counts as nothing.
func lasted(asked []exchange, kinds ...outcome) (total time.Duration) {
	var next time.Time
	for _, x := range slices.Backward(asked) {
		if x.outcome != busy {
			if !slices.Contains(kinds, x.outcome) {
				break
			}
			if !next.IsZero() {
				total += next.Sub(x.at)
			}
		}
		next = x.at
	}
	return total
}

// String describes an event that breaks a promise.
func (e *event) String() string {
	text := fmt.Sprintf("planned: %s, job %s, expires at %s; afterwards: job %s, expires at %s; pending: %s\n", e.action, e.before.text("job_id"), e.before.text("expires_at"), e.after.text("job_id"), e.after.text("expires_at"), e.pending.id)
	for _, x := range e.seen {
		text += fmt.Sprintf("%s %s %s: %s\n", x.at.Sub(e.began), x.endpoint, x.job, x.outcome)
	}
	return text + fmt.Sprint(e.said)
}
