package walk

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// promises are what the documentation promises and what Terraform demands, where both take part. Each has a check,
// which reports whether an event keeps the promise. Other tests prove what is true without Terraform: what is true of
// an export alone (TestEveryState in package export), and limits and retries (package client).
var promises = []struct {
	when     func(*event) bool
	sentence string
	check    func(*event) bool
}{
	{always, "An apply does what its plan shows, by Terraform's rules.", (*event).rules},
	{always, "A command fails only if a request or the job has failed, the time is up, or it was interrupted.", (*event).hasCause},
	{destroys, "A destroy removes every export, and sends no request.", (*event).removes},
	{plans, "A plan reads the job, and sends no other request. With -refresh=false, it sends none.", (*event).planReads},
	{plans, "What depends on job_id stays while the inputs do, unless the job or its bundle was missing.", (*event).jobStays},
	{follows, "The plan after a successful apply is empty and has no warnings.", (*event).planIsEmpty},
	{applies, "A start is sent again only after a 429 or a connection that was never made.", (*event).startsOnce},
	{applies, "An apply starts a job only if the plan does not know latest_job_id, and with the configured inputs.", (*event).startsAsPlanned},
	{applies, "There is one start for each content, tainted or not: another one only if the job failed or is missing.", (*event).startsNoSecond},
	{applies, "An interrupt loses no job, and does not taint a first export.", (*event).interrupt},
	{applies, "A replacement that was handed a job ends with a job.", (*event).keepsJob},
	{stores, "The state has the last link that was received for its job.", (*event).keepsNewLink},
	{updates, "latest_job_id is the job that was started last.", (*event).latest},
	{updates, "An unfinished job stays until a newer one starts.", (*event).remembers},
	{succeeds, "An apply that succeeds leaves a link to a bundle of the configured inputs.", (*event).exported},
	{succeeds, "An apply renews a link that has expired.", (*event).renews},
	{succeeds, "A replacement on request starts another job.", (*event).replaces},
}

// When a promise is checked. After an interrupt, an apply may have done any part of its work.
func always(*event) bool     { return true }
func destroys(e *event) bool { return e.Do == doDestroy }
func plans(e *event) bool    { return e.planned != nil && !e.applying }
func follows(e *event) bool {
	return e.Do == doPlan && !e.failed && e.after.exists() && !slices.ContainsFunc(e.seen, wentWrong)
}
func applies(e *event) bool  { return e.applying }
func stores(e *event) bool   { return applies(e) && e.after.exists() && !e.killed }
func updates(e *event) bool  { return stores(e) && e.action == update && e.before.private != nil }
func succeeds(e *event) bool { return stores(e) && !e.failed && !e.stopped }

// judge checks what happens against the promises. Of what was before, it knows only facts about jobs.
type judge struct {
	*walker
	content  map[string]string // by job, if it is known; the first apply after an import decides what the job's is
	broken   map[string]bool   // the provider has read that the job failed
	gone     map[string]bool   // the job or its bundle was not found once
	problems []string
}

// event is what a command did to one resource.
type event struct {
	*judge
	*command
	change        // its before is the resource as refreshed
	on     int    // the number of the export
	after  object // of the command
	failed bool
	said   []said
	seen   []exchange
	last   exchange
}

// judge judges a command. It reports whether the walk can continue with its result.
func (j *judge) judge(c *command) bool {
	for n := range j.Exports {
		if c.Do == doImport && n != c.On {
			continue
		}
		e := &event{judge: j, command: c, on: n, after: j.state[address(n)]}
		if c.planned != nil {
			e.change = c.planned.changes[n]
		}
		e.said = slices.DeleteFunc(slices.Clone(c.all), func(s said) bool { return s.address != address(n) })
		e.seen = slices.DeleteFunc(slices.Clone(c.requests), func(x exchange) bool { return x.address != address(n) })
		if len(e.seen) > 0 {
			e.last = e.seen[len(e.seen)-1]
		}
		e.failed = failure(e.said)
		j.learn(e)
		for _, p := range promises {
			if p.when(e) && !p.check(e) {
				j.problems = append(j.problems, fmt.Sprintf("%s breaks a promise: %s\n%s", address(n), p.sentence, e))
			}
		}
	}
	return len(j.problems) == 0 && !failure(c.all)
}

// learn notes facts about jobs.
func (j *judge) learn(e *event) {
	id := e.after.text("job_id")
	if e.Do == doImport {
		delete(j.content, id)
	}
	for _, x := range e.seen {
		if x.endpoint == simulator.EndpointStart && x.job != "" {
			j.content[x.job] = e.config().content(e.on)
		}
		if x.status != "" {
			j.broken[x.job] = x.failed()
		}
		j.gone[x.job] = j.gone[x.job] || x.outcome == missing
	}
	if succeeds(e) && j.content[id] == "" {
		j.content[id] = e.config().content(e.on)
	}
}

// wants reports whether the configuration wants the content of a job.
func (e *event) wants(id string) bool { return e.content[id] == e.config().content(e.on) }

var jobID = regexp.MustCompile(`se_[0-9a-f]{16}`)

// unfinished returns the jobs without a link that are stored. Terraform withholds the private state of a tainted object.
func (o object) unfinished() (all []string) {
	var private map[string][]byte
	if _ = json.Unmarshal(o.private, &private); !o.tainted {
		all = jobID.FindAllString(string(private["export"]), -1)
	}
	if id := o.text("job_id"); id != "" && o.text("bundle_url") == "" {
		all = append(all, id)
	}
	return all
}

func (o object) holds(id string) bool {
	return o.text("job_id") == id || slices.Contains(o.unfinished(), id)
}

func (o object) String() string {
	return fmt.Sprint(o.text("job_id"), " until ", o.text("expires_at"), " without a link ", o.unfinished())
}

func (e *event) config() settings   { return e.settings[e.on] }
func (e *event) starts() []exchange { return requestsFor("", simulator.EndpointStart, e.seen) }

// started returns the last job that a start returned, or "".
func (e *event) started() (job string) {
	for _, x := range e.starts() {
		if x.outcome == ok {
			job = x.job
		}
	}
	return job
}

// known reports whether a plan shows the value of an attribute.
func (e *event) known(name string) bool { return attributes(e.change.after)[name].IsKnown() }

// timeUp reports whether the operation had no time for another request. It may end instead of a pause.
func (e *event) timeUp() bool {
	const margin = 20 * time.Second
	limit := 5 * time.Minute
	if e.applying {
		limit = cmp.Or(e.config().duration("timeouts"), time.Hour)
	}
	return len(e.seen) > 0 && e.last.ended.Sub(e.seen[0].at) > limit-margin
}

// due reports whether the link in the state has to be renewed at a time.
func (e *event) due(now time.Time, lead time.Duration) bool {
	expires, err := time.Parse(time.RFC3339, e.before.text("expires_at"))
	return err == nil && e.config()["link_renewal"] == "" && !now.Before(expires.Add(-lead))
}

func wentWrong(x exchange) bool { return x.outcome != ok }

func (e *event) rules() bool {
	return !slices.ContainsFunc(e.said, func(s said) bool { return s.broken })
}

func (e *event) hasCause() bool {
	return !e.failed || e.stopped || len(e.seen) > 0 && (wentWrong(e.last) || e.last.failed() || e.timeUp())
}

func (e *event) removes() bool { return !e.after.exists() && len(e.seen) == 0 }

func (e *event) planReads() bool {
	return len(requestsFor("", simulator.EndpointJob, e.seen)) == len(e.seen) && (len(e.seen) == 0 || !e.NoRefresh)
}

func (e *event) jobStays() bool {
	id := e.before.text("job_id")
	if e.failed || e.action != update || e.before.text("bundle_url") == "" || e.Unknown != "" || !e.wants(id) || e.gone[id] {
		return true
	}
	return e.known("job_id") && e.known("latest_job_id") && e.known("status") && e.known("page_count")
}

// planIsEmpty allows an update for a link that is due.
func (e *event) planIsEmpty() bool {
	return (e.action == noop || e.due(e.ended, e.config().duration("renew_before"))) && len(e.said) == 0
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
		return e.known("latest_job_id") || !maps.Equal(body, want)
	})
}

// onRequest reports whether an apply replaces what is not tainted.
func (e *event) onRequest() bool { return e.action == replace && !e.before.tainted }

func (e *event) replaces() bool { return !e.onRequest() || e.started() != "" }

func (e *event) startsNoSecond() bool {
	if e.onRequest() {
		return true
	}
	n := slices.IndexFunc(e.seen, func(x exchange) bool { return x.endpoint == simulator.EndpointStart && x.outcome != never })
	if n < 0 {
		return true
	}
	inTheWay := func(id string) bool {
		asked := requestsFor(id, "", e.seen[:n])
		return e.wants(id) && !e.broken[id] && (len(asked) == 0 || asked[len(asked)-1].outcome != missing)
	}
	open := e.before.unfinished()
	if slices.ContainsFunc(open, inTheWay) {
		return false
	}
	// A job for the content of the link was started because that one was missing.
	linked := e.action == update && e.before.text("bundle_url") != ""
	return !linked || slices.ContainsFunc(open, e.wants) || !inTheWay(e.before.text("job_id"))
}

func (e *event) interrupt() bool {
	unheard := slices.ContainsFunc(e.starts(), func(x exchange) bool { return x.outcome == left })
	lost := unheard || e.started() != "" && !e.after.holds(e.started())
	tainted := e.after.tainted && len(e.seen) > 0 && (!e.before.tainted || e.action == replace)
	reason := e.last.outcome != ok && e.last.outcome != left || e.last.failed() || e.timeUp()
	return !e.stopped || e.killed || !lost && (!tainted || reason)
}

// keepsJob does not hold for a replacement that was stopped between its halves.
func (e *event) keepsJob() bool {
	resumable := func(id string) bool { return e.wants(id) && !e.broken[id] }
	handed := e.action == replace && e.before.tainted && slices.ContainsFunc(e.before.unfinished(), resumable)
	return !handed || e.killed || len(e.seen) == 0 || e.after.text("job_id") != ""
}

func (e *event) keepsNewLink() bool {
	link := e.after.text("bundle_url")
	for _, x := range requestsFor(e.after.text("job_id"), simulator.EndpointBundle, e.seen) {
		link = cmp.Or(x.url, link)
	}
	return link == e.after.text("bundle_url")
}

func (e *event) latest() bool {
	return e.after.text("latest_job_id") == cmp.Or(e.started(), e.before.text("latest_job_id"))
}

func (e *event) remembers() bool {
	return e.started() != "" || !slices.ContainsFunc(e.before.unfinished(), func(id string) bool { return !e.broken[id] && !e.after.holds(id) })
}

func (e *event) exported() bool {
	return e.after.text("bundle_url") != "" && e.wants(e.after.text("job_id"))
}

// renews does not hold if the plan was empty.
func (e *event) renews() bool {
	return e.action == noop || !e.due(e.began, 0) || e.after.text("bundle_url") != e.before.text("bundle_url")
}

// String describes an event that breaks a promise.
func (e *event) String() string {
	text := fmt.Sprintf("%s of %s, then %s\n", e.action, e.before, e.after)
	for _, x := range e.seen {
		text += fmt.Sprintln(x.at.Sub(e.began), x.endpoint, x.job, x.outcome)
	}
	return text + fmt.Sprint(e.said)
}
