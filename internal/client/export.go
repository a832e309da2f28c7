// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"time"
)

// StaticExportJob is a static export job: the response of startStaticExport and
// getStaticExportJob.
type StaticExportJob struct {
	ID     string
	Status string
	// Progress is usually a percentage; nil if the service does not return it. The contract
	// leaves its type and unit open.
	Progress *float64
	// PageCount is the number of pages exported so far; nil if the service does not
	// return it.
	PageCount *int64
	// CreatedAt is in UTC; nil if the service does not return it.
	CreatedAt *time.Time
	// Error is the service's message about a failed job. It may be empty.
	Error string

	retryAfter time.Duration
}

// The final statuses of a static export job. Any other status means that the job is
// still running.
const (
	JobCompleted = "completed"
	JobFailed    = "failed"
)

// Finished reports whether the job has finished, successfully or not.
func (j *StaticExportJob) Finished() bool { return j.Status == JobCompleted || j.Status == JobFailed }

// Succeeded reports whether the job has completed, so that it has a bundle.
func (j *StaticExportJob) Succeeded() bool { return j.Status == JobCompleted }

// Documented reports whether the contract names the status. It defines the final ones, and
// calls the others typical.
func (j *StaticExportJob) Documented() bool {
	return j.Finished() || j.Status == statusQueued || j.Status == "running"
}

// Bundle is a presigned link to the archive of a static export: the response of
// generateBundle. The link is a credential.
type Bundle struct {
	URL  string
	link *url.URL // URL, parsed
	// ExpiresAt is in UTC; zero if neither the service nor the link specifies it.
	ExpiresAt time.Time
	// SizeBytes is nil if the service does not return it.
	SizeBytes *int64
}

// StartStaticExport starts a job for a domain (startStaticExport). The parameters are JSON
// values that join the domain in the request body, and cannot replace it. The contract leaves
// open which ones the service accepts.
//
// The request is repeated only after a 429 or a connection that was never made. If ctx ends
// while it is in flight, StartStaticExport still waits for the response. After an error,
// [MayHaveStarted] reports whether a job may exist anyway.
func (c *Client) StartStaticExport(ctx context.Context, domain string, parameters map[string]any) (*StaticExportJob, error) {
	fields := map[string]any{}
	maps.Copy(fields, parameters)
	fields["domain"] = domain
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	req := request{method: http.MethodPost, path: []string{"static-export", "jobs"}, body: body, once: true}
	return call(ctx, c, startRule, req, func(r *record) (*StaticExportJob, error) {
		id, err := r.name("jobId")
		status, _ := r.name("status")
		return readJob(r, id, status), err
	})
}

// ReadOptions configures [Client.GetStaticExportJob].
type ReadOptions struct {
	// Prompt means that a single "not found" is enough, because a person waits for the answer
	// or because the job is known to be missing.
	Prompt bool
}

// GetStaticExportJob reads a job (getStaticExportJob).
func (c *Client) GetStaticExportJob(ctx context.Context, jobID string, opts ReadOptions) (*StaticExportJob, error) {
	rule := plainRule
	if opts.Prompt {
		rule = promptRule
	}
	return call(ctx, c, rule, jobRequest(jobID), jobReader(jobID))
}

func jobRequest(jobID string) request {
	return request{method: http.MethodGet, path: []string{"static-export", "jobs", jobID}}
}

func jobReader(jobID string) func(*record) (*StaticExportJob, error) {
	return func(r *record) (*StaticExportJob, error) {
		status, err := r.name("status")
		return readJob(r, jobID, status), err
	}
}

func readJob(r *record, id, status string) *StaticExportJob {
	return &StaticExportJob{
		ID:         id,
		Status:     status,
		Progress:   r.number("progress"),
		PageCount:  r.count("pageCount"),
		CreatedAt:  r.instant("createdAt"),
		Error:      r.message("error"),
		retryAfter: r.retryAfter,
	}
}

// BundleOptions configures [Client.GenerateBundle].
type BundleOptions struct {
	// First means that an export depends on the link: it is the first one of a job that the
	// caller started. An error response then counts only after half a minute of such responses
	// in a row.
	First bool
}

// GenerateBundle creates a link to the archive of a completed job (generateBundle).
// It does not change the job, so the request can be repeated.
func (c *Client) GenerateBundle(ctx context.Context, jobID string, opts BundleOptions) (*Bundle, error) {
	rule := plainRule
	if opts.First {
		rule = patientRule
	}
	return call(ctx, c, rule, bundleRequest(jobID), c.readBundle)
}

func bundleRequest(jobID string) request {
	return request{method: http.MethodPost, path: []string{"static-export", "jobs", jobID, "bundle"}}
}

func (c *Client) readBundle(r *record) (*Bundle, error) {
	link := r.text("bundleUrl")
	if link == nil || *link == "" {
		return nil, errors.New(`the response has no field "bundleUrl"`)
	}
	u, err := url.Parse(*link)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New(`the field "bundleUrl" is not an absolute http or https URL`)
	case u.Scheme == "http" && c.baseURL.Scheme == "https":
		return nil, errors.New(`the field "bundleUrl" uses plain http instead of https`)
	}
	expiresAt := linkExpiry(u)
	return &Bundle{URL: *link, link: u, ExpiresAt: *cmp.Or(r.instant("expiresAt"), &expiresAt), SizeBytes: r.count("sizeBytes")}, nil
}
