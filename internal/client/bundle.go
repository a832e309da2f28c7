package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Bundle is a presigned link to the archive of a static export: the response of generateBundle. The link is a
// credential.
type Bundle struct {
	URL string
	// ExpiresAt is in UTC; zero if neither the service nor the link specifies it. If both do, it is the earlier time.
	ExpiresAt time.Time
	// SizeBytes is nil if the service does not return it.
	SizeBytes *int64

	link *url.URL // URL, as a request sends it
}

// GenerateBundle creates a link to the archive of a completed job (generateBundle). If the service accepts the request
// without a link (202), it asks again until there is one. It does not change the job, so the request can be repeated.
func (o *Operation) GenerateBundle(ctx context.Context, jobID string) (*Bundle, error) {
	return wait(ctx, o, o.bundleEndpoint(jobID), 0, final)
}

func (c *Client) bundleEndpoint(jobID string) endpoint[Bundle] {
	req := request{method: http.MethodPost, path: []string{"static-export", "jobs", jobID, "bundle"}}
	return endpoint[Bundle]{req, c.readBundle}
}

func (c *Client) readBundle(o *object) (*Bundle, error) {
	text := o.text("bundleUrl")
	if text == nil && o.accepted {
		return nil, errNotReady
	}
	if text == nil {
		return nil, errors.New(`the response has no field "bundleUrl"`)
	}
	link, err := url.Parse(escapeSpaces(*text))
	switch {
	case err != nil || link.Host == "" || link.Scheme != "https" && link.Scheme != "http":
		return nil, errors.New(`the field "bundleUrl" is not an absolute http or https URL`)
	case link.Scheme == "http" && c.baseURL.Scheme == "https":
		return nil, errors.New(`the field "bundleUrl" uses plain http instead of https`)
	}
	link.User = nil // net/http would turn it into an Authorization header
	bundle := &Bundle{URL: *text, ExpiresAt: linkExpiry(link), SizeBytes: o.count("sizeBytes"), link: link}
	stated := o.instant("expiresAt")
	if stated != nil && (bundle.ExpiresAt.IsZero() || stated.Before(bundle.ExpiresAt)) {
		bundle.ExpiresAt = *stated
	}
	return bundle, nil
}
