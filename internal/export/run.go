package export

import (
	"context"
	"errors"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Service is what an apply needs of [client.Client].
type Service interface {
	StartStaticExport(ctx context.Context, body []byte) (*client.StaticExportJob, error)
	WaitForStaticExport(ctx context.Context, jobID string, interval time.Duration) (*client.StaticExportJob, error)
	GenerateBundle(ctx context.Context, jobID string) (*client.Bundle, error)
}

// Run is one apply of an export. It changes the state with each event, so the state is right whenever the run ends.
type Run struct {
	*State
	Wanted       Wanted
	Service      Service
	Clock        clock.Clock
	PollInterval time.Duration // zero is adaptive: see [client.Client.WaitForStaticExport]
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

// Create resumes the jobs for the wanted inputs that were handed over, one after the other, until one is not missing.
// If there is none, Create starts a job. A job that was handed over stays until another one has started.
func (r *Run) Create(ctx context.Context, handover *Handover) *Failure {
	for job := handover.take(r.Wanted); job != nil; job = handover.take(r.Wanted) {
		r.Next = job
		if failure := r.finish(ctx); !failure.Missing() {
			return failure
		}
	}
	return r.start(ctx)
}

// Take takes a step. If what the step asks for is missing, and the plan has not promised that the shown job stays,
// Take starts another job.
func (r *Run) Take(ctx context.Context, step Step) (failure *Failure) {
	promised := r.KeepsShown(step)
	switch step {
	case None:
		return nil
	case Renew:
		failure = r.renew(ctx)
	case Resume:
		failure = r.finish(ctx)
	case Start:
		return r.start(ctx)
	}
	if failure.Missing() && !promised {
		return r.start(ctx)
	}
	return failure
}

// start starts a job, which replaces Next, and finishes it.
func (r *Run) start(ctx context.Context) *Failure {
	inputs := r.Wanted.Inputs
	job, err := r.Service.StartStaticExport(ctx, inputs.body())
	if err != nil {
		return &Failure{Stage: Starting, Cause: err}
	}
	r.Next = &Job{ID: job.ID, Inputs: inputs}
	r.Next.Record(job)
	_ = r.Clock.Sleep(ctx, time.Second) // the first poll says whether ctx has ended
	return r.finish(ctx)
}

// finish waits for Next and creates its link, which makes it Current. It does not wait for a job that is known to have
// completed and was not missing since.
func (r *Run) finish(ctx context.Context) *Failure {
	next := r.Next
	if !next.Completed() || next.Missing {
		job, err := r.Service.WaitForStaticExport(ctx, next.ID, r.PollInterval)
		if job != nil {
			next.Record(job)
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
	next.Inputs, next.Marks = r.Wanted.Inputs, Marks{} // an import adopts the configured inputs
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
	current.BundleMissing = false
	r.link(bundle)
	r.Link.Kept = !before.IsZero() && r.Link.ExpiresAt.Equal(before) && r.Clock.Now().Before(before)
	return nil
}

// link records a new link of Current.
func (r *Run) link(bundle *client.Bundle) {
	r.Link = Link{URL: bundle.URL, ExpiresAt: bundle.ExpiresAt.Truncate(time.Second), Size: bundle.SizeBytes}
}

// RenewOld renews the link of Current if it is due, because it stays in use after another job has failed. ctx is not
// limited by the timeout of the apply: RenewOld takes half a minute at most. It does not report a failure, because
// the next apply tries again.
func (r *Run) RenewOld(ctx context.Context, failure *Failure) {
	switch {
	case r.Current == nil, r.Current.Gone(), r.Current.Failed(), !r.Due(r.Clock.Now(), r.Wanted):
		return
	case failure.Stage == Renewing, errors.Is(failure.Cause, context.Canceled):
		return
	}
	ctx, cancel := r.Clock.WithTimeout(ctx, 30*time.Second, context.DeadlineExceeded)
	defer cancel()
	_ = r.renew(ctx)
}
