// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package walk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const (
	// patience is how long a response must repeat itself until it counts, and outage how
	// long failures of any kind. The judge does not insist on the last second.
	patience = 29 * time.Second
	outage   = 5*time.Minute - time.Second
	// grace is how long an operation may last after its timeout: half a minute for the
	// response to a start, and half a minute to keep the old link.
	grace = 62 * time.Second
)

// command is a plan, and the apply of it.
type command struct {
	step
	planned         *plan
	planSeen        []exchange
	plannedAt       time.Time
	replaced        string // address
	began           time.Time
	said            []said
	seen            []exchange
	after           map[string]object
	stopped, killed bool
}

// record is what the provider has been told about a job.
type record struct {
	id, content string
	failed      bool
	missing     bool      // the job or its bundle, when it was last asked for
	received    time.Time // when the last link was
	expires     string
	kept        bool // the service returned the same link again
	adopts      bool // imported: it takes the configured content
}

// memory is what the provider must remember about an export: the job in the state, and one
// that was started later and has no link yet.
type memory struct {
	current, pending *record
	// settled are the arguments of the last apply that succeeded.
	settled settings
}

// judge holds what happens against what the documentation promises. It knows the requests,
// the plans, the diagnostics, and the attributes in the state, but not the private state.
type judge struct {
	*walker
	records  map[string]*record
	memories []memory
	problems []string
	log      strings.Builder
}

func newJudge(k *walker) *judge {
	return &judge{walker: k, records: map[string]*record{}, memories: make([]memory, k.Exports)}
}

func (j *judge) broke(i int, format string, args ...any) {
	j.problems = append(j.problems, address(i)+": "+fmt.Sprintf(format, args...))
}

func of[T any](all []T, address string, where func(T) string) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return where(one) != address })
}

func saidAt(all []said, address string) []said {
	return of(all, address, func(s said) string { return s.address })
}

func seenAt(all []exchange, address string) []exchange {
	return of(all, address, func(x exchange) string { return x.address })
}

func saidOf(all []said, i int) []said { return saidAt(all, address(i)) }

func seenOf(all []exchange, i int) []exchange { return seenAt(all, address(i)) }

func failure(all []said) bool { return slices.ContainsFunc(all, func(s said) bool { return s.failed }) }

func mentions(all []said, word string) bool {
	return slices.ContainsFunc(all, func(s said) bool { return strings.Contains(s.text, word) })
}

var jobID = regexp.MustCompile(`se_[0-9a-f]{16}`)

// hear checks what was said about an export, and learns from the responses.
func (j *judge) hear(i int, all []said, seen []exchange) {
	m := j.memories[i]
	known := map[string]bool{}
	j.note(i, all, seen)
	for _, r := range []*record{m.current, m.pending} {
		if r != nil {
			known[r.id] = true
		}
	}
	for _, x := range seen {
		known[x.job] = true
		j.learn(x)
	}
	for _, s := range all {
		for _, id := range jobID.FindAllString(s.text, -1) {
			if !known[id] {
				j.broke(i, "a message names job %s, which it is not about: %s", id, s.text)
			}
		}
	}
}

// note logs what was said about a resource, and checks what holds for all.
func (j *judge) note(i int, all []said, seen []exchange) {
	for _, x := range seen {
		fmt.Fprintln(&j.log, x.at.UnixNano(), x.endpoint, x.job, x.outcome)
	}
	for _, s := range all {
		fmt.Fprintln(&j.log, s)
		if j.watch(s.text); s.broken {
			j.broke(i, "%s", s.text)
		}
	}
	for _, leak := range j.leaks {
		j.broke(i, "a secret was said: %s", leak)
	}
}

// learn notes what the provider received.
func (j *judge) learn(x exchange) {
	r := j.records[x.job]
	if r == nil {
		return
	}
	switch x.outcome {
	case missing:
		r.missing = true
	case ok:
		r.missing = r.missing && x.endpoint != simulator.EndpointBundle
		r.failed = r.failed || x.failed
	}
	if x.url != "" {
		r.kept = r.kept || x.expires != "" && x.expires == r.expires
		r.received, r.expires = x.ended, x.expires
	}
}

// due reports whether the link of an object must be renewed at a time, and whether it may be.
func (j *judge) due(o object, s settings, now time.Time) (must, may bool) {
	expires, err := time.Parse(time.RFC3339, o.text("expires_at"))
	r := j.records[o.text("job_id")]
	switch {
	case o.text("bundle_url") == "":
		return true, true
	case s["never"] != "" || err != nil || r == nil:
		return false, false
	}
	lead := s.duration("before", 0)
	if lifetime := expires.Sub(r.received); lead >= lifetime-2*time.Second {
		lead = max(0, lifetime/2)
	}
	may = !now.Before(expires.Add(-lead - 2*time.Second))
	if r.kept {
		lead = 0
	}
	return !now.Before(expires.Add(-lead)), may
}

// unfinished returns the jobs of an export that have no link yet, and did not fail.
func (j *judge) unfinished(i int, o object) (jobs []*record) {
	m := j.memories[i]
	if m.current != nil && o.text("bundle_url") == "" {
		jobs = append(jobs, m.current)
	}
	return slices.DeleteFunc(append(jobs, m.pending), func(r *record) bool { return r == nil || r.failed })
}

// plan judges a plan. It reports whether it can be applied.
func (j *judge) plan(c *command) bool {
	fmt.Fprintln(&j.log, "plan", c.step)
	for i := range j.Exports {
		said, seen := saidOf(c.planned.said, i), seenOf(c.planSeen, i)
		o, exists := j.state[address(i)]
		j.hear(i, said, seen)
		if failure(said) && !slices.ContainsFunc(seen, func(x exchange) bool { return x.outcome != ok }) {
			j.broke(i, "the plan failed for no reason: %v", said)
		}
		for _, x := range seen {
			if x.endpoint != simulator.EndpointJob || c.NoRefresh {
				j.broke(i, "the plan sent a request to %s", x.endpoint)
			}
		}
		change, planned := c.planned.changes[address(i)]
		if !planned || failure(said) || !exists {
			continue
		}
		for _, r := range j.mustName(i, c, change, o) {
			if !mentions(said, r.id) {
				j.broke(i, "the plan (%s) does not name job %s: %v", change.action, r.id, said)
			}
		}
		j.identity(i, change.before)
		j.plannedAction(i, c, change, seen)
	}
	return !c.planned.failed() && len(j.problems) == 0
}

// plannedAction judges whether a plan shows an export or an update.
func (j *judge) plannedAction(i int, c *command, change change, seen []exchange) {
	m, s := j.memories[i], j.settings[i]
	known := attributes(change.after)["job_id"].IsKnown()
	if slices.ContainsFunc(seen, func(x exchange) bool { return x.outcome == missing }) && known {
		j.broke(i, "the plan (%s) shows no export, although the job is missing", change.action)
	}
	if m.current == nil || m.current.missing || m.current.adopts || c.Unknown || c.replaced == address(i) || !maps.Equal(s.canonical(), m.settled.canonical()) {
		return
	}
	if _, may := j.due(change.before, s, c.plannedAt); !may && change.action != noop {
		j.broke(i, "the plan is %q, although nothing has changed", change.action)
	}
}

// mustName returns the jobs that a plan must name.
func (j *judge) mustName(i int, c *command, change change, o object) []*record {
	unfinished, m := j.unfinished(i, o), j.memories[i]
	announced := !attributes(change.after)["job_id"].IsKnown()
	same := m.current != nil && !c.Unknown && m.current.content == j.settings[i].content(i)
	switch {
	case o.tainted && c.NoRefresh, c.replaced == address(i), m.current != nil && m.current.adopts, !announced:
		return nil // nobody was asked
	case same && !o.tainted: // the job is missing: of a pending one, the plan says only that it is resumed
		return slices.DeleteFunc(unfinished, func(r *record) bool { return r.content != m.current.content })
	case o.tainted:
		return slices.DeleteFunc(unfinished, func(r *record) bool { return r != m.current })
	}
	return unfinished
}

func (j *judge) identity(i int, o object) {
	if o.value.IsNull() {
		return
	}
	if o.identity == nil {
		j.broke(i, "there is no identity")
		return
	}
	identity := must(o.identity.IdentityData.Unmarshal(identityType))
	if got := text(attributes(identity)["job_id"]); got != o.text("job_id") {
		j.broke(i, "the identity is that of job %q, the state has %q", got, o.text("job_id"))
	}
}

// apply judges an apply.
func (j *judge) apply(c *command) {
	fmt.Fprintln(&j.log, "apply", c.killed, c.stopped)
	j.others(c)
	for i := range j.Exports {
		change, said, seen := c.planned.changes[address(i)], saidOf(c.said, i), seenOf(c.seen, i)
		for _, x := range seen {
			if x.endpoint == simulator.EndpointStart && x.outcome == ok {
				j.records[x.job] = &record{id: x.job, content: j.settings[i].content(i)}
			}
		}
		before := j.memories[i]
		after, exists := c.after[address(i)]
		j.starts(i, change, seen)
		for n, x := range seen[min(1, len(seen)):] {
			if p := seen[n]; p.outcome != ok && p.endpoint == x.endpoint && p.job == x.job && x.at.Before(p.ended.Add(p.after-time.Second)) {
				j.broke(i, "a request to %s was sent %s after a response with Retry-After %s", x.endpoint, x.at.Sub(p.ended), p.after)
			}
		}
		j.links(i, change, seen)
		j.hear(i, said, seen)
		if change.action == replace {
			j.memories[i] = memory{} // the user gave them up
		}
		if exists && !c.killed {
			j.identity(i, after)
		}
		switch failed := failure(said); {
		case c.killed:
		case failed:
			j.failed(i, c, change, said, seen, after)
		case !c.stopped:
			j.succeeded(i, c, change, seen, after)
		}
		if c.stopped && !c.killed {
			j.stopped(i, c, change, seen, after, exists)
		}
		j.remember(i, c, change, seen, after, exists, before)
	}
}

// stopped judges an apply that was interrupted.
func (j *judge) stopped(i int, c *command, change change, seen []exchange, after object, exists bool) {
	if change.action == create && !exists && slices.ContainsFunc(seen, started) {
		j.broke(i, "the interrupted create lost its job")
	}
	for _, x := range seen {
		if x.endpoint == simulator.EndpointStart && x.outcome == left {
			j.broke(i, "the interrupt lost the response to a start")
		}
	}
	if len(seen) == 0 || !after.tainted || change.before.tainted && change.action != replace || slices.ContainsFunc(seen, func(x exchange) bool { return x.failed }) {
		return
	}
	last, limit := seen[len(seen)-1], j.settings[i].duration("timeout", defaultTimeout)
	if (last.outcome == ok || last.outcome == left) && last.ended.Sub(c.began) < limit-20*time.Second {
		j.broke(i, "the interrupted create is tainted")
	}
}

func started(x exchange) bool { return x.endpoint == simulator.EndpointStart && x.outcome == ok }

// starts judges the requests that start a job.
func (j *judge) starts(i int, change change, seen []exchange) {
	m, content := j.memories[i], j.settings[i].content(i)
	var last outcome
	for n, x := range seen {
		if x.endpoint != simulator.EndpointStart {
			continue
		}
		if last != "" && last != busy && last != never {
			j.broke(i, "a start was sent again after %q", last)
		}
		last = x.outcome
		if attributes(change.after)["job_id"].IsKnown() {
			j.broke(i, "a job was started that the plan (%s) does not show", change.action)
		}
		var body struct{ Domain, Version string }
		_ = json.Unmarshal([]byte(x.body), &body)
		if s := j.settings[i]; body.Domain != s.domain(i) || body.Version != s["params"] {
			j.broke(i, "the start was sent with %s", x.body)
		}
		if change.action != update || x.outcome == never {
			continue
		}
		for _, r := range []*record{m.current, m.pending} {
			if r == nil || r.failed || r.content != content && !r.adopts {
				continue
			}
			if asked := of(seen[:n], r.id, func(x exchange) string { return x.job }); !gone(asked) && !slices.ContainsFunc(asked, func(x exchange) bool { return x.failed }) {
				j.broke(i, "a job was started although job %s has the same content and was not gone for half a minute", r.id)
			}
		}
	}
}

// gone reports whether half a minute of requests for a job ended in nothing but 404s.
func gone(asked []exchange) bool { return lasted(asked, missing) >= patience }

// lasted returns for how long the last responses were all of one kind. A 429, and the
// pause after it, counts as nothing.
func lasted(asked []exchange, kind outcome) (total time.Duration) {
	var next time.Time
	for _, x := range slices.Backward(asked) {
		if x.outcome != busy {
			if x.outcome != kind && (kind != "" || x.outcome == ok) {
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

// links judges the requests for a link to the bundle that the state has a link to already.
func (j *judge) links(i int, change change, seen []exchange) {
	m, o := j.memories[i], change.before
	if m.current == nil || o.text("bundle_url") == "" {
		return
	}
	for _, x := range seen {
		if x.endpoint != simulator.EndpointBundle || x.job != m.current.id {
			continue
		}
		if _, may := j.due(o, j.settings[i], x.at); !may {
			j.broke(i, "a link to the bundle of job %s was requested early, at %s: the state's expires at %s", x.job, x.at.UTC().Format(time.RFC3339), o.text("expires_at"))
		}
	}
}

// succeeded judges an apply without an error.
func (j *judge) succeeded(i int, c *command, change change, seen []exchange, after object) {
	id, s := after.text("job_id"), j.settings[i]
	r := j.records[id]
	if r == nil {
		j.broke(i, "the apply succeeded, and the state has job %q", id)
		return
	}
	if change.action == update {
		r.adopt(s.content(i))
	}
	if j.linked(after) != id {
		j.broke(i, "the apply succeeded, and the state has no link to the bundle of job %s", id)
	}
	if !r.adopts && r.content != s.content(i) {
		j.broke(i, "the apply succeeded with job %s of content %q, not %q", id, r.content, s.content(i))
	}
	if must, _ := j.due(change.before, s, c.plannedAt); must && change.action == noop {
		j.broke(i, "the plan does not renew the link, which is due since %s", change.before.text("expires_at"))
	}
	if must, _ := j.due(change.before, s, c.began); must && change.action == update && !slices.ContainsFunc(seen, func(x exchange) bool { return x.url != "" && x.job == id }) {
		j.broke(i, "the apply did not renew the link, which was due")
	}
}

func (r *record) adopt(content string) {
	if r.adopts {
		r.adopts, r.content = false, content
	}
}

// linked returns the job that the state's link leads to.
func (j *judge) linked(o object) string { return j.world.links[o.text("bundle_url")] }

// failed judges an apply with an error.
func (j *judge) failed(i int, c *command, change change, all []said, seen []exchange, after object) {
	s, m, o := j.settings[i], j.memories[i], change.before
	limit := s.duration("timeout", defaultTimeout)
	renewed := func(x exchange) bool {
		return x.endpoint == simulator.EndpointBundle && m.current != nil && x.job == m.current.id && m.current.content != s.content(i) && !m.current.adopts
	}
	kept := slices.ContainsFunc(seen, renewed)
	seen = slices.DeleteFunc(slices.Clone(seen), renewed) // to keep the old link in use
	for n, x := range seen {
		if x.endpoint != simulator.EndpointStart {
			continue
		}
		if word := j.settings[i].domain(i); x.outcome != ok && n == len(seen)-1 && !mentions(all, word) {
			j.broke(i, "the error does not say whether a job was started for %s: %v", word, all)
		}
		if x.outcome == ok && !mentions(all, x.job) && after.text("job_id") != x.job {
			j.broke(i, "the error does not name job %s, which was started: %v", x.job, all)
		}
	}
	if change.action == update && o.text("bundle_url") != "" {
		if id := after.text("job_id"); id != o.text("job_id") && j.linked(after) != id {
			j.broke(i, "the old job was replaced by one without a link")
		}
		if after.text("bundle_url") == "" {
			j.broke(i, "the old link is gone from the state")
		}
		if must, _ := j.due(after, s, c.began); must && !c.stopped && m.current != nil && m.current.content != s.content(i) && !m.current.adopts && !m.current.missing && !m.current.failed && !kept {
			j.broke(i, "the export failed, and the old link, which is due, was not renewed")
		}
	}
	if len(seen) == 0 {
		if !c.stopped && !kept {
			j.broke(i, "the apply failed for no reason: %v", all)
		}
		return
	}
	last := seen[len(seen)-1]
	switch elapsed := last.ended.Sub(c.began); {
	case elapsed > limit+grace:
		j.broke(i, "the apply took %s, its timeout is %s", elapsed, limit)
	case c.stopped, slices.ContainsFunc(seen, func(x exchange) bool { return x.failed }):
	case elapsed >= limit-20*time.Second, last.outcome != ok && last.ended.Add(last.after).After(c.began.Add(limit-5*time.Second)):
	case last.outcome == ok:
		j.broke(i, "the apply failed after %s, although the last response was a success: %v", elapsed, all)
	case last.endpoint == simulator.EndpointJob || last.endpoint == simulator.EndpointBundle && last.job != o.text("job_id") || o.text("bundle_url") == "" && last.endpoint == simulator.EndpointBundle:
		if lasted(seen, last.outcome) < patience && lasted(seen, "") < outage || last.outcome == trouble && lasted(seen, "") < outage {
			j.broke(i, "the apply failed after %s of %q: %v", lasted(seen, last.outcome), last.outcome, all)
		}
	}
}

// remember brings the memory up to date after an apply.
func (j *judge) remember(i int, c *command, change change, seen []exchange, after object, exists bool, before memory) {
	if !exists {
		j.memories[i] = memory{}
		return
	}
	if c.killed && after.text("job_id") == change.before.text("job_id") {
		j.memories[i] = before
		return
	}
	m := &j.memories[i]
	switch m.settled = before.settled; {
	case c.killed || c.stopped: // which may have come after this export
		m.settled = nil
	case !failure(saidOf(c.said, i)):
		m.settled = maps.Clone(j.settings[i])
	}
	if id := after.text("job_id"); m.current == nil || m.current.id != id {
		m.current, m.pending = j.records[id], nil
	}
	for _, x := range seen {
		if started(x) && x.job != m.current.id {
			m.pending = j.records[x.job]
		}
	}
	if m.pending != nil && m.pending.failed {
		m.pending = nil
	}
	if p := before.pending; change.action == update && p != nil && !p.failed && p != m.pending && p != m.current {
		if all := append(saidOf(c.planned.said, i), saidOf(c.said, i)...); !mentions(all, p.id) {
			j.broke(i, "the pending job %s was forgotten without a word: %v", p.id, all)
		}
	}
}

// check judges the plan right after an apply.
func (j *judge) check(c, again *command) {
	for i := range j.Exports {
		all, seen := saidOf(again.planned.said, i), seenOf(again.planSeen, i)
		j.hear(i, all, seen)
		o, exists := j.state[address(i)]
		change := again.planned.changes[address(i)]
		settled := exists && !c.killed && !c.stopped && !failure(saidOf(c.said, i)) && !slices.ContainsFunc(seen, func(x exchange) bool { return x.outcome != ok })
		if !settled {
			continue
		}
		if _, may := j.due(o, j.settings[i], again.plannedAt); change.action != noop && !may {
			j.broke(i, "the plan right after a successful apply is %q: %v", change.action, all)
		}
		if len(all) > 0 && change.action == noop && !slices.ContainsFunc(j.unfinished(i, o), func(r *record) bool { return mentions(all, r.id) }) {
			j.broke(i, "the plan right after a successful apply says: %v", all)
		}
	}
}

// others judges the apply of the download and of the gate.
func (j *judge) others(c *command) {
	for _, name := range []string{download, gate} {
		all, seen := saidAt(c.said, name), seenAt(c.seen, name)
		j.note(0, all, seen)
		change, o := c.planned.changes[name], c.after[name]
		if c.killed || c.stopped || change.action == "" {
			continue
		}
		var last exchange
		if len(seen) > 0 {
			last = seen[len(seen)-1]
		}
		skipped := name == download && failure(saidOf(c.said, 0))
		switch failed := failure(all); {
		case name == gate && change.action != noop && failed == (last.status == "success"), name == gate && failed && last.outcome == ok && !last.failed && last.ended.Sub(c.began) < defaultTimeout-20*time.Second:
			j.broke(0, "the gate failed: %t, after %v: %v", failed, seen, all)
		case name == download && !failed && !skipped:
			written, _ := os.ReadFile(j.file())
			if !bytes.Equal(written, j.sites[o.text("job_id")]) || o.text("job_id") != c.after[address(0)].text("job_id") {
				j.broke(0, "the download of job %s wrote %q", o.text("job_id"), written)
			}
		case name == download && failed && last.outcome == ok && !last.failed && !j.blocked:
			j.broke(0, "the download failed: %v", all)
		}
	}
}

// imported judges an import.
func (j *judge) imported(i int, all []said, seen []exchange) {
	fmt.Fprintln(&j.log, "import")
	o, exists := j.state[address(i)]
	j.hear(i, all, seen)
	j.memories[i] = memory{}
	if !exists {
		return
	}
	id := o.text("job_id")
	if j.records[id] == nil {
		j.records[id] = &record{id: id}
	}
	j.records[id].adopts = true
	j.memories[i].current = j.records[id]
	j.identity(i, o)
}

var identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"job_id": tftypes.String, "domain": tftypes.String}}

// destroyed judges a destroy.
func (j *judge) destroyed(all []said) {
	for i := range j.Exports {
		j.hear(i, saidOf(all, i), nil)
		if _, exists := j.state[address(i)]; exists {
			j.broke(i, "still exists: %v", all)
		}
		j.memories[i] = memory{}
	}
}
