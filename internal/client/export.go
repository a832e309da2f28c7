// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

// StaticExportJob is a static export job: the response of startStaticExport and
// getStaticExportJob.
type StaticExportJob struct {
	ID     string
	Status string
	// Progress is a percentage; nil if the service does not return it. The contract
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

// Documented reports whether services are known to use the status. The contract names only
// the final ones.
func (j *StaticExportJob) Documented() bool {
	return j.Finished() || j.Status == statusQueued || j.Status == "running"
}

// Bundle is a presigned link to the archive of a static export: the response of
// generateBundle. The link is a credential.
type Bundle struct {
	URL string
	// ExpiresAt is in UTC; zero if neither the service nor the link specifies it.
	ExpiresAt time.Time
	// SizeBytes is nil if the service does not return it.
	SizeBytes *int64
}

// StartStaticExport starts a job for a domain (startStaticExport). The parameters are a
// JSON object, or empty. Their members join the domain in the request body, and cannot
// replace it. The contract leaves open which ones the service accepts.
//
// The request is repeated only after a 429 or a connection that was never made. If ctx ends
// while it is in flight, StartStaticExport still waits for the response. After an error,
// [MayHaveStarted] reports whether a job may exist anyway.
func (c *Client) StartStaticExport(ctx context.Context, domain string, parameters json.RawMessage) (*StaticExportJob, error) {
	body, err := startBody(domain, parameters)
	if err != nil {
		return nil, err
	}
	req := transport.Request{Method: http.MethodPost, Path: []string{"static-export", "jobs"}, Body: body, Once: true}
	return call(ctx, c, start, req, func(r *record) (*StaticExportJob, error) {
		id, err := r.name("jobId")
		status, _ := r.name("status")
		return readJob(r, id, status), err
	})
}

func startBody(domain string, parameters json.RawMessage) ([]byte, error) {
	members := map[string]json.RawMessage{}
	if len(parameters) > 0 {
		if err := json.Unmarshal(parameters, &members); err != nil || members == nil {
			return nil, errors.New("the parameters are not a JSON object")
		}
	}
	members["domain"], _ = json.Marshal(domain) // of a string, which never fails
	return json.Marshal(members)
}

// GetStaticExportJob reads a job (getStaticExportJob).
func (c *Client) GetStaticExportJob(ctx context.Context, jobID string) (*StaticExportJob, error) {
	return call(ctx, c, plain, jobRequest(jobID), jobReader(jobID))
}

// FindStaticExportJob is [Client.GetStaticExportJob] for a job on which an export depends.
func (c *Client) FindStaticExportJob(ctx context.Context, jobID string) (*StaticExportJob, error) {
	return call(ctx, c, patient, jobRequest(jobID), jobReader(jobID))
}

func jobRequest(jobID string) transport.Request {
	return transport.Request{Method: http.MethodGet, Path: []string{"static-export", "jobs", jobID}}
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
		Error:      display.FieldMessage(r.fields["error"]),
		retryAfter: r.retryAfter,
	}
}

// GenerateBundle creates a link to the archive of a completed job (generateBundle).
// It does not change the job, so the request can be repeated.
func (c *Client) GenerateBundle(ctx context.Context, jobID string) (*Bundle, error) {
	return call(ctx, c, plain, bundleRequest(jobID), c.readBundle)
}

// WaitForBundle is [Client.GenerateBundle] for a link on which an export depends.
func (c *Client) WaitForBundle(ctx context.Context, jobID string) (*Bundle, error) {
	return call(ctx, c, patient, bundleRequest(jobID), c.readBundle)
}

func bundleRequest(jobID string) transport.Request {
	return transport.Request{Method: http.MethodPost, Path: []string{"static-export", "jobs", jobID, "bundle"}}
}

// Download describes a downloaded bundle.
type Download struct {
	SHA256    string // lowercase hexadecimal
	SizeBytes int64
}

// DownloadBundle downloads the bundle of a completed job into file, which must be empty.
// It creates a link of its own, and another one if the object store refuses it, as long as
// there is progress: the link or the credential that signed it may have expired, and the
// service may restore a deleted archive when it creates a link.
//
// The error is one of [Client.GenerateBundle], a [*StorageError] or [*ConnectionError], the
// [*os.PathError] of the file, or, if ctx ended it, context.Cause(ctx) or an [*EndedError].
func (c *Client) DownloadBundle(ctx context.Context, jobID string, file *os.File) (Download, error) {
	receiver := c.transport.NewReceiver(file)
	for before := int64(-1); ; before = receiver.Size() {
		bundle, err := c.GenerateBundle(ctx, jobID)
		if err != nil {
			return Download{}, err
		}
		err = c.receive(ctx, receiver, bundle.URL)
		if err == nil {
			return Download{SHA256: receiver.Sum(), SizeBytes: receiver.Size()}, nil
		}
		if status, _ := statusOf(err); status/100 != 4 || receiver.Size() <= before {
			return Download{}, err
		}
	}
}

// receive receives an object, or the rest of it, from one link. To receive the same bytes
// again is no progress: an object store without ranges may send the first half forever.
func (c *Client) receive(ctx context.Context, receiver *transport.Receiver, link string) error {
	furthest := receiver.Size()
	return c.loop(plain).Run(ctx, func(ctx context.Context) (retry.Observation, error) {
		err := receiver.Receive(ctx, link)
		seen := retry.Observation{Done: true, Advanced: receiver.Size() > furthest}
		furthest = max(furthest, receiver.Size())
		return seen, err
	})
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
	return &Bundle{URL: *link, ExpiresAt: *cmp.Or(r.instant("expiresAt"), &expiresAt), SizeBytes: r.count("sizeBytes")}, nil
}
