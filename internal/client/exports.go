// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// StaticExportJob is a static export job (API document, section 2.2).
type StaticExportJob struct {
	ID     string
	Status string
	// Progress is in per cent, or nil where the service does not say. The
	// contract does not show its type and unit.
	Progress *float64
	// PageCount counts the pages exported so far, or is nil.
	PageCount *int64
	// Error is the service's own message for people, redacted; it may be empty
	// even if the job failed.
	Error string

	retryAfter time.Duration
}

// The status values that end a static export job (section 3.2). Every other value
// means that it still runs.
const (
	JobCompleted = "completed"
	JobFailed    = "failed"
)

// Finished reports whether the job has ended.
func (j *StaticExportJob) Finished() bool {
	return j.Status == JobCompleted || j.Status == JobFailed
}

// Succeeded reports whether the job has ended well, so that its bundle can be
// generated.
func (j *StaticExportJob) Succeeded() bool { return j.Status == JobCompleted }

// Bundle is a presigned link to the archive of a static export. The link is a
// credential.
type Bundle struct {
	URL string
	// ExpiresAt is in UTC by the service's clock; zero where neither the service
	// nor the link says it.
	ExpiresAt time.Time
	// SizeBytes is nil where the service does not say.
	SizeBytes *int64
}

// StartStaticExport starts a job (section 4.2) for a domain. Parameters are
// further members of the request body, which the contract leaves open. The
// request is sent once: it is repeated only where the service certainly did not
// act on it, and ctx ending does not cut off the wait for its answer, which is
// bounded by the request timeout.
//
// An error for which [MayHaveStarted] is true leaves open whether there is a job.
func (c *Client) StartStaticExport(ctx context.Context, domain string, parameters map[string]json.RawMessage) (*StaticExportJob, error) {
	members := map[string]json.RawMessage{}
	for name, value := range parameters {
		members[name] = value
	}
	var err error
	if members["domain"], err = json.Marshal(domain); err != nil {
		return nil, err
	}
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	var job *StaticExportJob
	err = c.do(ctx, call{method: http.MethodPost, path: []string{"static-export", "jobs"}, body: body, once: true},
		c.object(ctx, parsePartialRecord, func(r *record, retryAfter time.Duration) error {
			job = c.readJob(r, value(r.text("jobId")), retryAfter)
			return required(job.ID, "jobId")
		}))
	if err != nil {
		return nil, err
	}
	return job, nil
}

// GetStaticExportJob reads a job (section 4.3).
func (c *Client) GetStaticExportJob(ctx context.Context, jobID string) (*StaticExportJob, error) {
	var job *StaticExportJob
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"static-export", "jobs", jobID}},
		c.object(ctx, parseRecord, func(r *record, retryAfter time.Duration) error {
			job = c.readJob(r, jobID, retryAfter)
			return required(job.Status, "status")
		}))
	if err != nil {
		return nil, err
	}
	return job, nil
}

func (c *Client) readJob(r *record, jobID string, retryAfter time.Duration) *StaticExportJob {
	return &StaticExportJob{
		ID:         jobID,
		Status:     c.Redact(value(r.text("status"))),
		Progress:   r.number("progress"),
		PageCount:  r.count("pageCount"),
		Error:      c.Redact(r.message("error")),
		retryAfter: retryAfter,
	}
}

// GenerateBundle makes a link to the archive of a completed job (section 4.4).
// It may be repeated: the job and its files are not consumed.
func (c *Client) GenerateBundle(ctx context.Context, jobID string) (*Bundle, error) {
	var bundle *Bundle
	err := c.do(ctx, call{method: http.MethodPost, path: []string{"static-export", "jobs", jobID, "bundle"}},
		c.object(ctx, parseRecord, func(r *record, _ time.Duration) error {
			var err error
			bundle, err = readBundle(r)
			return err
		}))
	if err != nil {
		return nil, err
	}
	return bundle, nil
}

func readBundle(r *record) (*Bundle, error) {
	link := value(r.text("bundleUrl"))
	if err := required(link, "bundleUrl"); err != nil {
		return nil, err
	}
	// The parser's error would quote the link.
	u, err := url.Parse(link)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("its bundleUrl is not an absolute http or https URL")
	}
	bundle := &Bundle{URL: link, SizeBytes: r.count("sizeBytes")}
	if expiresAt := r.instant("expiresAt"); expiresAt != nil {
		bundle.ExpiresAt = *expiresAt
	} else if expiresAt, ok := linkExpiry(link); ok {
		bundle.ExpiresAt = expiresAt
	}
	return bundle, nil
}

// String keeps the link out of whatever prints a Bundle.
func (b Bundle) String() string {
	return fmt.Sprintf("bundle %s, expires at %s", redactURL(b.URL), b.ExpiresAt.Format(time.RFC3339))
}

// GoString is String, for %#v.
func (b Bundle) GoString() string { return b.String() }
