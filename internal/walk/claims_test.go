package walk

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// claim is a sentence about an export. If it says what holds or what was done, now checks that against the command
// that printed it. If it says what an apply will do, later checks that apply: the planned one, or after a failure, the
// next one.
type claim struct {
	sentence   string
	now, later check
}

// check reports whether a claim holds. of has what the sentence names; then, what was missing, as an endpoint, and the
// job that the sentence, or one before it, named last.
type check func(e *event, of []string) bool

// claims are all claims. The walk fails on a sentence that is neither here nor in others. JOB, DOMAIN, TIME, LIMIT,
// WORD, and TEXT stand for what differs.
var claims = []claim{
	// First lines.
	{"Static export interrupted", stoppedNow, nil},
	{"Static export interrupted: job JOB", stoppedNow, nil},
	{"Static export timed out", (*event).tookItsTime, nil},
	{"Could not start the static export", (*event).startedNothingKnown, nil},
	{"Could not start the static export: job JOB", (*event).hasRecorded, nil},
	{"Static export job failed: job JOB", (*event).hasFailed, nil},
	{"Expiry of the bundle link is unknown: job JOB", (*event).hasNoExpiry, nil},
	// What was done, and what holds.
	{"Terraform has recorded job JOB.", (*event).hasRecorded, nil},
	{"Job JOB stays in the state.", (*event).hasRecorded, nil},
	{"No job was started for DOMAIN.", (*event).startedNone, nil},
	{"A job may have been started for DOMAIN, but its ID was not received.", (*event).mayHaveStarted, nil},
	{`Job JOB ended with status "failed".`, (*event).hasFailed, nil},
	{"Job JOB completed, but no link was received.", (*event).hasNoLink, nil},
	{`Job JOB had status "WORD" when last checked (TEXT).`, (*event).lastStatus, nil},
	{`Job JOB had status "WORD" when last checked.`, (*event).lastStatus, nil},
	{"The provider could not read the status of job JOB, which may still be running.", (*event).neverRead, nil},
	{"The link in the state expires at TIME.", (*event).expires, nil},
	{"The link in the state expired at TIME.", (*event).expired, nil},
	{"The state is unchanged.", (*event).unchanged, nil},
	{"The refresh kept the job in the state.", (*event).refreshKept, nil},
	{"The service did not find job JOB for LIMIT.", (*event).wasMissing, nil},
	{"The service did not find the bundle of job JOB for LIMIT.", (*event).wasMissing, nil},
	{"Job JOB has no link yet.", (*event).hasNoLinkYet, nil},
	{"Job JOB was started for this content and has no link yet.", (*event).startedForThis, nil},
	{"This apply has removed job JOB, which was started for DOMAIN, from the state, and has not resumed it yet.", (*event).handedOver, nil},
	{"Job JOB was imported as a job for DOMAIN.", (*event).importedFor, nil},
	{"The renewal did not extend the link: it still expires at TIME.", (*event).expiresAt, nil},
	{"The new link expires at TIME, and this machine's clock reads TIME.", (*event).expiresAt, nil},
	{"Neither the service nor the link itself specifies when the link expires in a form that the provider reads, so expires_at is null and the provider does not renew the link.", (*event).hasNoExpiry, nil},
	{"The state keeps the existing link, whose expiry is unknown.", (*event).hasNoExpiry, nil},
	// What an apply will do.
	{"The next apply starts another job.", nil, (*event).startsAnother},
	{"Unless the service finds job JOB again, the next apply starts another job.", nil, unlessFound((*event).startsAnother)},
	{"The next apply resumes job JOB.", (*event).mayFinish, (*event).resumes},
	{"The next apply resumes job JOB, even if the plan shows a replacement (-/+, but not +/-).", (*event).mayFinish, (*event).resumes},
	{"Unless the service finds job JOB again, the next apply resumes job JOB.", (*event).mayFinish, unlessFound((*event).resumes)},
	{"The next apply asks for job JOB once more, and exports the site again if it is still missing.", nil, (*event).asksAndExports},
	{"The next apply asks for the bundle of job JOB once more, and exports the site again if it is still missing.", nil, (*event).asksAndExports},
	{"Unless the service finds job JOB again, the next apply asks for job JOB once more, and exports the site again if it is still missing.", nil, unlessFound((*event).asksAndExports)},
	{"Unless the service finds job JOB again, the next apply asks for the bundle of job JOB once more, and exports the site again if it is still missing.", nil, unlessFound((*event).asksAndExports)},
	{"The next apply tries again.", nil, (*event).triesAgain},
	{"An update (~) asks for it once more, and exports the site again if it is still missing.", nil, (*event).updateAsksAndExports},
	{"This plan exports the site again.", nil, (*event).startsAnother},
	{"If the plan shows ~ or -/+ for this resource, the apply resumes the job, and starts another one only if the service does not find job JOB or its bundle for LIMIT.", nil, (*event).resumesOrMissing},
	{"If the plan shows ~ or -/+ for the object with this job, and its domain, triggers, and additional_parameters are unchanged, the apply resumes the job, and starts another one only if the service does not find job JOB or its bundle for LIMIT.", nil, (*event).resumesShown},
	{"The next apply exports the site again if the job is still missing.", nil, (*event).exportsIfMissing},
	{"Job JOB, which has no link yet, was started for other content, so this plan does not resume it.", nil, (*event).leaves},
	{"If they are those that job JOB was started with, an update (~) resumes it.", nil, (*event).resumesIfSame},
	{"An update (~) records the configured triggers and additional_parameters for it and does not start an export.", nil, (*event).updateStartsNone},
	{"This plan starts another job, for DOMAIN.", nil, (*event).startsFor},
	// Causes.
	{"Terraform was interrupted.", stoppedNow, nil},
	{"Terraform was interrupted; in the last attempt, TEXT.", stoppedNow, nil},
	{"The operation did not finish within WORD (timeouts.WORD).", (*event).tookTheTimeout, nil},
	{"The operation did not finish within WORD (timeouts.WORD); in the last attempt, TEXT.", (*event).tookTheTimeout, nil},
}

// others are the sentences that only name what a diagnostic is about, explain a cause, or give advice.
var others = []string{
	"Could not finish the static export",
	"Could not create a bundle link",
	"Could not renew the bundle link",
	"Could not read the static export job",
	"Could not import the static export job",
	"Static export job failed",
	"Static export job not found",
	"Static export job not found: job JOB",
	"Static export job or bundle is missing: job JOB",
	"Export has an unfinished job: job JOB",
	"Unfinished job can be resumed: job JOB",
	"Unfinished job is not resumed: job JOB",
	"Unfinished job may be resumed: job JOB",
	"Unfinished job is not in the state: job JOB",
	"Job was imported with another domain: job JOB",
	"Configured inputs are recorded without another job: job JOB",
	"New link is already due for renewal: job JOB",
	"Service returned the same link: job JOB",
	"Private state is unreadable: job JOB",
	"It may still be running.",
	"The service does not return the inputs of the imported job JOB.",
	"Some inputs are not known yet.",
	"If the plan shows only +/- or a destroy (-) for it, the apply does not resume the job: see TEXT#exports-that-did-not-finish",
	"Otherwise, the apply may start another job.",
	"The provider renews it again only after that.",
	"With renew_before = \"WORD\", every apply renews it.",
	"The operation did not finish within WORD.",
	"The service's message: the site could not be built.",
	"The service returned HTTP TEXT.",
	"Consecutive requests failed for different reasons; in the last attempt, TEXT.",
	"The request WORD WORD to docs.test failed: TEXT.",
	"Fix the site.",
	"For a new link in each run, use the ephemeral resource docs_static_export_bundle.",
	"Check base_url and the API key, and look in the service's dashboard.",
	"To start another one instead, change triggers.",
	`Before you run "terraform apply" again, look in the service's dashboard for a job that this run may have started.`,
	"If there is one, import it as described in TEXT#a-job-may-have-been-started",
	"terraform import ADDRESS DOMAIN,JOB_ID",
	"terraform import ADDRESS DOMAIN,JOB",
	"The address above may be that of another resource.",
	"If there is no such job:",
	"If the state does not have job JOB after this apply, and you want to keep it, import it:",
	`To keep job JOB instead, run "terraform state rm ADDRESS" for this resource, and import DOMAIN,JOB.`,
	"To resume job JOB instead, do not apply this plan.",
	"Restore the domain, triggers, and additional_parameters that it was started with, and plan again.",
	"To export with these inputs, run \"terraform apply -replace=ADDRESS\" for this resource.",
	"If this plan exports the site again, fix the site before you apply the plan.",
	"If the job should still exist, check base_url, which ends with a version segment such as /v1, and the API key before you apply a plan.",
	"To plan or destroy without this request, use -refresh=false.",
	"A failed job has no bundle.",
	"Import a job that has not failed, or apply without an import to export the site.",
	"To shorten the time without a working link, set renew_before to 0s and run \"terraform apply\" more often.",
	"Set renew_before to less than the link lifetime.",
	"If it is already 0s, check this machine's clock.",
	`To continue, run the same command again.`,
	"Static exports require an Enterprise subscription.",
	"Check that the organization of the API key owns the domain, and that base_url is the base URL of the API with its version segment, such as /v1.",
	"If the operation normally takes longer, increase timeouts.WORD.",
	"If the message points to an invalid value, correct it. Otherwise, check base_url and the arguments. If they are correct, contact the service's support.",
	"Check that api_key or DOCS_API_KEY holds a current admin API key for the service at base_url.",
	"Check that the key is an admin API key of the organization that owns the site, and that its subscription covers this request. If a proxy sent this response instead, allow connections to the host of base_url.",
	"Check the ID, and that the API key belongs to the organization that owns it. Make sure that base_url ends with a version segment, such as /v1.",
	"The request conflicts with the current state of the job or site, for example because another export is running. Wait, and then try again.",
	"Reduce -parallelism, or try again later.",
	"Try again later. If it still fails, check the service's status page. Some gateways respond like this to limit requests: reduce -parallelism.",
	"Check that base_url is the base URL of the service's API, not of a website. If the network requires signing in, sign in. If a proxy replaces the service's responses with pages of its own, let it pass them on.",
	"The response does not match the API contract. Contact the service's support, and report the response to the provider's maintainers: TEXT/issues",
	"Check base_url, the network, and the proxy settings (HTTPS_PROXY, NO_PROXY). The service may also be down, or slower than request_timeout allows.",
	"Try again later. If it still fails, see TEXT#requests-fail-intermittently for a likely cause.",
}

// patterns match the sentences of claims, and then of others, at the beginning of a text.
var patterns = func() (all []*regexp.Regexp) {
	names := strings.NewReplacer("JOB_ID", "JOB_ID", "JOB", `(se_[0-9a-f]{16})`, "DOMAIN", `(s\d\.[a-z.]+com)`,
		"TIME", `(\d{4}-[-0-9:T]+Z)`, "LIMIT", fmt.Sprintf("%.0f seconds", client.NotFoundLimit.Seconds()), "WORD", `([^\s"]+?)`, "TEXT", `([^\n]+?)`)
	sentences := []string{}
	for _, c := range claims {
		sentences = append(sentences, c.sentence)
	}
	for _, sentence := range append(sentences, others...) {
		all = append(all, regexp.MustCompile(`^`+names.Replace(regexp.QuoteMeta(sentence))+`(\s+|$)`))
	}
	return all
}()

// spoken is a sentence of a diagnostic.
type spoken struct {
	claim
	text string
	of   []string
	plan bool // a plan said it, about its apply
	// content is what was configured when it was said.
	content string
}

// sentences returns the sentences of a diagnostic, and what follows the last one that is known.
func (s said) sentences() (all []spoken, unknown string) {
	job, it := "", simulator.EndpointJob // the last job that was named, and what of it
	rest := strings.TrimSpace(s.text)
	for rest != "" {
		n, of := recognize(rest)
		if n < 0 {
			break
		}
		one := spoken{text: strings.TrimSpace(of[0]), plan: s.plan}
		if n < len(claims) {
			one.claim = claims[n]
		}
		for _, text := range of[1:] {
			if jobID.MatchString(text) {
				job, it = text, simulator.EndpointJob
			}
		}
		if strings.Contains(one.text, "the bundle of job") {
			it = simulator.EndpointBundle
		}
		one.of = slices.Concat(of[1:], []string{it, job})
		all, rest = append(all, one), rest[len(of[0]):]
	}
	return all, rest
}

// recognize returns the longest pattern that matches the beginning of a text, and what it matched; or -1.
func recognize(text string) (best int, of []string) {
	best = -1
	for n, pattern := range patterns {
		if m := pattern.FindStringSubmatch(text); m != nil && (best < 0 || len(m[0]) > len(of[0])) {
			best, of = n, m
		}
	}
	return best, of
}

// wrong returns the sentences of an event that do not hold or are not known, and those said before that did not
// happen.
func (e *event) wrong() (wrong []string) {
	happened := func(s spoken) {
		if applies(e) && !e.voids() && s.content == e.config().content(e.on) && !s.later(e, s.of) {
			wrong = append(wrong, s.text)
		}
	}
	due := &e.claims[e.on]
	for _, s := range *due {
		happened(s)
	}
	*due = slices.DeleteFunc(*due, func(s spoken) bool {
		return s.plan || e.Do != doApply || applies(e) && !e.undecided()
	})
	for _, text := range e.said {
		all, unknown := text.sentences()
		if unknown != "" && !text.broken {
			wrong = append(wrong, "not in claims_test.go: "+unknown)
		}
		for _, s := range all {
			e.tally["claims"]++
			s.content = e.config().content(e.on)
			again := s.plan && applies(e) // Terraform plans again in the apply
			if s.now != nil && !again && !e.killed && !s.now(e, s.of) {
				wrong = append(wrong, s.text)
			}
			switch {
			case s.later == nil:
			case again:
				happened(s)
			default:
				*due = append(*due, s)
			}
		}
	}
	return wrong
}

// voids reports whether an apply proves nothing about what was said of it: it was stopped, or had no time.
func (e *event) voids() bool {
	return e.stopped || e.killed || e.Between || e.outOfTime() || e.Unknown != "" && e.failed ||
		slices.ContainsFunc(e.said, func(s said) bool { return s.broken })
}

// undecided reports whether an apply failed before it could do what was said of it.
func (e *event) undecided() bool {
	return e.failed && len(e.starts()) == 0 && (e.last.outcome == rejected || e.last.outcome == trouble || e.last.outcome == busy)
}

func stoppedNow(e *event, _ []string) bool { return e.stopped }

func (e *event) tookItsTime(_ []string) bool { return e.ended.Sub(e.began) >= e.limit()-time.Second }

// tookTheTimeout holds if the sentence names the duration and the field of the timeouts block.
func (e *event) tookTheTimeout(of []string) bool {
	within, err := time.ParseDuration(of[0])
	field := map[bool]string{true: "update", false: "create"}[e.action == update]
	return err == nil && within == e.limit() && of[1] == field && e.tookItsTime(of)
}

// holdsJob reports whether the attributes or the private state of an object have a job.
func holdsJob(o object, id string) bool {
	var private map[string][]byte
	_ = json.Unmarshal(o.private, &private)
	return o.text("job_id") == id || strings.Contains(string(private["export"]), fmt.Sprintf("%q", id))
}

func (e *event) hasRecorded(of []string) bool { return e.exists && holdsJob(e.after, of[0]) }

// startedNone holds if the service certainly did not act on a start.
func (e *event) startedNone(of []string) bool {
	return of[0] == e.config().domain(e.on) && !slices.ContainsFunc(e.starts(), func(x exchange) bool {
		return x.job != "" || x.outcome == trouble || x.outcome == left && x.connected
	})
}

func (e *event) startedNothingKnown(_ []string) bool {
	return !slices.ContainsFunc(e.starts(), succeeded)
}

func (e *event) mayHaveStarted(of []string) bool {
	sent := e.starts()
	return of[0] == e.config().domain(e.on) && len(sent) > 0 && sent[len(sent)-1].connected && !slices.ContainsFunc(sent, succeeded)
}

// read returns the reads of a job that succeeded.
func (e *event) read(id string) []exchange {
	return slices.DeleteFunc(requestsFor(id, simulator.EndpointJob, e.seen), wentWrong)
}

func (e *event) hasFailed(of []string) bool {
	read := e.read(of[0])
	return len(read) > 0 && read[len(read)-1].failed
}

func (e *event) hasNoLink(of []string) bool {
	r := e.records[of[0]]
	return r != nil && !r.failed && len(e.linksTo(of[0])) == 0
}

func (e *event) lastStatus(of []string) bool {
	read := e.read(of[0])
	return len(read) > 0 && read[len(read)-1].status == of[1]
}

func (e *event) neverRead(of []string) bool { return len(e.read(of[0])) == 0 }

func (e *event) expiresAt(of []string) bool { return e.after.text("expires_at") == of[0] }

func (e *event) hasNoExpiry(_ []string) bool {
	return e.after.text("bundle_url") != "" && e.after.text("expires_at") == ""
}

func (e *event) expires(of []string) bool {
	at, err := time.Parse(time.RFC3339, of[0])
	return err == nil && e.expiresAt(of) && at.After(e.began)
}

func (e *event) expired(of []string) bool {
	at, err := time.Parse(time.RFC3339, of[0])
	return err == nil && e.expiresAt(of) && !at.After(e.ended)
}

func (e *event) unchanged(_ []string) bool {
	return e.exists && e.after.value.Equal(e.before.value) || plans(e)
}

func (e *event) refreshKept(_ []string) bool {
	return plans(e) && e.planned.refreshed[e.address].text("job_id") == e.job.id || imports(e) && e.exists
}

func (e *event) wasMissing(of []string) bool {
	r := e.records[of[0]]
	return r != nil && r.gone[simulator.EndpointJob]+r.gone[simulator.EndpointBundle] > 0 || lasted(requestsFor(of[0], "", e.seen), missing) >= absence
}

func (e *event) hasNoLinkYet(of []string) bool {
	return e.before.text("job_id") == of[0] && !e.linked()
}

func (e *event) startedForThis(of []string) bool {
	r := e.records[of[0]]
	return r != nil && r.content == e.config().content(e.on) && !e.job.is(of[0])
}

// handedOver holds for a job that the command removed from the state and has not asked for.
func (e *event) handedOver(of []string) bool {
	for address, c := range e.planned.changes {
		if (c.action == replace || c.action == destroy) && holdsJob(e.planned.refreshed[address], of[0]) {
			r := e.records[of[0]]
			return r != nil && strings.HasPrefix(r.content, of[1]+" ")
		}
	}
	return false
}

func (e *event) importedFor(of []string) bool { return e.job.is(of[0]) && e.job.domain == of[1] }

// asksFirst reports whether the first request of an apply is about a job.
func (e *event) asksFirst(id string) bool { return len(e.work) > 0 && e.work[0].job == id }

// stillMissing reports whether what was missing of a job was surely missing in an apply, and whether the job or its
// bundle may have been.
func (e *event) stillMissing(it, id string) (surely, perhaps bool) {
	asked := slices.Concat(seenAt(e.refreshes, e.address), e.work)
	since := lasted(requestsFor(id, it, asked), missing)
	ended := e.failed && e.last.outcome == missing && e.last.job == id && e.last.endpoint == it
	surely = since >= certainty || ended && since >= absence
	return surely, lasted(requestsFor(id, "", asked), missing) >= absence
}

func (e *event) startsAnother(of []string) bool {
	return len(e.starts()) > 0 && (of[len(of)-1] == "" || !e.asksFirst(of[len(of)-1]))
}

// mayFinish holds if no job of a sentence has failed, as it was last read. A service whose clock is set back may take
// a failure back.
func (e *event) mayFinish(of []string) bool {
	return !slices.ContainsFunc(of, func(id string) bool {
		asked := requestsFor(id, simulator.EndpointJob, slices.Concat(seenAt(e.refreshes, e.address), e.seen))
		read, known := slices.DeleteFunc(asked, wentWrong), e.records[id]
		if len(read) > 0 {
			return read[len(read)-1].failed
		}
		return known != nil && known.failed
	})
}

// resumes does not hold for a job that a refresh has found to have failed since.
func (e *event) resumes(of []string) bool {
	known := e.records[of[0]]
	return known == nil || known.failed && len(e.starts()) > 0 || e.asksFirst(of[0])
}

// unlessFound is for a claim that does not hold if the first job of its sentence is found again.
func unlessFound(check check) check {
	return func(e *event, of []string) bool {
		return e.job.is(of[0]) && (!e.gone() || e.asksFirst(of[0])) || check(e, of[1:])
	}
}

func (e *event) resumesShown(of []string) bool {
	r := e.records[of[0]]
	return r == nil || r.content != e.config().content(e.on) || e.resumesOrMissing(of)
}

func (e *event) exportsIfMissing(of []string) bool {
	surely, _ := e.stillMissing(simulator.EndpointJob, of[len(of)-1])
	return e.forced() || !surely || len(e.starts()) > 0
}

func (e *event) resumesOrMissing(of []string) bool {
	_, perhaps := e.stillMissing("", of[0])
	return e.action != update && e.action != replace || e.asksFirst(of[0]) && (len(e.starts()) == 0 || perhaps)
}

func (e *event) resumesIfSame(of []string) bool {
	r := e.records[of[0]]
	return e.action != update || r == nil || r.content != e.config().content(e.on) || e.asksFirst(of[0])
}

// asksAndExports holds for the job of a failure.
func (e *event) asksAndExports(of []string) bool {
	if e.forced() {
		return true
	}
	surely, perhaps := e.stillMissing(of[len(of)-2], of[len(of)-1])
	return (!surely || len(e.starts()) > 0) && (len(e.starts()) == 0 || perhaps || e.job.failed)
}

func (e *event) updateAsksAndExports(of []string) bool {
	return e.action != update || e.asksFirst(of[len(of)-1]) && e.asksAndExports(of)
}

func (e *event) triesAgain(_ []string) bool {
	return e.forced() || !e.due(e.began) || e.job.failed || e.gone() || len(requestsFor(e.job.id, simulator.EndpointBundle, e.seen)) > 0
}

func (e *event) leaves(of []string) bool { return len(requestsFor(of[0], "", e.work)) == 0 }

func (e *event) updateStartsNone(_ []string) bool { return e.action != update || len(e.starts()) == 0 }

func (e *event) startsFor(of []string) bool {
	sent := e.starts()
	return len(sent) > 0 && strings.Contains(sent[0].body, fmt.Sprintf("%q", of[0]))
}
