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

// promises are what the documentation promises. Each has a check, which reports whether an
// event keeps the promise.
var promises = []struct {
	when     func(*event) bool
	sentence string
	check    func(*event) bool
}{
	{always, "No message and no log record contains the API key or the query of a link.", (*event).secrets},
	{always, "An apply does what its plan shows, by Terraform's rules.", (*event).rules},
	{always, "A job, a bundle, or an update is missing after half a minute of 404s or 410s, whoever asks.", (*event).missing},
	{exports, "A message about an export names no job of another one.", (*event).names},
	{exports, "The identity in the state is that of the job.", (*event).identity},
	{imports, "An import of a job that is missing fails at once.", (*event).importFails},
	{destroys, "A destroy removes every export.", (*event).removes},

	{plans, "A plan reads the job, and sends no other request. With -refresh=false, it sends none.", (*event).planReads},
	{plans, "A plan fails only if a request failed.", (*event).planFails},
	{plans, "A plan names the unfinished and the missing jobs that it resumes, abandons, or replaces.", (*event).planNames},
	{shows, "A plan is an update in place if an argument changes, the link is due, or the job is missing. Otherwise, it is empty.", (*event).planIsNeeded},
	{shows, "What hangs on job_id stays until the inputs change, or the job is missing, or has failed.", (*event).jobStays},
	{shows, "What hangs on bundle_url stays in a plan without changes, and with link_renewal = \"never\" until there is an export.", (*event).linkStays},
	{shows, "A plan shows a new export if the job is missing.", (*event).planExports},
	{shows, "A plan renews a link that is due.", (*event).planRenews},
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

// When a promise is checked. After an interrupt, an apply may have done any part of its work.
func always(*event) bool     { return true }
func exports(e *event) bool  { return e.export }
func imports(e *event) bool  { return e.Do == doImport }
func destroys(e *event) bool { return e.export && e.Do == doDestroy }
func plans(e *event) bool    { return e.export && e.Do == doApply && !e.applying }
func shows(e *event) bool {
	return plans(e) && !e.failed && e.action != create && !e.before.tainted && !e.forced
}
func follows(e *event) bool  { return shows(e) && e.settled && e.action == noop }
func applies(e *event) bool  { return e.export && e.applying }
func stores(e *event) bool   { return e.export && e.applying && e.exists && e.stored[e.address] }
func succeeds(e *event) bool { return stores(e) && !e.failed && !e.stopped }
func fails(e *event) bool    { return stores(e) && e.failed && !e.stopped }
func gates(e *event) bool {
	return e.address == gate && e.applying && !e.stopped && !e.killed && e.action != noop
}
func downloads(e *event) bool {
	return e.address == download && e.applying && !e.stopped && !e.killed && !failure(saidAt(e.all, address(0)))
}

func (e *event) secrets() bool { return len(e.leaks) == 0 }

func (e *event) rules() bool {
	return !slices.ContainsFunc(e.said, func(s said) bool { return s.broken })
}

func (e *event) missing() bool {
	work := e.work()
	if len(work) == 0 || work[len(work)-1].outcome != missing || imports(e) || e.stopped || e.killed || e.outOfTime() {
		return true
	}
	last := work[len(work)-1]
	decides := e.failed && last.endpoint != simulator.EndpointStart && last.endpoint != simulator.EndpointDownload || plans(e) && !e.job.isMissing()
	return !decides || lasted(requestsFor(last.job, last.endpoint, work), missing) >= patience
}

var jobID = regexp.MustCompile(`se_[0-9a-f]{16}`)

func (e *event) names() bool {
	for _, id := range jobID.FindAllString(fmt.Sprint(e.said), -1) {
		if !e.job.is(id) && !e.pending.is(id) && len(requestsFor(id, "", e.seen)) == 0 {
			return false
		}
	}
	return true
}

func (e *event) identity() bool {
	if !e.exists || e.killed {
		return true
	}
	return e.after.identity != nil && text(attributes(must(e.after.identity.IdentityData.Unmarshal(identityType)))["job_id"]) == e.after.text("job_id")
}

var identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"job_id": tftypes.String, "domain": tftypes.String}}

// importFails holds for the first answer. A refresh follows the import.
func (e *event) importFails() bool {
	n := slices.IndexFunc(e.seen, func(x exchange) bool { return x.outcome == missing || x.outcome == ok })
	return n < 0 || e.seen[n].outcome == ok || n == len(e.seen)-1
}

func (e *event) removes() bool { return !e.exists }

func (e *event) planReads() bool {
	return !slices.ContainsFunc(e.seen, func(x exchange) bool { return x.endpoint != simulator.EndpointJob || e.NoRefresh })
}

func (e *event) planFails() bool { return !e.failed || len(e.troubles()) > 0 }

func (e *event) planNames() bool {
	if e.failed || e.action == create || e.known("job_id") || e.before.tainted && e.NoRefresh || e.forced || e.job.imported {
		return true
	}
	said := func(r *record) bool { return r.id == "" || r.failed || mentions(e.said, r.id) }
	ofJob := e.linked() && (e.before.tainted || e.otherInputs() || e.Unknown != "" || !e.job.isMissing())
	return (ofJob || said(e.job)) && (e.before.tainted || said(e.pending))
}

func (e *event) planIsNeeded() bool {
	_, due := e.due(e.ended)
	return e.action == noop || e.action == update && (due || e.Unknown != "" || e.config().differs(e.on, e.before) || e.job.isMissing())
}

func (e *event) jobStays() bool {
	_, due := e.due(e.ended)
	unknown := slices.Contains([]string{"domain", "triggers", "revision", "additional_parameters"}, e.Unknown)
	return e.known("job_id") || unknown || e.otherInputs() || e.job.isMissing() || e.job.failed && due
}

func (e *event) linkStays() bool {
	never := e.config()["link_renewal"] != "" && e.Unknown != "link_renewal" && e.linked()
	return e.known("bundle_url") || !e.known("job_id") || e.action == update && !never
}

func (e *event) planExports() bool { return e.last().outcome != missing || !e.known("job_id") }

func (e *event) planRenews() bool {
	due, _ := e.due(e.began)
	return !due || e.action != noop
}

func (e *event) planIsQuiet() bool {
	return len(e.said) == 0 || len(e.troubles()) > 0 || e.pending.id != "" && mentions(e.said, e.pending.id)
}

func (e *event) startsOnce() bool {
	sent := requestsFor("", simulator.EndpointStart, e.seen)
	return !slices.ContainsFunc(sent[:max(0, len(sent)-1)], func(x exchange) bool { return x.outcome != busy && x.outcome != never })
}

func (e *event) startsAsPlanned() bool {
	want := map[string]any{"domain": e.config().domain(e.on)}
	_ = json.Unmarshal([]byte(e.config()["additional_parameters"]), &want)
	return !slices.ContainsFunc(requestsFor("", simulator.EndpointStart, e.seen), func(x exchange) bool {
		var body map[string]any
		_ = json.Unmarshal([]byte(x.body), &body)
		return e.known("job_id") || !maps.Equal(body, want)
	})
}

func (e *event) startsNoSecond() bool {
	n := slices.IndexFunc(e.seen, func(x exchange) bool { return x.endpoint == simulator.EndpointStart && x.outcome != never })
	if n < 0 || e.action != update {
		return true
	}
	over := func(r *record) bool {
		asked := requestsFor(r.id, "", e.seen[:n])
		return r.failed || lasted(asked, missing) >= patience || slices.ContainsFunc(asked, hasFailed)
	}
	return (e.otherInputs() || e.job.isMissing() || over(e.job)) && (e.pending.content != e.config().content(e.on) || over(e.pending))
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
	return len(e.seen) == 0 || e.last().ended.Sub(e.began) <= e.limit()+grace
}

func (e *event) interrupt() bool {
	if !e.stopped || e.killed {
		return true
	}
	last := e.last().outcome
	lost := slices.ContainsFunc(requestsFor("", simulator.EndpointStart, e.seen), func(x exchange) bool { return x.outcome == left || x.outcome == ok && !e.exists })
	tainted := e.after.tainted && len(e.seen) > 0 && (!e.before.tainted || e.action == replace)
	return !lost && (!tainted || last != ok && last != left || slices.ContainsFunc(e.seen, hasFailed) || e.outOfTime())
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
	return e.action != update || p.id == "" || e.records[p.id].failed || e.memories[e.on].pending.is(p.id) || e.after.text("job_id") == p.id ||
		mentions(e.planned.said, p.id) || mentions(e.said, p.id)
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
	useless := e.memories[e.on].useless
	return useless == 0 || useless == 1 && e.Keeps
}

func (e *event) patient() bool {
	work := e.work()
	if len(work) == 0 {
		return len(e.seen) > 0
	}
	last := work[len(work)-1]
	own := last.endpoint == simulator.EndpointJob || last.endpoint == simulator.EndpointBundle && (!e.job.is(last.job) || !e.linked())
	switch {
	case slices.ContainsFunc(work, hasFailed) || e.outOfTime():
		return true
	case last.outcome == trouble || last.outcome == never:
		return !own || lasted(work, trouble, never) >= outage
	}
	return last.outcome != ok && last.outcome != busy && (!own || lasted(work, last.outcome) >= patience)
}

func (e *event) keepsOld() bool {
	if e.action != update || !e.linked() {
		return true
	}
	for name := range e.config().arguments(e.on, "") {
		if !attributes(e.before.value)[name].Equal(attributes(e.after.value)[name]) {
			return false
		}
	}
	return e.links[e.after.text("bundle_url")].job == e.after.text("job_id")
}

func (e *event) renewsOld() bool {
	due, _ := e.due(e.began)
	return !due || e.action != update || !e.linked() || !e.otherInputs() || e.job.isMissing() || e.job.failed || len(e.work()) < len(e.seen)
}

func (e *event) errorNames() bool {
	sent := requestsFor("", simulator.EndpointStart, e.seen)
	if len(sent) == 0 {
		return true
	}
	last := sent[len(sent)-1]
	if last.outcome == ok {
		return e.after.text("job_id") == last.job || mentions(e.said, last.job)
	}
	return mentions(e.said, e.config().domain(e.on))
}

func (e *event) gate() bool {
	finished := e.last().status == "success" || e.last().failed
	return e.failed == (e.last().status != "success") && (finished || e.last().outcome != ok || e.outOfTime())
}

func (e *event) download() bool {
	if e.failed {
		return e.blocked || e.last().outcome != ok || slices.ContainsFunc(e.seen, hasFailed)
	}
	written, _ := os.ReadFile(e.file())
	id := e.after.text("job_id")
	return bytes.Equal(written, e.sites[id]) && id == e.command.after[address(0)].text("job_id")
}

func hasFailed(x exchange) bool { return x.failed }

func mentions(all []said, word string) bool {
	return slices.ContainsFunc(all, func(s said) bool { return strings.Contains(s.text, word) })
}
