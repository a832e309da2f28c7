// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package walk

import (
	"bytes"
	"cmp"
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

// promises are what the documentation promises. Each has a check, which reports whether an
// event keeps the promise. Below them are the checks, in the same order, and then what a
// judge remembers.
var promises = []struct {
	when     func(*event) bool
	sentence string
	check    func(*event) bool
}{
	{always, "No message and no log record contains the API key or the query of a link.", (*event).secrets},
	{always, "An apply does what its plan shows, by Terraform's rules.", (*event).rules},
	{always, "A job, a bundle, or an update is missing after half a minute of 404s or 410s, whoever asks.", (*event).missing},
	{plans, "A refresh of a job that is missing already does not wait again.", (*event).missingAlready},
	{exports, "A message about an export names no job of another one.", (*event).names},
	{exports, "The identity in the state is that of the job.", (*event).identity},
	{imports, "An import of a job that is missing fails at once.", (*event).importFails},
	{destroys, "A destroy removes every export.", (*event).removes},

	{plans, "A plan reads the job, and sends no other request. With -refresh=false, it sends none.", (*event).planReads},
	{plans, "A plan fails only if a request failed.", (*event).planFails},
	{plans, "A plan names the unfinished and the missing jobs that it resumes, abandons, or replaces.", (*event).planNames},
	{shows, "A plan is an update in place if an argument changes, the link is due, or the job is missing. Otherwise, it is empty.", (*event).planIsNeeded},
	{shows, "What hangs on job_id stays until the inputs change, or the job or its bundle is missing, or the job failed.", (*event).jobStays},
	{shows, "What hangs on bundle_url stays in a plan without changes, and with link_renewal = \"never\" until there is an export.", (*event).linkStays},
	{follows, "The plan after a successful apply has no warnings.", (*event).planIsQuiet},

	{applies, "A start is sent again only after a 429 or a connection that was never made.", (*event).startsOnce},
	{applies, "An apply starts a job only if the plan shows it, and with the configured inputs.", (*event).startsAsPlanned},
	{applies, "A job with the configured inputs is resumed. Another one starts only if that failed or is missing.", (*event).startsNoSecond},
	{applies, "The provider waits as long as Retry-After says.", (*event).retryAfter},
	{applies, "A link is due at expires_at less renew_before, and is not renewed earlier.", (*event).renewsNotEarly},
	{applies, "An apply ends within a minute of its timeout.", (*event).ends},
	{applies, "An interrupt loses no job, and does not taint a first export.", (*event).interrupt},
	{stores, "The state has the last link that was received for its job.", (*event).keepsNewLink},
	{stores, "An unfinished job is not forgotten without a word.", (*event).remembers},
	{succeeds, "An apply that succeeds leaves a link to a bundle of the configured inputs.", (*event).exported},
	{succeeds, "An apply renews a link that is due.", (*event).renews},
	{succeeds, "If a service keeps its links, at most one early renewal changes nothing.", (*event).changes},
	{fails, "A fault that passes within 20 seconds fails nothing but a start. An outage may last 5 minutes.", (*event).patient},
	{fails, "If an export in place fails, the state keeps the old job, its link, and its arguments.", (*event).keepsOld},
	{fails, "If an export in place fails, the old link is renewed when it is due.", (*event).renewsOld},
	{fails, "An error names the job that was started, or the domain for which one may have been.", (*event).errorNames},

	{gates, "A gate fails unless the update succeeded.", (*event).gate},
	{downloads, "A download writes the bundle of the job in the state.", (*event).download},
}

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
	job, pending   *record    // before: the job in the state, and a later one without a link
	kept           string     // before
}

// When a promise is checked. After an interrupt, an apply may have done any part of its work.
func always(*event) bool     { return true }
func exports(e *event) bool  { return e.export }
func imports(e *event) bool  { return e.Do == doImport }
func destroys(e *event) bool { return e.export && e.Do == doDestroy }
func plans(e *event) bool    { return e.export && e.Do == doApply && !e.applying }
func shows(e *event) bool {
	return plans(e) && !e.failed && e.action != create && !e.before.tainted && !e.forced()
}
func follows(e *event) bool  { return shows(e) && e.settled && e.action == noop }
func applies(e *event) bool  { return e.export && e.applying }
func stores(e *event) bool   { return applies(e) && e.exists && e.stored[e.address] }
func succeeds(e *event) bool { return stores(e) && !e.failed && !e.stopped }
func fails(e *event) bool    { return stores(e) && e.failed && !e.stopped }
func whole(e *event) bool    { return e.applying && !e.stopped && !e.killed }
func gates(e *event) bool    { return e.address == gate && whole(e) && e.action != noop }
func downloads(e *event) bool {
	return e.address == download && whole(e) && !failure(saidAt(e.all, address(0)))
}

func (e *event) secrets() bool { return len(e.leaks) == 0 }
func (e *event) rules() bool {
	return !slices.ContainsFunc(e.said, func(s said) bool { return s.broken })
}

func (e *event) missing() bool {
	is := map[string]bool{simulator.EndpointJob: true, simulator.EndpointBundle: true, simulator.EndpointUpdate: true}[e.last.endpoint] && e.last.outcome == missing
	decides := plans(e) && e.job.gone[simulator.EndpointJob] == 0 || e.failed && !imports(e) && !e.stopped && !e.killed
	return !is || !decides || e.outOfTime() || lasted(requestsFor(e.last.job, e.last.endpoint, e.work), missing) >= patience
}

func (e *event) missingAlready() bool {
	return e.job.gone[simulator.EndpointJob] == 0 || len(e.seen) < 2 || e.seen[0].outcome != missing
}

var jobID = regexp.MustCompile(`se_[0-9a-f]{16}`)

func (e *event) names() bool {
	return !slices.ContainsFunc(jobID.FindAllString(fmt.Sprint(e.said), -1), func(id string) bool {
		return !e.job.is(id) && !e.pending.is(id) && len(requestsFor(id, "", e.seen)) == 0
	})
}

var identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"job_id": tftypes.String, "domain": tftypes.String}}

func (e *event) identity() bool {
	return !e.exists || e.killed || e.after.identity != nil &&
		text(attributes(must(e.after.identity.IdentityData.Unmarshal(identityType)))["job_id"]) == e.after.text("job_id")
}

// importFails holds for the first answer. A refresh follows the import.
func (e *event) importFails() bool {
	n := slices.IndexFunc(e.seen, func(x exchange) bool { return x.outcome == missing || x.outcome == ok })
	return n < 0 || e.seen[n].outcome == ok || n == len(e.seen)-1
}

func (e *event) removes() bool { return !e.exists }

func (e *event) planReads() bool {
	return len(requestsFor("", simulator.EndpointJob, e.seen)) == len(e.seen) && (len(e.seen) == 0 || !e.NoRefresh)
}

func (e *event) planFails() bool { return !e.failed || slices.ContainsFunc(e.seen, wentWrong) }

func (e *event) planNames() bool {
	if e.failed || e.action == create || e.known("job_id") || e.before.tainted && e.NoRefresh || e.forced() || e.job.imported {
		return true
	}
	named := func(r *record) bool { return r.id == "" || r.failed || mentions(e.said, r.id) }
	old := e.linked() && (e.before.tainted || e.otherInputs() || e.Unknown != "" || !e.gone())
	return (old || named(e.job)) && (e.before.tainted || named(e.pending))
}

func (e *event) planIsNeeded() bool {
	must, _ := e.due(e.began)
	_, may := e.due(e.ended)
	return e.action == noop && !must || e.action == update && (may || e.Unknown != "" || e.config().differs(e.on, e.before) || e.gone())
}

func (e *event) jobStays() bool {
	_, due := e.due(e.ended)
	unknown := slices.Contains([]string{"domain", "triggers", "revision", "additional_parameters"}, e.Unknown)
	may := unknown || e.otherInputs() || e.gone() || e.job.failed && due
	must := e.last.outcome == missing || e.job.gone[simulator.EndpointBundle] > patience+margin/10 || len(e.seen) == 0 && e.job.gone[simulator.EndpointJob] > patience+margin/10
	return !e.known("job_id") && may || e.known("job_id") && !must
}

// gone reports whether the job or its bundle was missing for half a minute.
func (e *event) gone() bool {
	asked := requestsFor(e.job.id, simulator.EndpointJob, e.seen)
	found := slices.ContainsFunc(asked, succeeded)
	return lasted(asked, missing) >= patience || e.job.gone[simulator.EndpointJob] > 0 && !found || e.job.gone[simulator.EndpointBundle] > 0
}

func (e *event) linkStays() bool {
	never := e.config()["link_renewal"] != "" && e.Unknown != "link_renewal" && e.linked()
	return e.known("bundle_url") || !e.known("job_id") || e.action == update && !never
}

func (e *event) planIsQuiet() bool {
	return len(e.said) == 0 || slices.ContainsFunc(e.seen, wentWrong) || e.pending.id != "" && mentions(e.said, e.pending.id)
}

func (e *event) starts() []exchange { return requestsFor("", simulator.EndpointStart, e.seen) }

func (e *event) startsOnce() bool {
	sent := e.starts()
	return !slices.ContainsFunc(sent[:max(0, len(sent)-1)], func(x exchange) bool { return x.outcome != busy && x.outcome != never })
}

func (e *event) startsAsPlanned() bool {
	want := map[string]any{"domain": e.config().domain(e.on)}
	_ = json.Unmarshal([]byte(e.config()["additional_parameters"]), &want)
	return !slices.ContainsFunc(e.starts(), func(x exchange) bool {
		var body map[string]any
		_ = json.Unmarshal([]byte(x.body), &body)
		return e.known("job_id") || !maps.Equal(body, want)
	})
}

func (e *event) startsNoSecond() bool {
	n := slices.IndexFunc(e.seen, func(x exchange) bool { return x.endpoint == simulator.EndpointStart && x.outcome != never })
	over := func(r *record) bool {
		asked := requestsFor(r.id, "", e.seen[:n])
		return r.failed || lasted(asked, missing) >= patience
	}
	return n < 0 || e.action != update ||
		(e.otherInputs() || e.gone() || over(e.job)) && (e.pending.content != e.config().content(e.on) || over(e.pending))
}

func (e *event) retryAfter() bool {
	for n, x := range e.seen[min(1, len(e.seen)):] {
		if p := e.seen[n]; p.outcome != ok && p.endpoint == x.endpoint && p.job == x.job && x.at.Before(p.ended.Add(p.after-time.Second)) {
			return false
		}
	}
	return true
}

func (e *event) renewsNotEarly() bool {
	return !slices.ContainsFunc(requestsFor(e.job.id, simulator.EndpointBundle, e.seen), func(x exchange) bool {
		_, due := e.due(x.at)
		return !due
	})
}

func (e *event) ends() bool {
	return !slices.ContainsFunc(e.seen, func(x exchange) bool { return x.ended.Sub(e.began) > e.limit()+grace })
}

func (e *event) interrupt() bool {
	lost := slices.ContainsFunc(e.starts(), func(x exchange) bool { return x.outcome == left || x.outcome == ok && !e.exists })
	tainted := e.after.tainted && len(e.seen) > 0 && (!e.before.tainted || e.action == replace)
	reason := e.last.outcome != ok && e.last.outcome != left || slices.ContainsFunc(e.seen, hasFailed) || e.outOfTime()
	return !e.stopped || e.killed || !lost && (!tainted || reason)
}

func (e *event) keepsNewLink() bool {
	for _, x := range slices.Backward(requestsFor(e.after.text("job_id"), simulator.EndpointBundle, e.seen)) {
		if x.url != "" {
			return x.url == e.after.text("bundle_url")
		}
	}
	return true
}

func (e *event) remembers() bool {
	p := e.pending
	return e.action != update || p.id == "" || p.failed || e.memories[e.on].pending.is(p.id) || e.after.text("job_id") == p.id || mentions(append(e.planned.said, e.said...), p.id)
}

func (e *event) exported() bool {
	r := e.records[e.after.text("job_id")]
	return r != nil && r.id == e.links[e.after.text("bundle_url")].job && r.content == e.config().content(e.on)
}

func (e *event) renews() bool {
	due, _ := e.due(e.began)
	return !due || slices.ContainsFunc(requestsFor(e.after.text("job_id"), simulator.EndpointBundle, e.seen), func(x exchange) bool { return x.url != "" })
}

func (e *event) changes() bool {
	expires, err := time.Parse(time.RFC3339, e.before.text("expires_at"))
	useless := e.action == update && e.Unknown == "" && e.before.value.Equal(e.after.value) && err == nil && e.began.Before(expires)
	return !useless || e.Keeps && e.kept != e.config()["renew_before"]
}

func (e *event) patient() bool {
	own := e.last.endpoint == simulator.EndpointJob || e.last.endpoint == simulator.EndpointBundle && (!e.job.is(e.last.job) || !e.linked())
	switch {
	case len(e.work) == 0:
		return len(e.seen) > 0
	case slices.ContainsFunc(e.work, hasFailed) || e.outOfTime():
		return true
	case e.last.outcome == trouble || e.last.outcome == never:
		return !own || lasted(e.work, trouble, never) >= outage
	}
	return wentWrong(e.last) && e.last.outcome != busy && (!own || lasted(e.work, e.last.outcome) >= patience)
}

func (e *event) keepsOld() bool {
	kept := func(name string) bool { return attributes(e.before.value)[name].Equal(attributes(e.after.value)[name]) }
	for name := range argumentTypes {
		if e.action == update && e.linked() && !kept(name) {
			return false
		}
	}
	return e.action != update || !e.linked() || e.links[e.after.text("bundle_url")].job == e.after.text("job_id")
}

func (e *event) renewsOld() bool {
	due, _ := e.due(e.began)
	return !due || e.action != update || !e.linked() || !e.otherInputs() || e.gone() || e.job.failed || len(e.work) < len(e.seen)
}

func (e *event) errorNames() bool {
	sent := e.starts()
	if len(sent) == 0 {
		return true
	}
	last := sent[len(sent)-1]
	return last.outcome == ok && (e.after.text("job_id") == last.job || mentions(e.said, last.job)) || last.outcome != ok && mentions(e.said, e.config().domain(e.on))
}

func (e *event) gate() bool {
	finished := e.last.status == "success" || e.last.failed
	return e.failed == (e.last.status != "success") && (finished || wentWrong(e.last) || e.outOfTime())
}

func (e *event) download() bool {
	written, _ := os.ReadFile(e.file())
	right := bytes.Equal(written, e.sites[e.after.text("job_id")]) && e.after.text("job_id") == e.command.after[address(0)].text("job_id")
	return !e.failed && right || e.failed && (e.blocked || wentWrong(e.last) || slices.ContainsFunc(e.seen, hasFailed))
}

func mentions(all []said, word string) bool {
	return slices.ContainsFunc(all, func(s said) bool { return strings.Contains(s.text, word) })
}

func (e *event) config() settings { return e.settings[e.on] }
func (e *event) forced() bool     { return e.replaced == e.address }
func (e *event) linked() bool     { return e.before.text("bundle_url") != "" }

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

// otherInputs reports whether the configuration asks for something else than the job has. An
// imported job has whatever is configured, except for a domain that the import named.
func (e *event) otherInputs() bool {
	if domain := e.config().domain(e.on); e.job.imported {
		return e.job.domain != "" && e.job.domain != domain
	}
	return e.job.content != e.config().content(e.on)
}

// due reports whether the link in the state must be renewed at a time, and whether it may be.
func (e *event) due(now time.Time) (must, may bool) {
	expires, err := time.Parse(time.RFC3339, e.before.text("expires_at"))
	if !e.linked() || e.config()["link_renewal"] != "" || err != nil {
		return !e.linked(), !e.linked()
	}
	lead, tolerance := e.config().duration("renew_before", 0), 2*time.Second
	if lifetime := expires.Sub(e.links[e.before.text("bundle_url")].received); lead >= lifetime-tolerance {
		lead = max(0, lifetime/2)
	}
	if e.kept != "" && e.kept == e.config()["renew_before"] {
		lead = 0
	}
	return !now.Before(expires.Add(-lead)), !now.Before(expires.Add(-lead - tolerance))
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

// record is what the provider has been told about a job.
type record struct {
	id, content, domain string // the domain only if an import named it
	imported            bool   // it takes the configured content
	failed              bool
	gone                map[string]time.Duration // by endpoint: for how long it was missing
}

func (r *record) is(id string) bool { return r != nil && r.id == id && id != "" }

// memory is what the provider must remember about an export beside its state.
type memory struct {
	pending *record // started after the job in the state, without a link; or nil
	kept    string  // the renew_before with which a renewal returned the link in the state
}

// judge judges a command. It reports whether the walk can go on with its result.
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
		if !export && change.action == "" || c.Do == doImport && n != c.On%j.Exports {
			continue
		}
		e := &event{judge: j, command: c, change: change, address: address, on: n % j.Exports, export: export, said: saidAt(c.all, address), seen: seenAt(c.requests, address)}
		e.failed = failure(e.said)
		e.after, e.exists = c.after[address]
		e.kept, e.pending, e.job = j.memories[e.on].kept, cmp.Or(j.memories[e.on].pending, &record{}), cmp.Or(j.records[e.before.text("job_id")], &record{})
		e.work = slices.DeleteFunc(slices.Clone(e.seen), func(x exchange) bool {
			return e.action == update && e.linked() && e.otherInputs() && e.job.is(x.job) && x.endpoint == simulator.EndpointBundle
		})
		if len(e.work) > 0 {
			e.last = e.work[len(e.work)-1]
		}
		if export {
			j.learn(e)
		}
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
		if stored && x.url != "" && x.url == e.before.text("bundle_url") {
			m.kept = e.config()["renew_before"]
		}
	}
	if p := m.pending; p != nil && (p.id == id || p.failed) {
		m.pending = nil
	}
	// Only an apply stores what a refresh has found.
	heard := append(seenAt(e.refreshes, e.address), e.work...)
	for _, r := range j.records {
		for _, endpoint := range []string{simulator.EndpointJob, simulator.EndpointBundle} {
			if asked := requestsFor(r.id, endpoint, heard); !stored && (!e.applying || e.action != noop) {
				continue
			} else if since := lasted(asked, missing); since >= patience {
				r.gone[endpoint] = since
			} else if slices.ContainsFunc(asked, succeeded) {
				delete(r.gone, endpoint)
			}
		}
	}
	if r := j.records[id]; succeeds(e) && e.action == update && r != nil && r.imported && !e.otherInputs() {
		r.imported, r.content = false, e.config().content(e.on)
	}
}
