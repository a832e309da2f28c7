package walk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// judge checks what happens against the promises. It knows the requests, the plans, the
// diagnostics, and the attributes, but not the private state.
type judge struct {
	*walker
	records  map[string]*record
	memories []memory   // of the exports
	claims   [][]spoken // of the exports, about applies that have not happened yet
	problems []string
}

func newJudge(k *walker) *judge {
	return &judge{walker: k, records: map[string]*record{}, memories: make([]memory, k.Exports), claims: make([][]spoken, k.Exports)}
}

// record is what the provider has been told about a job.
type record struct {
	id, content, domain string // the domain only if it was imported
	imported            bool   // it takes the configured content
	failed              bool
	gone                map[string]time.Duration // by endpoint: for how long it was missing
}

func (r *record) is(id string) bool { return r != nil && r.id == id && id != "" }

// memory is what the provider must remember about an export beside its state.
type memory struct {
	pending *record // started after the job in the state, without a link; or nil
	kept    bool    // an early renewal returned the link in the state once more
}

// judge judges a command. It reports whether the walk can continue with its result.
func (j *judge) judge(c *command) bool {
	addresses := []string{}
	for i := range j.Exports {
		addresses = append(addresses, address(i))
	}
	for n, address := range append(addresses, download, gate) {
		change := change{}
		if c.planned != nil {
			change = c.planned.changes[address]
		}
		export := n < j.Exports
		if !export && change.action == "" && len(saidAt(c.all, address)) == 0 || c.Do == doImport && n != c.On%j.Exports {
			continue
		}
		e := &event{judge: j, command: c, change: change, address: address, on: n % j.Exports, export: export, said: saidAt(c.all, address), seen: seenAt(c.requests, address)}
		e.failed = failure(e.said)
		e.after, e.exists = c.after[address]
		e.memory, e.job = j.memories[e.on], cmp.Or(j.records[e.before.text("job_id")], &record{})
		e.pending, e.bundleGone = cmp.Or(e.pending, &record{}), e.job.gone[simulator.EndpointBundle]
		e.work = slices.DeleteFunc(slices.Clone(e.seen), func(x exchange) bool {
			return e.action == update && e.linked() && e.otherInputs() && e.job.is(x.job) && x.endpoint == simulator.EndpointBundle
		})
		if len(e.work) > 0 {
			e.last = e.work[len(e.work)-1]
		}
		if export {
			j.learn(e)
			for _, sentence := range e.wrong() {
				j.problems = append(j.problems, fmt.Sprintf("%s says what does not hold: %s\n%s", address, sentence, e))
			}
		}
		j.blocked = j.blocked || address == download && e.killed // it no longer knows its files
		for _, p := range promises {
			if p.when(e) && !p.check(e) {
				j.problems = append(j.problems, fmt.Sprintf("%s breaks a promise: %s\n%s", address, p.sentence, e))
			}
		}
	}
	return len(j.problems) == 0 && !failure(c.all)
}

// learn records what the provider was told, and what it must remember of that.
func (j *judge) learn(e *event) {
	m, id := &j.memories[e.on], e.after.text("job_id")
	stored := e.applying && e.stored[e.address]
	if stored && e.action != update || !e.exists && (e.applying || e.Do != doApply) || imports(e) {
		*m = memory{}
	}
	if imports(e) && e.exists {
		j.records[id] = cmp.Or(j.records[id], &record{id: id})
		j.records[id].imported, j.records[id].domain, j.records[id].gone = true, e.after.text("domain"), map[string]time.Duration{}
	}
	for _, x := range e.seen {
		if x.endpoint == simulator.EndpointStart && x.outcome == ok {
			j.records[x.job] = &record{id: x.job, content: e.config().content(e.on), gone: map[string]time.Duration{}}
			if stored {
				m.pending = j.records[x.job]
			}
		}
		if r := j.records[x.job]; r != nil {
			r.failed = r.failed || x.failed
		}
		if stored && x.url != "" {
			expires, _ := time.Parse(time.RFC3339, e.before.text("expires_at"))
			m.kept = x.job == e.before.text("job_id") && e.before.text("expires_at") == e.after.text("expires_at") && x.ended.Before(expires)
		}
	}
	// An apply that succeeds drops a pending job that it looked for in vain, because the link of the job works again.
	if p := m.pending; p != nil && (p.id == id || p.failed || stored && !e.failed && len(requestsFor(p.id, "", e.seen)) > 0) {
		m.pending = nil
	}
	// Only an apply stores what its plan has refreshed.
	heard := seenAt(e.refreshes, e.address)
	if stored {
		heard = append(heard, e.work...)
	}
	for _, r := range j.records {
		for _, endpoint := range []string{simulator.EndpointJob, simulator.EndpointBundle} {
			asked := requestsFor(r.id, endpoint, heard)
			if since := lasted(asked, missing); since >= absence {
				r.gone[endpoint] = since
			} else if slices.ContainsFunc(asked, succeeded) {
				delete(r.gone, endpoint)
			}
		}
	}
	// An update that an interrupt ends fails, so one that did not fail ended before the interrupt.
	if r := j.records[id]; stores(e) && !e.failed && e.action == update && r != nil && r.imported && !e.otherInputs() {
		r.imported, r.content = false, e.config().content(e.on)
	}
	if e.killed && e.exists && e.after.private == nil {
		*m = memory{}
		if r := j.records[id]; r != nil {
			known := *r
			if known.gone = map[string]time.Duration{}; r.imported { // its inputs are now the arguments in the state
				known.imported, known.content = false, r.domain+"  "
			}
			j.records[id] = &known
		}
	}
}

// event is what a command did to one resource.
type event struct {
	*judge
	*command
	change         // its before is the resource as refreshed
	address        string
	on             int    // the number of the export
	after          object // of the command
	exists         bool   // afterwards
	export, failed bool
	said           []said
	seen, work     []exchange // work without those that renew the old link because a new export failed
	last           exchange   // of the work
	// bundleGone is for how long the bundle was missing in an earlier command.
	bundleGone time.Duration
	// What was known before: the job in the state, and the rest. Neither record is nil.
	job *record
	memory
}

func (e *event) config() settings { return e.settings[e.on] }
func (e *event) forced() bool     { return e.replaced == e.address }
func (e *event) linked() bool     { return e.before.text("bundle_url") != "" }

func (e *event) starts() []exchange { return requestsFor("", simulator.EndpointStart, e.seen) }

func (e *event) linksTo(job string) []exchange {
	return slices.DeleteFunc(requestsFor(job, simulator.EndpointBundle, e.seen), func(x exchange) bool { return x.url == "" })
}

// gone reports whether the job or its bundle was missing for half a minute.
func (e *event) gone() bool {
	asked := requestsFor(e.job.id, simulator.EndpointJob, e.seen)
	found := slices.ContainsFunc(asked, succeeded)
	return lasted(asked, missing) >= absence || e.job.gone[simulator.EndpointJob] > 0 && !found || e.job.gone[simulator.EndpointBundle] > 0
}

// known reports whether a plan shows the value of an attribute.
func (e *event) known(name string) bool { return attributes(e.change.after)[name].IsKnown() }

// limit is the timeout of the operation.
func (e *event) limit() time.Duration {
	if plans(e) {
		return readTimeout
	}
	return map[bool]settings{true: e.config()}[e.export].duration("timeouts", defaultTimeout)
}

// outOfTime reports whether the last request came so late that no other one was possible.
func (e *event) outOfTime() bool {
	if len(e.work) == 0 {
		return false
	}
	left := e.work[0].at.Add(e.limit()).Sub(e.last.ended)
	return left < margin || wentWrong(e.last) && left-e.last.after < margin/4
}

// otherInputs reports whether the configuration asks for anything other than what the job has. An
// imported job has whatever is configured, except for the domain.
func (e *event) otherInputs() bool {
	if domain := e.config().domain(e.on); e.job.imported {
		return e.job.domain != domain
	}
	return e.job.content != e.config().content(e.on)
}

// due reports whether the link in the state has to be renewed at a time.
func (e *event) due(now time.Time) bool {
	expires, err := time.Parse(time.RFC3339, e.before.text("expires_at"))
	if !e.linked() || e.config()["link_renewal"] != "" || err != nil {
		return !e.linked()
	}
	lead := e.config().duration("renew_before", 0)
	if e.kept {
		lead = 0
	}
	return !now.Before(expires.Add(-lead))
}

func mentions(all []said, word string) bool {
	return slices.ContainsFunc(all, func(s said) bool { return strings.Contains(s.text, word) })
}

// String describes an event that breaks a promise.
func (e *event) String() string {
	expiry := func(o object) string { return o.text("job_id") + " until " + o.text("expires_at") }
	text := fmt.Sprintf("%s of %s, then %s, pending %s\n", e.action, expiry(e.before), expiry(e.after), e.pending.id)
	for _, x := range e.seen {
		text += fmt.Sprintln(x.at.Sub(e.began), x.endpoint, x.job, x.outcome)
	}
	return text + fmt.Sprint(e.said)
}
