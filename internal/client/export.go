package client

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
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
	Error     string     // the service's message about a failed job, redacted
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

// Bundle is a presigned link to the archive of a static export: the response of generateBundle. The link is a
// credential.
type Bundle struct {
	URL string
	// ExpiresAt is in UTC; zero if neither the service nor the link specifies it. If both do, it is the earlier time.
	ExpiresAt time.Time
	// UnreadableExpiry is what the service returned as the expiry, redacted, if it is not a time in any known form;
	// otherwise empty.
	UnreadableExpiry string
	// SizeBytes is nil if the service does not return it.
	SizeBytes *int64
}

// StartStaticExport starts a job (startStaticExport). body is the JSON object of the request, with the domain.
func (c *Client) StartStaticExport(ctx context.Context, body []byte) (*StaticExportJob, error) {
	req := request{method: http.MethodPost, path: []string{"static-export", "jobs"}, body: body, once: true}
	job, _, err := call(ctx, c, operation[StaticExportJob]{req, func(o *object) (*StaticExportJob, error) {
		id, err := o.name("jobId")
		status, _ := c.status(o)
		return c.readJob(o, id, status), err
	}}, starting)
	if err == nil {
		c.log(ctx, slog.LevelInfo, "Started a static export job", map[string]any{"job_id": job.ID})
	}
	return job, err
}

// GetStaticExportJob reads a job (getStaticExportJob).
func (c *Client) GetStaticExportJob(ctx context.Context, jobID string) (*StaticExportJob, error) {
	job, _, err := call(ctx, c, c.jobOperation(jobID), Plain)
	return job, err
}

func (c *Client) jobOperation(jobID string) operation[StaticExportJob] {
	req := request{method: http.MethodGet, path: []string{"static-export", "jobs", jobID}}
	return operation[StaticExportJob]{req, func(o *object) (*StaticExportJob, error) {
		status, err := c.status(o)
		return c.readJob(o, jobID, status), err
	}}
}

func (c *Client) readJob(o *object, id, status string) *StaticExportJob {
	return &StaticExportJob{
		ID: id, Status: status,
		Progress: o.number("progress"), PageCount: o.count("pageCount"), CreatedAt: o.instant("createdAt"),
		Error: c.Redact(display.FieldMessage(o.fields["error"])),
	}
}

// GenerateBundle creates a link to the archive of a completed job (generateBundle). It does not change the job, so
// the request can be repeated.
func (c *Client) GenerateBundle(ctx context.Context, jobID string) (*Bundle, error) {
	bundle, _, err := call(ctx, c, c.bundleOperation(jobID), Plain)
	return bundle, err
}

func (c *Client) bundleOperation(jobID string) operation[Bundle] {
	req := request{method: http.MethodPost, path: []string{"static-export", "jobs", jobID, "bundle"}}
	return operation[Bundle]{req, c.readBundle}
}

func (c *Client) readBundle(o *object) (*Bundle, error) {
	link := o.text("bundleUrl")
	if link == nil {
		return nil, errors.New(`the response has no field "bundleUrl"`)
	}
	u, err := url.Parse(*link)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New(`the field "bundleUrl" is not an absolute http or https URL`)
	case u.Scheme == "http" && c.baseURL.Scheme == "https":
		return nil, errors.New(`the field "bundleUrl" uses plain http instead of https`)
	}
	bundle := &Bundle{URL: *link, ExpiresAt: linkExpiry(u), SizeBytes: o.count("sizeBytes")}
	if stated := o.instant("expiresAt"); stated == nil {
		if value := o.fields["expiresAt"]; value != nil {
			bundle.UnreadableExpiry = c.Redact(display.FieldMessage(value))
		}
	} else if bundle.ExpiresAt.IsZero() || stated.Before(bundle.ExpiresAt) {
		bundle.ExpiresAt = *stated
	}
	return bundle, nil
}
