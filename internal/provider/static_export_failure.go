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
	baseURL string
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
func (f *exportFailure) describe() (summary string, text explanation) {
	var cause explanation
	if f.cause != nil {
		cause = explainExport(f.cause)
	}
	switch {
	case f.outcome == outcomeInDoubt && !failsAgain(f.cause): // the advice is for a repeated request
		cause.advice = ""
	case f.creates && f.outcome == outcomeTimedOut && f.stage != stageStart: // timeouts.create does not limit the resumed export
		cause.advice = ""
	}
	switch f.stage {
	case stageStart:
		summary, text = summaryStartFailed, f.describeStart(cause.advice)
	case stagePoll:
		summary, text = f.describePoll(cause.advice)
	case stageLink:
		summary, text = f.describeFirstLink(cause.advice)
	case stageRenewal:
		summary, text = f.describeRenewal(cause.advice)
	}
	text.what = paragraphs(cause.what, text.what)
	return summary, text
}

// describeStart describes the failed start of a job.
func (f *exportFailure) describeStart(advice string) explanation {
	noJob := "No job was started for " + f.domain + "."
	switch f.outcome {
	case outcomeInDoubt:
		return explanation{"A job may have been started for " + f.domain + ", but its ID was not received.", sentences(advice,
			"Before you run \"terraform apply\" again, look in the service's dashboard for a job that this run may have started. See \"A job may have been started\" in "+errorsPage+".")}
	case outcomeGone:
		return explanation{noJob, fmt.Sprintf(
			"Check that the organization of the API key owns the domain, and that base_url (%s) is the base URL of the API with its version segment.", f.baseURL)}
	}
	return explanation{noJob, advice}
}

// failsAgain reports whether another start would fail in the same way, because base_url is not that
// of the API, or the API does not match its contract.
func failsAgain(cause error) bool {
	_, unusable := errors.AsType[*client.UnexpectedResponseError](cause)
	api, ok := errors.AsType[*client.APIError](cause)
	return unusable || ok && api.StatusCode/100 == 3
}

// describePoll describes a wait for a job that failed, or the failure of the job.
func (f *exportFailure) describePoll(advice string) (summary string, text explanation) {
	progress := progressOf(f.jobID, f.job)
	switch f.outcome {
	case outcomeFailed:
		return summaryJobFailed, explanation{failureOf(f.job), "Fix the site, then run \"terraform apply\" again, which starts another job."}
	case outcomeGone:
		return summaryJobNotFound, explanation{requestFor(f.jobID), sentences(lookUp(f.jobID), f.howToResume())}
	case outcomeInterrupted:
		return summaryExportInterrupted, explanation{progress, f.howToResume()}
	case outcomeTimedOut:
		if f.job != nil && !f.job.Documented() {
			advice = "To see whether the job has ended, look for job " + f.jobID + " in the service's dashboard."
		}
		return summaryExportTimedOut, explanation{progress, sentences(advice, f.howToResume())}
	}
	return summaryExportFailed, explanation{progress, sentences(advice, f.howToResume())}
}

// describeFirstLink describes a failed request for the first link to a bundle.
func (f *exportFailure) describeFirstLink(advice string) (summary string, text explanation) {
	noLink := "Job " + f.jobID + " completed, but no link was received."
	switch f.outcome {
	case outcomeGone:
		return summaryLinkFailed, explanation{noLink, sentences(lookUp(f.jobID), f.howToResume())}
	case outcomeInterrupted:
		return summaryExportInterrupted, explanation{noLink, f.howToResume()}
	}
	return summaryLinkFailed, explanation{noLink, sentences(advice, f.howToResume())}
}

// describeRenewal describes a failed renewal of a link.
func (f *exportFailure) describeRenewal(advice string) (summary string, text explanation) {
	next := sentences(advice, nextTry)
	switch f.outcome {
	case outcomeGone:
		next = sentences(lookUp(f.jobID), ifStillMissing)
	case outcomeInterrupted:
		next = nextTry
	}
	return summaryRenewalFailed, explanation{requestFor(f.jobID), next}
}

func requestFor(jobID string) string { return "The request was for job " + jobID + "." }

func lookUp(jobID string) string {
	return "Check base_url and the API key, and look for job " + jobID + " in the service's dashboard."
}

const (
	nextTry         = "The next apply tries again."
	ifStillMissing  = "If the service still cannot find the job or its bundle, the next apply exports the site again."
	resumeByApply   = "To resume the same job, run \"terraform apply\" again."
	resumeByUntaint = "To resume this job instead of starting another one, run \"terraform untaint ADDRESS\" for this resource, then run \"terraform apply\" again."
	resumedTimeout  = "timeouts.update, not timeouts.create, limits the resumed export: increase it if necessary."
)

// howToResume says how to continue with the job of a failure.
func (f *exportFailure) howToResume() string {
	_, refused := errors.AsType[*client.APIError](f.cause)
	switch {
	case f.creates && f.outcome == outcomeGone:
		return sentences(resumeByUntaint, ifStillMissing)
	case f.creates && f.outcome == outcomeTimedOut:
		return sentences(resumeByUntaint, resumedTimeout)
	case f.creates && f.outcome != outcomeInterrupted:
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
