// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// UpdateStatus is the update status record (API document, section 2.1). The
// contract does not say which fields are always present: a field that is
// missing, null or of no use is nil, but Status is always there.
type UpdateStatus struct {
	ID              *string
	ProjectID       *string
	CreatedAt       *string
	EndedAt         *string
	Status          string
	Summary         *string
	Logs            []string
	Subdomain       *string
	Screenshot      *string
	ScreenshotLight *string
	ScreenshotDark  *string
	Author          *Author
	Commit          *Commit
	Source          *string

	retryAfter time.Duration
}

// Author is the author of an update.
type Author struct {
	Name      *string
	AvatarURL *string
	VCSUserID *int64
}

// Commit is the commit of an update.
type Commit struct {
	SHA          *string
	Ref          *string
	Message      *string
	FilesChanged *FilesChanged
}

// FilesChanged lists the files that a commit changed; a list that is missing
// is nil.
type FilesChanged struct {
	Added    []string
	Modified []string
	Removed  []string
}

// The status values that end an update (API document, section 3.1). Every other
// value means that it still runs.
const (
	UpdateSucceeded = "success"
	UpdateFailed    = "failure"
)

// Finished reports whether the update has ended.
func (u *UpdateStatus) Finished() bool {
	return u.Status == UpdateSucceeded || u.Status == UpdateFailed
}

// Succeeded reports whether the update has ended well.
func (u *UpdateStatus) Succeeded() bool { return u.Status == UpdateSucceeded }

// GetUpdateStatus reads an update (section 4.1).
func (c *Client) GetUpdateStatus(ctx context.Context, statusID string) (*UpdateStatus, error) {
	var update *UpdateStatus
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"project", "update-status", statusID}},
		c.object(ctx, parseRecord, func(r *record, retryAfter time.Duration) error {
			update = readUpdate(r)
			update.Status = c.Redact(update.Status)
			update.retryAfter = retryAfter
			return required(update.Status, "status")
		}))
	if err != nil {
		return nil, err
	}
	return update, nil
}

func readUpdate(r *record) *UpdateStatus {
	update := &UpdateStatus{
		ID:              r.text("_id"),
		ProjectID:       r.text("projectId"),
		CreatedAt:       r.text("createdAt"),
		EndedAt:         r.text("endedAt"),
		Status:          value(r.text("status")),
		Summary:         r.text("summary"),
		Logs:            r.texts("logs"),
		Subdomain:       r.text("subdomain"),
		Screenshot:      r.text("screenshot"),
		ScreenshotLight: r.text("screenshotLight"),
		ScreenshotDark:  r.text("screenshotDark"),
		Source:          r.text("source"),
	}
	if author := r.object("author"); author != nil {
		update.Author = &Author{
			Name:      author.text("name"),
			AvatarURL: author.text("avatarUrl"),
			VCSUserID: author.integer("vcsUserId"),
		}
	}
	if commit := r.object("commit"); commit != nil {
		update.Commit = &Commit{
			SHA:     commit.text("sha"),
			Ref:     commit.text("ref"),
			Message: commit.text("message"),
		}
		if files := commit.object("filesChanged"); files != nil {
			update.Commit.FilesChanged = &FilesChanged{
				Added:    files.texts("added"),
				Modified: files.texts("modified"),
				Removed:  files.texts("removed"),
			}
		}
	}
	return update
}

// object makes the decoder of a call that answers with one JSON object. Fields
// that were there but of no use are logged once for each answer.
func (c *Client) object(ctx context.Context, parse func([]byte) (*record, bool), read func(*record, time.Duration) error) func([]byte, time.Duration) error {
	return func(body []byte, retryAfter time.Duration) error {
		r, ok := parse(body)
		if !ok {
			return errors.New(describeBody(body))
		}
		err := read(r, retryAfter)
		if len(*r.unread) > 0 {
			c.log.Warn(ctx, "fields of the answer could not be read and count as missing", map[string]any{"fields": *r.unread})
		}
		return err
	}
}

// required is the problem of an answer without a field that the contract
// promises.
func required(value, name string) error {
	if value == "" {
		return errors.New("the answer has no " + name)
	}
	return nil
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
