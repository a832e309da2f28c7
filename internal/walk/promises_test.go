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

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// promises are what the documentation promises. Each has a check, which reports whether an
// event keeps the promise. The checks are below, in the same order. What they ask of an event
// is in judge_test.go.
var promises = []struct {
	when     func(*event) bool
	sentence string
	check    func(*event) bool
}{
	// Of each command: guides/security, guides/errors, resources/static_export.
	{always, "No message and no log record contains the API key or the query of a link.", (*event).secrets},
	{always, "An apply does what its plan shows, by Terraform's rules.", (*event).rules},
	{always, "A job, a bundle, or an update is missing after half a minute of 404s or 410s, whoever asks.", (*event).missing},
	{always, "A streak of failures ends within a minute after the limit, whatever their kinds.", (*event).streaksEnd},
	{exports, "A message about an export names no job of another one.", (*event).names},
	{exports, "The identity in the state is that of the job.", (*event).identity},
	{destroys, "A destroy removes every export, and sends no request.", (*event).removes},
	// Of a plan: resources/static_export, guides/link-lifetime.
	{plans, "A plan reads the job, and sends no other request. With -refresh=false, it sends none.", (*event).planReads},
	{plans, "A plan fails only if a request failed, and not because the job is missing.", (*event).planFails},
	{plans, "A plan names the unfinished and the missing jobs that it resumes, abandons, or replaces.", (*event).planNames},
	{shows, "A plan is an update in place if an argument changes, the link is due, or the job is missing. Otherwise, it is empty.", (*event).planIsNeeded},
	{shows, "What depends on job_id stays until the inputs change, or the job or its bundle is missing, or the job failed.", (*event).jobStays},
	{shows, "What depends on status or page_count stays while a link is renewed.", (*event).statusStays},
	{shows, "What depends on bundle_url stays in a plan without changes, and with link_renewal = \"never\" until there is an export.", (*event).linkStays},
	{follows, "The plan after a successful apply has no warnings.", (*event).planIsQuiet},
	// Of an apply: resources/static_export, guides/link-lifetime, and Timeouts and retries in index.
	{applies, "A start is sent again only after a 429 or a connection that was never made.", (*event).startsOnce},
	{applies, "An apply starts a job only if the plan shows it, and with the configured inputs.", (*event).startsAsPlanned},
	{applies, "There is one start for each content, tainted or not: another one only if the job failed or is missing.", (*event).startsNoSecond},
	{applies, "The provider waits as long as the Retry-After of a 429 says.", (*event).retryAfter},
	{applies, "A link is due at expires_at less renew_before, and is not renewed earlier.", (*event).renewsNotEarly},
	{applies, "An apply ends within a minute of its timeout.", (*event).ends},
	{applies, "An interrupt loses no job, and does not taint a first export.", (*event).interrupt},
	{applies, "A replacement that was handed a job ends with a job.", (*event).keepsJob},
	{stores, "The state has the last link that was received for its job.", (*event).keepsNewLink},
	{stores, "An unfinished job is not dropped without a warning.", (*event).remembers},
	{succeeds, "An apply that succeeds leaves a link to a bundle of the configured inputs.", (*event).exported},
	{succeeds, "An apply renews a link that is due.", (*event).renews},
	{succeeds, "If a service keeps its links, at most one early renewal of each changes nothing.", (*event).changes},
	{fails, "A temporary fault that passes within 20 seconds fails nothing but a start. A wait that has succeeded once bears any response for as long, and an outage for 5 minutes.", (*event).patient},
	{fails, "If an export in place fails, the state keeps the old job, its link, and its arguments.", (*event).keepsOld},
	{fails, "If an export in place fails, the old link is renewed when it is due.", (*event).renewsOld},
	{fails, "An error names the job that was started, or the domain for which one may have been.", (*event).errorNames},
	// resources/update_gate, resources/bundle_download.
	{gates, "A gate fails unless the update succeeded.", (*event).gate},
	{downloads, "A download writes the bundle of the job in the state.", (*event).download},
}

const (
	// absence is how long nothing but 404 or 410 must come until a job is missing.
	absence = client.NotFoundLimit - 3*time.Second
	// patience is how long a response must repeat itself until it counts, and outage how long
	// temporary failures must. The judge does not insist on the last seconds.
	patience = min(client.NotFoundLimit, client.DisturbanceLimit) - 3*time.Second
	outage   = client.OutageLimit - time.Second
	// certainty is for how long a response must repeat itself until it surely counts.
	certainty = client.NotFoundLimit + 2*time.Second
	// grace is how long an operation may last after its timeout: half a minute for the
	// response to a start, and half a minute to renew the old link.
	grace = 62 * time.Second
	// An operation may end this long before its timeout, instead of a pause that lasts longer.
	margin = 20 * time.Second
)

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
	return e.address == download && whole(e) && !failure(slices.Concat(saidAt(e.all, address(0)), saidAt(e.all, "between")))
}

func (e *event) secrets() bool { return len(e.leaks) == 0 && !isSecret(fmt.Sprint(e.said)) }
func (e *event) rules() bool {
	return !slices.ContainsFunc(e.said, func(s said) bool { return s.broken })
}

// missing looks at the request that decided: the last one of a failed operation or of a refresh.
// A streak of changing kinds may end with it, as an outage.
func (e *event) missing() bool {
	of := []string{simulator.EndpointJob, simulator.EndpointBundle, simulator.EndpointUpdate}
	asked := requestsFor(e.last.job, e.last.endpoint, e.work)
	decides := (plans(e) || e.failed) && !e.stopped && !e.killed && e.last.outcome == missing && slices.Contains(of, e.last.endpoint)
	changing := e.failed && !mentions(e.said, "job not found") && lasted(asked, failures...) >= patience
	return !decides || changing || e.outOfTime() || lasted(asked, missing) >= absence
}

// streaksEnd allows what slow responses and Retry-After add.
func (e *event) streaksEnd() bool {
	rows := map[string][]exchange{}
	limit := client.OutageLimit + time.Minute
	if plans(e) {
		limit = client.NotFoundLimit + time.Minute
	}
	for _, x := range e.seen {
		of := x.endpoint + x.job
		rows[of] = append(rows[of], x)
		if x.outcome == ok {
			rows[of] = nil
		} else if limit += x.ended.Sub(x.at) + x.after; lasted(rows[of], failures...) > limit {
			return false
		}
	}
	return true
}

var jobID = regexp.MustCompile(`se_[0-9a-f]{16}`)

func (e *event) names() bool {
	own := slices.DeleteFunc(slices.Clone(e.said), func(s said) bool { return strings.HasPrefix(s.text, "Unfinished job is not in the state") })
	return !slices.ContainsFunc(jobID.FindAllString(fmt.Sprint(own), -1), func(id string) bool {
		return !e.job.is(id) && !e.pending.is(id) && len(requestsFor(id, "", e.seen)) == 0
	})
}

var identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"job_id": tftypes.String, "domain": tftypes.String}}

func (e *event) identity() bool {
	return !e.exists || e.killed || e.after.identity != nil &&
		text(attributes(must(e.after.identity.IdentityData.Unmarshal(identityType)))["job_id"]) == e.after.text("job_id")
}

func (e *event) removes() bool { return !e.exists && len(e.seen) == 0 }

func (e *event) planFails() bool {
	since := lasted(e.seen, missing)
	isMissing := e.last.outcome == missing && since >= certainty && since == lasted(e.seen, failures...)
	return !e.failed || slices.ContainsFunc(e.seen, wentWrong) && !isMissing
}

func (e *event) planReads() bool {
	return len(requestsFor("", simulator.EndpointJob, e.seen)) == len(e.seen) && (len(e.seen) == 0 || !e.NoRefresh)
}

// planNames holds for a plan that shows another job. Of a tainted resource, only the refresh sees
// the job, and Terraform drops the pending one.
func (e *event) planNames() bool {
	if e.failed || e.action == create || e.known("job_id") || e.before.tainted && e.NoRefresh || e.forced() || e.job.imported {
		return true
	}
	named := func(r *record) bool { return r.id == "" || r.failed || mentions(e.said, r.id) }
	old := e.linked() && (e.before.tainted || e.otherInputs() || e.Unknown != "" || !e.gone())
	return (old || named(e.job)) && (e.before.tainted || named(e.pending))
}

func (e *event) planIsNeeded() bool {
	return e.action == noop && !e.due(e.began) || e.action == update && (e.due(e.ended) || e.Unknown != "" || e.config().differs(e.on, e.before) || e.gone())
}

// jobStays also holds the other way around: what depends on job_id must not stay if the job failed or is missing.
func (e *event) jobStays() bool {
	unknown := slices.Contains([]string{"domain", "triggers", "revision", "additional_parameters"}, e.Unknown)
	failed := e.before.text("status") == "failed"
	may := unknown || e.otherInputs() || e.gone() || failed && e.due(e.ended)
	must := failed && e.due(e.began) || e.last.outcome == missing || len(e.seen) == 0 && e.job.gone[simulator.EndpointJob] > certainty
	return !e.known("job_id") && may || e.known("job_id") && !must
}

func (e *event) statusStays() bool {
	return !e.linked() || !e.known("job_id") || e.known("status") && e.known("page_count")
}

func (e *event) linkStays() bool {
	never := e.config()["link_renewal"] != "" && e.Unknown != "link_renewal" && e.linked()
	return e.known("bundle_url") || !e.known("job_id") || e.action == update && !never
}

func (e *event) planIsQuiet() bool {
	return len(e.said) == 0 || slices.ContainsFunc(e.seen, wentWrong) || e.pending.id != "" && mentions(e.said, e.pending.id)
}

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

// startsNoSecond asks of a replacement only what is unfinished, because it exports again what is not.
// Terraform gives it no private state of a tainted resource, and so no pending job.
func (e *event) startsNoSecond() bool {
	n := slices.IndexFunc(e.seen, func(x exchange) bool { return x.endpoint == simulator.EndpointStart && x.outcome != never })
	if n < 0 || e.action == create {
		return true
	}
	over := func(r *record) bool {
		return r.content != e.config().content(e.on) || r.failed || lasted(requestsFor(r.id, "", e.seen[:n]), missing) >= absence
	}
	if e.action == replace {
		return (e.linked() || e.job.imported || over(e.job)) && (e.before.tainted || over(e.pending))
	}
	// A job that was missing before the plan may be found, and its bundle be missing then.
	gone := e.job.gone[simulator.EndpointJob]+e.bundleGone > 0 || !e.known("job_id") && over(e.job)
	return (e.otherInputs() || gone || e.job.failed) && over(e.pending)
}

func (e *event) retryAfter() bool {
	for n, x := range e.seen[min(1, len(e.seen)):] {
		if p := e.seen[n]; p.outcome == busy && p.endpoint == x.endpoint && p.job == x.job && x.at.Before(p.ended.Add(p.after-time.Second)) {
			return false
		}
	}
	return true
}

func (e *event) renewsNotEarly() bool {
	return e.bundleGone > 0 || !slices.ContainsFunc(requestsFor(e.job.id, simulator.EndpointBundle, e.seen), func(x exchange) bool { return !e.due(x.at) })
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

// keepsJob does not hold for a replacement that was stopped between its halves.
func (e *event) keepsJob() bool {
	handed := e.action == replace && !e.linked() && !e.job.imported && !e.job.failed && !e.otherInputs()
	return !handed || e.killed || len(e.seen) == 0 || e.exists && e.after.text("job_id") != ""
}

func (e *event) keepsNewLink() bool {
	links := e.linksTo(e.after.text("job_id"))
	return len(links) == 0 || links[len(links)-1].url == e.after.text("bundle_url")
}

func (e *event) remembers() bool {
	p := e.pending
	return e.action != update || p.id == "" || p.failed || e.memories[e.on].pending.is(p.id) || e.after.text("job_id") == p.id || mentions(append(e.planned.said, e.said...), p.id)
}

func (e *event) exported() bool {
	r := e.records[e.after.text("job_id")]
	return r != nil && r.id == e.links[e.after.text("bundle_url")] && r.content == e.config().content(e.on)
}

func (e *event) renews() bool {
	return !e.due(e.began) || len(e.linksTo(e.after.text("job_id"))) > 0
}

func (e *event) changes() bool {
	expires, err := time.Parse(time.RFC3339, e.before.text("expires_at"))
	useless := e.action == update && e.bundleGone == 0 && e.Unknown == "" && e.before.value.Equal(e.after.value) && err == nil && e.began.Before(expires)
	return !useless || e.Keeps && !e.kept
}

// patient does not hold for a failed job.
func (e *event) patient() bool {
	waited := e.last.endpoint == simulator.EndpointJob &&
		slices.ContainsFunc(requestsFor(e.last.job, simulator.EndpointJob, e.work), func(x exchange) bool { return x.outcome == ok })
	limit := patience
	if waited {
		limit = outage
	}
	switch {
	case len(e.work) == 0:
		return len(e.seen) > 0
	case slices.ContainsFunc(e.work, hasFailed) || e.outOfTime():
		return true
	case e.last.outcome == trouble || e.last.outcome == never:
		return e.last.endpoint == simulator.EndpointStart || lasted(e.work, failures...) >= limit
	}
	return wentWrong(e.last) && e.last.outcome != busy && (!waited || lasted(e.work, missing, rejected) >= patience || lasted(e.work, failures...) >= outage)
}

func (e *event) keepsOld() bool {
	kept := func(name string) bool { return attributes(e.before.value)[name].Equal(attributes(e.after.value)[name]) }
	for name := range argumentTypes {
		if e.action == update && e.linked() && !kept(name) {
			return false
		}
	}
	return e.action != update || !e.linked() || e.links[e.after.text("bundle_url")] == e.after.text("job_id")
}

func (e *event) renewsOld() bool {
	return !e.due(e.began) || e.action != update || !e.linked() || !e.otherInputs() || e.gone() || e.job.failed || len(e.work) < len(e.seen)
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
	return !e.failed && right || e.failed && (e.blocked || wentWrong(e.last) || slices.ContainsFunc(e.seen, hasFailed) || e.outOfTime())
}
