package export

import (
	"context"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Service is what an apply needs of a [client.Operation].
type Service interface {
	StartStaticExport(ctx context.Context, request client.StartRequest) (*client.StaticExportJob, error)
	WaitForStaticExport(ctx context.Context, jobID string, interval time.Duration) (*client.StaticExportJob, error)
	GenerateBundle(ctx context.Context, jobID string) (*client.Bundle, error)
}

// Run is one apply of an export. It changes the state with each event, so the state is right whenever the run ends.
type Run struct {
	*State
	Wanted       Wanted
	Service      Service
	Clock        clock.Clock
	PollInterval time.Duration // zero is adaptive: see [client.Operation.WaitForStaticExport]

	Replaced *Job // a result: what was missing, so the run started another job; or nil
}

// Failure is why an apply failed.
type Failure struct {
	Stage Stage
	Job   *Job                    // of the stage; nil for Starting
	Last  *client.StaticExportJob // the job as a wait last read it, or nil
	Cause error                   // nil if the job itself failed
}

// Stage is what an apply was doing when it failed.
type Stage int

// The stages.
const (
	Starting Stage = iota // starting a job
	Waiting               // waiting for Next
	Linking               // creating the first link of Next
	Renewing              // renewing the link of Current
)

// Missing reports whether the service did not find the job or its bundle. f may be nil.
func (f *Failure) Missing() bool { return f != nil && f.Job != nil && client.IsNotFound(f.Cause) }

// Create makes the first export. It resumes the job that was handed over, which has the wanted inputs and may be nil,
// and starts one if that is missing. Until it has started, the state keeps the missing one.
func (r *Run) Create(ctx context.Context, handed *Job) *Failure {
	if handed == nil {
		return r.start(ctx)
	}
	r.Next = handed
	return r.Take(ctx, Step{Action: Resume, AsksAgain: true})
}

// Take takes a step.
func (r *Run) Take(ctx context.Context, step Step) (failure *Failure) {
	switch step.Action {
	case None:
		return nil
	case Renew:
		failure = r.renew(ctx)
	case Resume:
		failure = r.finish(ctx)
	case Start:
		return r.start(ctx)
	}
	if step.AsksAgain && failure.Missing() {
		r.Replaced = failure.Job
		return r.start(ctx)
	}
	return failure
}

// start starts a job, which replaces Next, and finishes it.
func (r *Run) start(ctx context.Context) *Failure {
	inputs := r.Wanted.Inputs
	job, err := r.Service.StartStaticExport(ctx, inputs.Request)
	if err != nil {
		return &Failure{Stage: Starting, Cause: err}
	}
	r.Next = &Job{ID: job.ID, Inputs: inputs}
	r.Next.record(job)
	return r.finish(ctx)
}

// finish waits for Next, unless it has completed, and creates its link, which makes it Current.
func (r *Run) finish(ctx context.Context) *Failure {
	next := r.Next
	if !next.Completed() {
		job, err := r.Service.WaitForStaticExport(ctx, next.ID, r.PollInterval)
		if job != nil {
			next.record(job)
		}
		if err != nil || !job.Succeeded() {
			next.Missing = next.Missing || client.IsNotFound(err)
			return &Failure{Stage: Waiting, Job: next, Last: job, Cause: err}
		}
	}
	bundle, err := r.Service.GenerateBundle(ctx, next.ID)
	if err != nil {
		next.BundleMissing = next.BundleMissing || client.IsNotFound(err)
		return &Failure{Stage: Linking, Job: next, Cause: err}
	}
	next.Inputs = r.Wanted.Inputs // an import adopts the configured inputs
	r.Current, r.Next = next, nil
	r.link(bundle)
	return nil
}

// renew renews the link of Current.
func (r *Run) renew(ctx context.Context) *Failure {
	current, before := r.Current, r.Link.ExpiresAt
	bundle, err := r.Service.GenerateBundle(ctx, current.ID)
	if err != nil {
		current.BundleMissing = current.BundleMissing || client.IsNotFound(err)
		return &Failure{Stage: Renewing, Job: current, Cause: err}
	}
	r.link(bundle)
	now := r.Clock.Now()
	r.Link.Kept = r.Link.ExpiresAt.Equal(before) && now.Before(before) && r.Due(now, r.Wanted)
	return nil
}

// link records a new link of Current, of which nothing is missing then.
func (r *Run) link(bundle *client.Bundle) {
	r.Current.Marks = Marks{}
	r.Link = Link{URL: bundle.URL, ExpiresAt: bundle.ExpiresAt.Truncate(time.Second), Size: bundle.SizeBytes}
}
