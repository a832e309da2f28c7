package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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

// StartRequest is the request of startStaticExport.
type StartRequest struct {
	Domain string
	// Parameters is a JSON object with more fields of the request, or "". The contract leaves open which ones the
	// service accepts.
	Parameters string
}

func (r StartRequest) encode() ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(cmp.Or(r.Parameters, "{}")), &fields); err != nil || fields == nil {
		return nil, errors.New("the parameters are not a JSON object")
	}
	fields["domain"], _ = json.Marshal(r.Domain) // a string, which never fails
	return json.Marshal(fields)
}

// StartStaticExport starts a job (startStaticExport).
//
// The request is repeated only after a 429 or a connection that was never made. If ctx ends after it was sent,
// StartStaticExport still waits for the response. After an error, [MayHaveStarted] reports whether a job may exist
// anyway.
func (c *Client) StartStaticExport(ctx context.Context, start StartRequest) (*StaticExportJob, error) {
	body, err := start.encode()
	if err != nil {
		return nil, err
	}
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
