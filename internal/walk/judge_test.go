package walk

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// promises are what the documentation promises and what Terraform demands, where both take part. Each has a check,
// which reports whether an event keeps the promise. What is true of an export alone, TestEveryState in package export
// proves.
var promises = []struct {
	when     func(*event) bool
	sentence string
	check    func(*event) bool
}{
	{always, "No message and no log record contains the API key or the query of a link.", (*event).secrets},
	{always, "An apply does what its plan shows, by Terraform's rules.", (*event).rules},
	{always, "A job, a bundle, or an update is missing after half a minute of 404s or 410s, whoever asks.", (*event).missing},
	{always, "A streak of failures ends within a minute after the limit, whatever their kinds.", (*event).streaksEnd},
	{always, "A message about an export names no job of another one.", (*event).names},
	{always, "The identity in the state is that of the job.", (*event).identity},
	{destroys, "A destroy removes every export, and sends no request.", (*event).removes},
	{plans, "A plan reads the job, and sends no other request. With -refresh=false, it sends none.", (*event).planReads},
	{plans, "A plan fails only if a request failed, and not because the job is missing.", (*event).planFails},
	{shows, "What depends on job_id stays while the inputs do, unless the job or its bundle is missing.", (*event).jobStays},
	{follows, "The plan after a successful apply is empty and has no warnings.", (*event).planIsEmpty},
	{applies, "A start is sent again only after a 429 or a connection that was never made.", (*event).startsOnce},
	{applies, "An apply starts a job only if the plan does not know latest_job_id, and with the configured inputs.", (*event).startsAsPlanned},
	{applies, "There is one start for each content, tainted or not: another one only if the job failed or is missing.", (*event).startsNoSecond},
	{applies, "An apply ends within a minute of its timeout.", (*event).ends},
	{applies, "An interrupt loses no job, and does not taint a first export.", (*event).interrupt},
	{applies, "A replacement that was handed a job ends with a job.", (*event).keepsJob},
	{stores, "The state has the last link that was received for its job.", (*event).keepsNewLink},
	{stores, "latest_job_id is the job that was started last.", (*event).latest},
	{stores, "An unfinished job stays until a newer one starts.", (*event).remembers},
	{succeeds, "An apply that succeeds leaves a link to a bundle of the configured inputs.", (*event).exported},
	{succeeds, "An apply renews a link that has expired.", (*event).renews},
	{fails, "A fault that passes within 20 seconds fails nothing but a start. A running job bears an outage of 5 minutes.", (*event).patient},
	{fails, "If an export in place fails, the state keeps the old job, its link, and its arguments.", (*event).keepsOld},
}

const (
	// absence is how long nothing but 404 or 410 must come until a job is missing. The judge does not insist on the last
	// seconds.
	absence = client.NotFoundLimit - 3*time.Second
	// certainty is for how long they must come until it surely is.
	certainty = client.NotFoundLimit + 2*time.Second
	outage    = client.OutageLimit - time.Second
	// grace is how long an operation may last after its timeout: half a minute for the response to a start.
	grace = 32 * time.Second
	// An operation may end this long before its timeout, instead of a pause that lasts longer.
	margin = 20 * time.Second
)

// failures are the outcomes that a streak of failures consists of. A 429 is none.
var failures = []outcome{missing, rejected, trouble, never}

// When a promise is checked. After an interrupt, an apply may have done any part of its work.
func always(*event) bool     { return true }
func destroys(e *event) bool { return e.Do == doDestroy }
func plans(e *event) bool    { return e.Do == doApply && !e.applying }
func shows(e *event) bool    { return plans(e) && e.action == update && !e.failed && e.linked() }
func follows(e *event) bool {
	return plans(e) && e.settled && !e.failed && e.exists && !slices.ContainsFunc(e.seen, wentWrong)
}
func applies(e *event) bool  { return e.applying }
func stores(e *event) bool   { return applies(e) && e.exists && e.stored[e.address] }
func succeeds(e *event) bool { return stores(e) && !e.failed && !e.stopped }
func fails(e *event) bool    { return stores(e) && e.failed && !e.stopped }

// judge checks what happens against the promises. Of what was before, it knows only facts about jobs.
type judge struct {
	*walker
	content  map[string]string // by job; of an imported one, its domain
	broken   map[string]bool   // the provider has read that the job failed
	gone     map[string]bool   // the job or its bundle was missing for half a minute once
	problems []string
}

// event is what a command did to one resource.
type event struct {
	*judge
	*command
	change  // its before is the resource as refreshed
	address string
	on      int    // the number of the export
	after   object // of the command
	exists  bool   // afterwards
	failed  bool
	said    []said
	seen    []exchange
	last    exchange
}

// judge judges a command. It reports whether the walk can continue with its result.
func (j *judge) judge(c *command) bool {
	for n := range j.Exports {
		if c.Do == doImport && n != c.On%j.Exports {
			continue
		}
		address := address(n)
		e := &event{judge: j, command: c, address: address, on: n}
		if c.planned != nil {
			e.change = c.planned.changes[address]
		}
		e.said = slices.DeleteFunc(slices.Clone(c.all), func(s said) bool { return s.address != address })
		e.seen = slices.DeleteFunc(slices.Clone(c.requests), func(x exchange) bool { return x.address != address })
		if len(e.seen) > 0 {
			e.last = e.seen[len(e.seen)-1]
		}
		e.failed = failure(e.said)
		e.after, e.exists = c.after[address]
		j.learn(e)
		for _, p := range promises {
			if p.when(e) && !p.check(e) {
				j.problems = append(j.problems, fmt.Sprintf("%s breaks a promise: %s\n%s", address, p.sentence, e))
			}
		}
	}
	return len(j.problems) == 0 && !failure(c.all)
}

// learn notes facts about jobs.
func (j *judge) learn(e *event) {
	if e.Do == doImport && e.exists {
		j.content[e.after.text("job_id")] = e.after.text("domain")
	}
	for _, x := range e.seen {
		if x.endpoint == simulator.EndpointStart && x.job != "" {
			j.content[x.job] = e.config().content(e.on)
		}
		if x.job != "" && x.status != "" {
			j.broken[x.job] = x.failed()
		}
		if lasted(requestsFor(x.job, x.endpoint, e.seen), missing) >= absence {
			j.gone[x.job] = true
		}
	}
	switch id := e.after.text("job_id"); {
	case !e.imported(id):
	case e.killed && e.after.private == nil: // its inputs are now the arguments in the state
		j.content[id] += "  "
	case succeeds(e):
		j.content[id] = e.config().content(e.on) // the first link ends an import
	}
}

// imported reports whether only the domain of a job is known.
func (j *judge) imported(id string) bool {
	return j.content[id] != "" && !strings.Contains(j.content[id], " ")
}

// wants reports whether the configuration wants the content of a job.
func (e *event) wants(id string) bool {
	if e.imported(id) {
		return e.content[id] == e.config().domain(e.on)
	}
	return e.content[id] == e.config().content(e.on)
}

var jobID = regexp.MustCompile(`se_[0-9a-f]{16}`)

// unfinished returns the jobs without a link that an object holds. Terraform withholds the private state of a tainted one.
func unfinished(o object) (all []string) {
	var private map[string][]byte
	if _ = json.Unmarshal(o.private, &private); !o.tainted {
		all = jobID.FindAllString(string(private["export"]), -1)
	}
	if id := o.text("job_id"); id != "" && o.text("bundle_url") == "" {
		all = append(all, id)
	}
	return all
}

func holds(o object, id string) bool {
	return o.text("job_id") == id || slices.Contains(unfinished(o), id)
}

func (e *event) config() settings   { return e.settings[e.on] }
func (e *event) forced() bool       { return e.replaced == e.address }
func (e *event) linked() bool       { return e.before.text("bundle_url") != "" }
func (e *event) starts() []exchange { return requestsFor("", simulator.EndpointStart, e.seen) }

func (e *event) linksTo(job string) []exchange {
	return slices.DeleteFunc(requestsFor(job, simulator.EndpointBundle, e.seen), func(x exchange) bool { return x.url == "" })
}

// known reports whether a plan shows the value of an attribute.
func (e *event) known(name string) bool { return attributes(e.change.after)[name].IsKnown() }

// limit is the timeout of the operation.
func (e *event) limit() time.Duration {
	if plans(e) {
		return readTimeout
	}
	return e.config().duration("timeouts", defaultTimeout)
}

// outOfTime reports whether the last request came so late that no other one was possible.
func (e *event) outOfTime() bool {
	if len(e.seen) == 0 {
		return false
	}
	remaining := e.seen[0].at.Add(e.limit()).Sub(e.last.ended)
	return remaining < margin || wentWrong(e.last) && remaining-e.last.after < margin/4
}

// due reports whether the link in the state has to be renewed at a time.
func (e *event) due(now time.Time, lead time.Duration) bool {
	expires, err := time.Parse(time.RFC3339, e.before.text("expires_at"))
	return e.linked() && e.config()["link_renewal"] == "" && err == nil && !now.Before(expires.Add(-lead))
}

func failure(all []said) bool { return slices.ContainsFunc(all, func(s said) bool { return s.failed }) }

func mentions(all []said, word string) bool {
	return slices.ContainsFunc(all, func(s said) bool { return strings.Contains(s.text, word) })
}

func wentWrong(x exchange) bool { return x.outcome != ok }

func (e *event) secrets() bool { return len(e.leaks) == 0 && !isSecret(fmt.Sprint(e.said)) }
func (e *event) rules() bool {
	return !slices.ContainsFunc(e.said, func(s said) bool { return s.broken })
}

// missing looks at the request that decided: the last one of a failed operation or of a refresh. A streak of changing
// kinds may end with it, as an outage.
func (e *event) missing() bool {
	of := []string{simulator.EndpointJob, simulator.EndpointBundle}
	asked := requestsFor(e.last.job, e.last.endpoint, e.seen)
	decides := (plans(e) || e.failed) && !e.stopped && !e.killed && e.last.outcome == missing && slices.Contains(of, e.last.endpoint)
	changing := e.failed && !mentions(e.said, "job not found") && lasted(asked, failures...) >= absence
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

func (e *event) names() bool {
	return !slices.ContainsFunc(jobID.FindAllString(fmt.Sprint(e.said), -1), func(id string) bool {
		return !holds(e.before, id) && !holds(e.after, id) && len(requestsFor(id, "", e.seen)) == 0
	})
}

var identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"job_id": tftypes.String, "domain": tftypes.String}}

func (e *event) identity() bool {
	return !e.exists || e.killed || e.after.identity != nil &&
		text(attributes(must(e.after.identity.IdentityData.Unmarshal(identityType)))["job_id"]) == e.after.text("job_id")
}

func (e *event) removes() bool { return !e.exists && len(e.seen) == 0 }

func (e *event) planReads() bool {
	return len(requestsFor("", simulator.EndpointJob, e.seen)) == len(e.seen) && (len(e.seen) == 0 || !e.NoRefresh)
}

func (e *event) planFails() bool {
	since := lasted(e.seen, missing)
	isMissing := e.last.outcome == missing && since >= certainty && since == lasted(e.seen, failures...)
	return !e.failed || slices.ContainsFunc(e.seen, wentWrong) && !isMissing
}

func (e *event) jobStays() bool {
	id := e.before.text("job_id")
	if e.Unknown != "" || !e.wants(id) || e.gone[id] {
		return true
	}
	return e.known("job_id") && e.known("latest_job_id") && e.known("status") && e.known("page_count")
}

// planIsEmpty allows an update for a link that is due.
func (e *event) planIsEmpty() bool {
	return (e.action == noop || e.due(e.ended, e.config().duration("renew_before", 0))) && len(e.said) == 0
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

// startsNoSecond asks of a replacement only what is unfinished, because it exports again what is not.
func (e *event) startsNoSecond() bool {
	n := slices.IndexFunc(e.seen, func(x exchange) bool { return x.endpoint == simulator.EndpointStart && x.outcome != never })
	if n < 0 {
		return true
	}
	inTheWay := func(id string) bool {
		return e.wants(id) && !e.hasFailed(id) && lasted(requestsFor(id, "", e.seen[:n]), missing) < absence
	}
	open := slices.DeleteFunc(unfinished(e.before), func(id string) bool { return e.action == replace && e.imported(id) })
	if slices.ContainsFunc(open, inTheWay) {
		return false
	}
	// A job for the content of the link was started because that one was missing.
	return e.action != update || !e.linked() || slices.ContainsFunc(open, e.wants) || !inTheWay(e.before.text("job_id"))
}

func (e *event) hasFailed(id string) bool { return e.broken[id] }

func (e *event) ends() bool {
	return !slices.ContainsFunc(e.seen, func(x exchange) bool { return x.ended.Sub(e.began) > e.limit()+grace })
}

func (e *event) interrupt() bool {
	lost := slices.ContainsFunc(e.starts(), func(x exchange) bool {
		return x.outcome == left && x.connected || x.outcome == ok && !holds(e.after, x.job)
	})
	tainted := e.after.tainted && len(e.seen) > 0 && (!e.before.tainted || e.action == replace)
	reason := e.last.outcome != ok && e.last.outcome != left || slices.ContainsFunc(e.seen, exchange.failed) || e.outOfTime()
	return !e.stopped || e.killed || !lost && (!tainted || reason)
}

// keepsJob does not hold for a replacement that was stopped between its halves.
func (e *event) keepsJob() bool {
	handed := e.action == replace && slices.ContainsFunc(unfinished(e.before), func(id string) bool { return e.wants(id) && !e.imported(id) && !e.hasFailed(id) })
	return !handed || e.killed || len(e.seen) == 0 || e.exists && e.after.text("job_id") != ""
}

func (e *event) keepsNewLink() bool {
	links := e.linksTo(e.after.text("job_id"))
	return len(links) == 0 || links[len(links)-1].url == e.after.text("bundle_url")
}

// latest does not hold for an update without the private state, which a killed provider has lost.
func (e *event) latest() bool {
	want := e.before.text("latest_job_id")
	for _, x := range e.starts() {
		if x.outcome == ok {
			want = x.job
		}
	}
	return e.action != update || e.killed || e.before.private == nil || e.after.text("latest_job_id") == want
}

func (e *event) remembers() bool {
	return e.action != update || e.killed || !slices.ContainsFunc(unfinished(e.before), func(id string) bool {
		started := slices.ContainsFunc(e.starts(), func(x exchange) bool { return x.outcome == ok })
		return !e.hasFailed(id) && !started && !holds(e.after, id)
	})
}

func (e *event) exported() bool {
	id := e.after.text("job_id")
	return id == e.links[e.after.text("bundle_url")] && e.content[id] == e.config().content(e.on)
}

func (e *event) renews() bool {
	return !e.due(e.began, 0) || len(e.linksTo(e.after.text("job_id"))) > 0
}

// patient does not hold for a renewal, whose failure costs little, and for a failed job.
func (e *event) patient() bool {
	running := e.last.endpoint == simulator.EndpointJob && slices.ContainsFunc(requestsFor(e.last.job, e.last.endpoint, e.seen), func(x exchange) bool { return x.outcome == ok })
	switch {
	case len(e.seen) == 0, slices.ContainsFunc(e.seen, exchange.failed), e.outOfTime():
		return true
	case e.last.endpoint == simulator.EndpointStart:
		return wentWrong(e.last)
	case running && (e.last.outcome == trouble || e.last.outcome == never):
		return lasted(e.seen, failures...) >= outage
	case e.last.outcome == rejected && !running:
		return true
	}
	return wentWrong(e.last) && e.last.outcome != busy && lasted(e.seen, failures...) >= absence
}

func (e *event) keepsOld() bool {
	if e.action != update || !e.linked() || e.wants(e.before.text("job_id")) {
		return true
	}
	for name := range e.config().values(e.on) {
		if !attributes(e.before.value)[name].Equal(attributes(e.after.value)[name]) {
			return false
		}
	}
	return e.before.text("bundle_url") == e.after.text("bundle_url")
}

// String describes an event that breaks a promise.
func (e *event) String() string {
	expiry := func(o object) string {
		return fmt.Sprint(o.text("job_id"), " until ", o.text("expires_at"), " without a link ", unfinished(o))
	}
	text := fmt.Sprintf("%s of %s, then %s\n", e.action, expiry(e.before), expiry(e.after))
	for _, x := range e.seen {
		text += fmt.Sprintln(x.at.Sub(e.began), x.endpoint, x.job, x.outcome)
	}
	return text + fmt.Sprint(e.said)
}
