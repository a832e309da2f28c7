package walk

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// claim is a sentence about an export that says what holds, what was done, or what an apply does. The texts themselves
// are in internal/provider/testdata/export.txt.
type claim struct {
	// sentence is a regular expression. JOB, DOMAIN, and TIME stand for what differs.
	sentence string
	// about says which command proves it: the one that printed it, the apply of the plan that printed it, or the apply
	// after the one that printed it.
	about proof
	// holds reports whether the sentence holds. of has what the sentence names.
	holds func(e *event, of []string) bool
}

type proof int

const (
	now proof = iota
	itsApply
	nextApply
)

var claims = []claim{
	{`was interrupted`, now, func(e *event, _ []string) bool { return e.stopped }},
	{`did not finish within (\S+) \(timeouts\.(\w+)\)`, now, (*event).tookItsTime},
	{`The state keeps job JOB\.`, now, func(e *event, of []string) bool { return e.exists && holds(e.after, of[0]) }},
	{`The refresh left the job in the state\.`, now, func(e *event, _ []string) bool {
		return !plans(e) || e.planned.refreshed[e.address].text("job_id") != ""
	}},
	{`The link in the state (expires|expired) at TIME\.`, now, (*event).expires},
	{`No job was started for DOMAIN\.`, now, (*event).startedNone},
	{`A job may have been started for DOMAIN, but its ID was not received\.`, now, (*event).mayHaveStarted},
	{`Job JOB ended with status "failed"\.`, now, func(e *event, of []string) bool { return e.lastRead(of[0]).failed() }},
	{`Job JOB had status "(\w+)" when last checked`, now, func(e *event, of []string) bool { return e.lastRead(of[0]).status == of[1] }},
	{`Job JOB completed, but no link was received\.`, now, func(e *event, of []string) bool { return len(e.linksTo(of[0])) == 0 && !e.broken[of[0]] }},
	{`Job JOB for DOMAIN had no link when Terraform planned\.`, now, (*event).hadNoLink},
	{`The service did not find (?:the bundle of )?job JOB, so this apply started job JOB\.`, now, func(e *event, of []string) bool {
		return slices.ContainsFunc(e.starts(), func(x exchange) bool { return x.job == of[1] }) && lasted(requestsFor(of[0], "", e.seen), missing) >= absence
	}},

	{`The update in place waits for job JOB and creates its link\.`, itsApply, (*event).asksFirst},
	{`The update in place asks for (?:the bundle of )?job JOB once more, and exports the site again if it is still missing\.`, itsApply, (*event).asksAgain},
	{`The update in place records the configured triggers and additional_parameters for the imported job JOB, and starts no export\.`, itsApply, func(e *event, of []string) bool { return e.asksFirst(of) && len(e.starts()) == 0 }},
	{`The update in place starts another job\. It does not resume job JOB,`, itsApply, func(e *event, of []string) bool {
		return len(e.starts()) > 0 && len(requestsFor(of[0], "", e.seen)) == 0
	}},

	{`If nothing else changes, the next apply starts another job\.`, nextApply, func(e *event, _ []string) bool { return len(e.starts()) > 0 }},
	{`If nothing else changes, the next apply resumes job JOB\.`, now, func(e *event, of []string) bool { return !e.broken[of[0]] }},
	{`If nothing else changes, the next apply resumes job JOB\.`, nextApply, func(e *event, of []string) bool { return e.broken[of[0]] || e.asksFirst(of) }},
	{`If nothing else changes, the next apply asks for (?:the bundle of )?job JOB once more, and exports the site again if it is still missing\.`, nextApply, func(e *event, of []string) bool { return e.wasFound(of[0]) || e.asksAgain(of) }},
	{`If nothing else changes, the next apply tries again\.`, nextApply, func(e *event, _ []string) bool {
		return len(requestsFor(e.before.text("job_id"), simulator.EndpointBundle, e.seen)) > 0
	}},
}

var patterns = func() (all []*regexp.Regexp) {
	names := strings.NewReplacer("JOB", `(se_[0-9a-f]{16})`, "DOMAIN", `(s\d\.[a-z.]+com)`, "TIME", `(\d{4}-[-0-9:T]+Z)`)
	for _, c := range claims {
		all = append(all, regexp.MustCompile(names.Replace(c.sentence)))
	}
	return all
}()

// spoken is a claim as it was said.
type spoken struct {
	claim
	text     string
	of       []string
	settings settings // then
}

// wrong returns the claims of an event that do not hold, and those said before that did not happen.
func (e *event) wrong() (wrong []string) {
	happens := func(s spoken) {
		if applies(e) && !e.voids() && maps.Equal(s.settings, e.config()) && !s.holds(e, s.of) {
			wrong = append(wrong, s.text)
		}
	}
	if applies(e) {
		for _, s := range e.claims[e.address] {
			happens(s)
		}
		e.claims[e.address] = nil
	}
	for _, text := range e.said {
		for n, pattern := range patterns {
			for _, found := range pattern.FindAllStringSubmatch(text.text, -1) {
				s := spoken{claims[n], found[0], found[1:], maps.Clone(e.config())}
				switch e.tally["claims"]++; {
				case s.about == now && !e.killed && (!text.plan || !applies(e)) && !s.holds(e, s.of):
					wrong = append(wrong, s.text)
				case s.about == itsApply && applies(e) && e.action == update:
					happens(s) // Terraform plans again in the apply
				case s.about == nextApply:
					e.claims[e.address] = append(e.claims[e.address], s)
				}
			}
		}
	}
	return wrong
}

// voids reports whether an apply proves nothing about what was said of it: it was stopped, had no time, or did
// something else.
func (e *event) voids() bool {
	return e.stopped || e.killed || e.Between || e.outOfTime() || e.forced() || e.Unknown != "" || e.action == "" || e.action == noop
}

func (e *event) tookItsTime(of []string) bool {
	within, err := time.ParseDuration(of[0])
	field := map[bool]string{true: "update", false: "create"}[e.linked() && e.action == update]
	return err == nil && within == e.limit() && of[1] == field && e.ended.Sub(e.began) >= e.limit()-time.Second
}

func (e *event) expires(of []string) bool {
	at, err := time.Parse(time.RFC3339, of[1])
	right := map[string]bool{"expires": at.After(e.began), "expired": !at.After(e.ended)}
	return err == nil && e.after.text("expires_at") == of[1] && right[of[0]]
}

// startedNone holds if the service certainly did not act on a start.
func (e *event) startedNone(of []string) bool {
	return of[0] == e.config().domain(e.on) && !slices.ContainsFunc(e.starts(), func(x exchange) bool {
		return x.job != "" || x.outcome == trouble || x.outcome == left && x.connected
	})
}

func (e *event) mayHaveStarted(of []string) bool {
	sent := e.starts()
	return of[0] == e.config().domain(e.on) && len(sent) > 0 && sent[len(sent)-1].connected && sent[len(sent)-1].outcome != ok
}

// lastRead returns the last read of a job that succeeded.
func (e *event) lastRead(id string) (last exchange) {
	for _, x := range requestsFor(id, simulator.EndpointJob, e.seen) {
		if x.outcome == ok {
			last = x
		}
	}
	return last
}

func (e *event) hadNoLink(of []string) bool {
	o, found := e.before, e.action != ""
	if !found {
		o = e.after
	}
	return slices.Contains(unfinished(o), of[0]) && strings.HasPrefix(e.content[of[0]], of[1])
}

// asksFirst reports whether the first request of an apply is about a job.
func (e *event) asksFirst(of []string) bool { return len(e.seen) > 0 && e.seen[0].job == of[0] }

// asksAgain reports whether an apply asks for a job first, and starts another one only if that is missing.
func (e *event) asksAgain(of []string) bool {
	isMissing := lasted(requestsFor(of[0], "", e.seen), missing) >= absence
	return e.asksFirst(of) && (len(e.starts()) == 0 || isMissing)
}

// wasFound reports whether the refresh before an apply found a job.
func (e *event) wasFound(id string) bool {
	return slices.ContainsFunc(requestsFor(id, "", e.refreshes), func(x exchange) bool { return x.outcome == ok })
}
