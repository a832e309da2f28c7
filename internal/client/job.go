package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

// StaticExportJob is a static export job: the response of startStaticExport and getStaticExportJob. A field that the
// service does not return is nil or empty.
type StaticExportJob struct {
	ID        string
	Status    string
	Progress  *float64   // usually a percentage; the contract leaves its type and unit open
	PageCount *int64     // the pages exported so far
	CreatedAt *time.Time // in UTC
	// Error is the service's message about a failed job. Message is the same, redacted, for people.
	Error, Message string

	retryAfter time.Duration // how long the service asks to wait before the next poll
}

// JobCompleted is the status of a job that has a bundle. [HasFailed] tells the other final ones.
const (
	JobCompleted = "completed"

	jobQueued = "queued" // of a job that has not begun
)

// Finished reports whether the job has finished, successfully or not.
func (j *StaticExportJob) Finished() bool { return j.Succeeded() || HasFailed(j.Status) }

// Succeeded reports whether the job has completed, so that it has a bundle.
func (j *StaticExportJob) Succeeded() bool { return j.Status == JobCompleted }

// Documented reports whether the status is final, or one that the contract names.
func (j *StaticExportJob) Documented() bool {
	return j.Finished() || j.Status == jobQueued || j.Status == "running"
}

// StartRequest is the request of startStaticExport: a JSON object without insignificant whitespace and with sorted
// fields, so that equal requests are equal values.
type StartRequest string

// NewStartRequest returns the request for a domain, and for parameters: a JSON object with more fields. The contract
// leaves open which ones the service accepts. Numbers are not rounded. The error is a clause that says what is wrong
// with the parameters.
func NewStartRequest(domain, parameters string) (StartRequest, error) {
	decoder := json.NewDecoder(strings.NewReader(parameters))
	decoder.UseNumber()
	var fields map[string]any
	err := decoder.Decode(&fields)
	if _, end := decoder.Token(); err != nil || end != io.EOF || fields == nil {
		return "", errors.New("they are not a JSON object")
	}
	if _, found := fields["domain"]; found {
		return "", errors.New("they contain \"domain\", which has an argument of its own")
	}
	fields["domain"] = domain
	text, _ := json.Marshal(fields) // decoded JSON, which never fails
	return StartRequest(text), nil
}

// StartStaticExport starts a job (startStaticExport).
//
// The request is repeated only after a 429, or what means the same, or a connection that was never made. If ctx ends
// after it was sent, StartStaticExport still waits for the response, for another request timeout. After an error,
// [MayHaveStarted] reports whether a job may exist anyway.
func (o *Operation) StartStaticExport(ctx context.Context, start StartRequest) (*StaticExportJob, error) {
	req := request{method: http.MethodPost, path: []string{"static-export", "jobs"}, body: []byte(start), once: true}
	job, err := call(ctx, o, endpoint[StaticExportJob]{req, func(o *object) (*StaticExportJob, error) {
		id, err := o.name("jobId")
		status, _ := o.status()
		return readJob(o, id, status), err
	}})
	if err == nil {
		o.log(ctx, slog.LevelInfo, "Started a static export job", map[string]any{"job_id": job.ID})
	}
	return job, err
}

// GetStaticExportJob reads a job (getStaticExportJob).
func (o *Operation) GetStaticExportJob(ctx context.Context, jobID string) (*StaticExportJob, error) {
	return call(ctx, o, jobEndpoint(jobID))
}

// WaitForStaticExport polls a job until it finishes, successfully or not. An interval of zero adapts to the elapsed
// time and the progress.
//
// It returns the job as it was last read, even with an error, or nil if it was never read. A failed job is not an
// error.
func (o *Operation) WaitForStaticExport(
	ctx context.Context, jobID string, interval time.Duration,
) (*StaticExportJob, error) {
	var last StaticExportJob
	return wait(ctx, o, jobEndpoint(jobID), interval, func(job *StaticExportJob) (observation, bool) {
		if job.PageCount == nil {
			job.PageCount = last.PageCount // the contract promises it only while the job runs
		}
		newStatus := job.Status != last.Status
		if newStatus || !equal(job.Progress, last.Progress) || !equal(job.PageCount, last.PageCount) {
			unknown := newStatus && !job.Documented()
			o.logProgress(ctx, "static export job "+jobID, job.Status, unknown, job.Progress, job.PageCount)
		}
		last = *job
		return observation{job.Status == jobQueued, job.Progress, job.retryAfter}, job.Finished()
	})
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func jobEndpoint(jobID string) endpoint[StaticExportJob] {
	req := request{method: http.MethodGet, path: []string{"static-export", "jobs", jobID}}
	return endpoint[StaticExportJob]{req, func(o *object) (*StaticExportJob, error) {
		status, err := o.status()
		return readJob(o, jobID, status), err
	}}
}

func readJob(o *object, id, status string) *StaticExportJob {
	message := display.FieldMessage(o.fields["error"])
	return &StaticExportJob{
		ID: id, Status: status,
		Progress: o.number("progress"), PageCount: o.count("pageCount"), CreatedAt: o.instant("createdAt"),
		Error: message, Message: o.redactor.Redact(message), retryAfter: o.retryAfter,
	}
}
