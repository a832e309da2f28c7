package client

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// StaticExportJob is a static export job: the response of startStaticExport and getStaticExportJob. A field that the
// service does not return is nil or empty.
type StaticExportJob struct {
	ID        string
	Status    string
	Progress  *float64   // usually a percentage; the contract leaves its type and unit open
	PageCount *int64     // the pages exported so far
	CreatedAt *time.Time // in UTC
	Error     string     // the service's message about a failed job, redacted

	retryAfter time.Duration // how long the service asks to wait before the next poll
}

// The final statuses of a static export job. Any other status means that the job is still running.
const (
	JobCompleted = "completed"
	JobFailed    = "failed"

	jobQueued = "queued" // of a job that has not begun
)

// Finished reports whether the job has finished, successfully or not.
func (j *StaticExportJob) Finished() bool { return j.Status == JobCompleted || j.Status == JobFailed }

// Succeeded reports whether the job has completed, so that it has a bundle.
func (j *StaticExportJob) Succeeded() bool { return j.Status == JobCompleted }

// Documented reports whether the contract names the status. It defines the final ones, and calls the others typical.
func (j *StaticExportJob) Documented() bool {
	return j.Finished() || j.Status == jobQueued || j.Status == "running"
}

// StartStaticExport starts a job (startStaticExport). The body is a JSON object with the domain. The contract leaves
// open which other fields the service accepts.
//
// The request is repeated only after a 429 or a connection that was never made. If ctx ends after it was sent,
// StartStaticExport still waits for the response. After an error, [MayHaveStarted] reports whether a job may exist
// anyway.
func (c *Client) StartStaticExport(ctx context.Context, body []byte) (*StaticExportJob, error) {
	req := request{method: http.MethodPost, path: []string{"static-export", "jobs"}, body: body, once: true}
	job, err := call(ctx, c, operation[StaticExportJob]{req, func(o *object) (*StaticExportJob, error) {
		id, err := o.name("jobId")
		status, _ := o.status()
		return readJob(o, id, status), err
	}}, startLimits)
	if err == nil {
		c.log(ctx, slog.LevelInfo, "Started a static export job", map[string]any{"job_id": job.ID})
	}
	return job, err
}

// GetStaticExportJob reads a job (getStaticExportJob).
func (c *Client) GetStaticExportJob(ctx context.Context, jobID string) (*StaticExportJob, error) {
	return call(ctx, c, jobOperation(jobID), plainLimits)
}

func jobOperation(jobID string) operation[StaticExportJob] {
	req := request{method: http.MethodGet, path: []string{"static-export", "jobs", jobID}}
	return operation[StaticExportJob]{req, func(o *object) (*StaticExportJob, error) {
		status, err := o.status()
		return readJob(o, jobID, status), err
	}}
}

func readJob(o *object, id, status string) *StaticExportJob {
	return &StaticExportJob{
		ID: id, Status: status,
		Progress: o.number("progress"), PageCount: o.count("pageCount"), CreatedAt: o.instant("createdAt"),
		Error: o.message("error"), retryAfter: o.retryAfter,
	}
}
