package provider

import (
	"errors"
	"fmt"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// exportFailure is why an export failed. Only Create and Update turn it into a diagnostic,
// because only they know what the state holds afterwards.
type exportFailure struct {
	stage   exportStage
	outcome exportOutcome
	cause   error // nil if the job failed
	domain  string
	jobID   string                  // "" for a start
	job     *client.StaticExportJob // as a wait last read it, or nil
	creates bool                    // so Terraform taints the resource after an error
}

// exportStage is what an export was doing when it failed.
type exportStage int

const (
	stageStart   exportStage = iota // starting the job
	stagePoll                       // waiting for the job
	stageLink                       // creating the first link to the bundle
	stageRenewal                    // renewing the link
)

// exportOutcome is how a stage ended.
type exportOutcome int

const (
	outcomeOther       exportOutcome = iota
	outcomeFailed                    // the job itself
	outcomeInDoubt                   // the service may have started a job
	outcomeGone                      // the service could not find the job or its bundle
	outcomeInterrupted               // by the user
	outcomeTimedOut                  // the operation
)

// outcomeOf returns how a stage ended; cause is nil if the job failed.
func outcomeOf(stage exportStage, cause error) exportOutcome {
	switch {
	case cause == nil:
		return outcomeFailed
	case stage == stageStart && client.MayHaveStarted(cause):
		return outcomeInDoubt
	case client.IsNotFound(cause):
		return outcomeGone
	case interrupted(cause):
		return outcomeInterrupted
	case timedOut(cause):
		return outcomeTimedOut
	}
	return outcomeOther
}

// describe returns the summary of a diagnostic about the failure, and what is known of the job and
// what to do next. The diagnostic also says what the state holds.
func (f *exportFailure) describe(c *client.Client) (summary string, text explanation) {
	var cause explanation
	if f.cause != nil {
		cause = explain(f.cause)
		if f.stage == stageStart {
			cause = explainExport(f.cause)
		}
	}
	summary, known, next := f.describeStage(c, cause.advice)
	return summary, explanation{paragraphs(cause.what, known), next}
}

// describeStage is the table of failures: the summary, what is known of the job, and what to do next,
// for each stage and outcome. The advice is that of the cause.
func (f *exportFailure) describeStage(c *client.Client, advice string) (summary, known, next string) {
	lookUp := "Check base_url and the API key, and look for job " + f.jobID + " in the service's dashboard."
	resume := f.howToResume()
	request := "The request was for job " + f.jobID + "."
	if f.creates && f.outcome == outcomeTimedOut && f.stage != stageStart {
		advice = "" // timeouts.create does not limit the resumed export
	}
	switch f.stage {
	case stageStart:
		noJob := "No job was started for " + f.domain + "."
		switch f.outcome {
		case outcomeInDoubt:
			if !failsAgain(f.cause) { // then the advice is only for a repeated request
				advice = ""
			}
			return summaryStartFailed, "A job may have been started for " + f.domain + ", but its ID was not received.", sentences(advice,
				"Before you run \"terraform apply\" again, look in the service's dashboard for a job that this run may have started. See \"A job may have been started\" in "+errorsPage+".")
		case outcomeGone:
			return summaryStartFailed, noJob, fmt.Sprintf(
				"Check that the organization of the API key owns the domain, and that base_url (%s) is the base URL of the API with its version segment.", c.BaseURL())
		}
		return summaryStartFailed, noJob, advice
	case stagePoll:
		progress := progressOf(f.jobID, f.job)
		switch f.outcome {
		case outcomeFailed:
			return summaryJobFailed, failureOf(c, f.job), "Fix the site, then run \"terraform apply\" again, which starts another job."
		case outcomeGone:
			return summaryJobNotFound, request, sentences(lookUp, resume)
		case outcomeInterrupted:
			return summaryExportInterrupted, progress, resume
		case outcomeTimedOut:
			if f.job != nil && !f.job.Documented() {
				advice = "To see whether the job has ended, look for job " + f.jobID + " in the service's dashboard."
			}
			return summaryExportTimedOut, progress, sentences(advice, resume)
		}
		return summaryExportFailed, progress, sentences(advice, resume)
	case stageLink:
		noLink := "Job " + f.jobID + " completed, but no link was received."
		switch f.outcome {
		case outcomeGone:
			return summaryLinkFailed, noLink, sentences(lookUp, resume)
		case outcomeInterrupted:
			return summaryExportInterrupted, noLink, resume
		}
		return summaryLinkFailed, noLink, sentences(advice, resume)
	default: // stageRenewal
		switch f.outcome {
		case outcomeGone:
			return summaryRenewalFailed, request, sentences(lookUp, ifStillMissing)
		case outcomeInterrupted:
			return summaryRenewalFailed, request, nextTry
		}
		return summaryRenewalFailed, request, sentences(advice, nextTry)
	}
}

// failsAgain reports whether another start would fail in the same way, because base_url is not that
// of the API, or the API does not match its contract.
func failsAgain(cause error) bool {
	_, unusable := errors.AsType[*client.UnexpectedResponseError](cause)
	api, ok := errors.AsType[*client.APIError](cause)
	return unusable || ok && api.StatusCode/100 == 3
}

const (
	nextTry         = "The next apply tries again."
	ifStillMissing  = "If the service still cannot find the job or its bundle, the next apply exports the site again."
	resumeByApply   = "To resume this job, run \"terraform apply\" again."
	ifTainted       = "If the plan shows the resource as tainted, do not apply the plan. First run \"terraform untaint ADDRESS\" for this resource."
	resumeByUntaint = "To resume this job instead of starting another one, run \"terraform untaint ADDRESS\" for this resource, then run \"terraform apply\" again."
	resumedTimeout  = "The resumed export is limited by timeouts.update, not by timeouts.create. If necessary, increase timeouts.update."
)

// howToResume says how to continue with the job of a failure.
func (f *exportFailure) howToResume() string {
	_, refused := errors.AsType[*client.APIError](f.cause)
	switch {
	case f.creates && f.outcome == outcomeGone:
		return sentences(resumeByUntaint, ifStillMissing)
	case f.creates && f.outcome == outcomeTimedOut:
		return sentences(resumeByUntaint, resumedTimeout)
	case f.creates && f.outcome == outcomeInterrupted: // tainted only if it has a provisioner
		return sentences(resumeByApply, ifTainted)
	case f.creates:
		return resumeByUntaint
	case f.outcome == outcomeGone:
		return ifStillMissing
	case refused:
		return sentences(resumeByApply, "To start another one instead, change triggers.")
	}
	return resumeByApply
}

// describeLink describes the link in the state after a failure. The provider does not know
// whether the link works.
func describeLink(link exportLink, now time.Time) string {
	expiresAt := link.ExpiresAt.Format(time.RFC3339)
	switch {
	case link.URL == "":
		return "The state has no link yet."
	case link.ExpiresAt.IsZero():
		return "The state keeps the existing link, whose expiry is unknown."
	case now.Before(link.ExpiresAt):
		return "The link in the state expires at " + expiresAt + "."
	}
	return "The link in the state expired at " + expiresAt + "."
}
