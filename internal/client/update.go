package client

import (
	"context"
	"net/http"
	"time"
)

// UpdateStatus is an update: the response of getUpdateStatus. A field that is missing, null, or unreadable is nil.
// Status is always set.
type UpdateStatus struct {
	ID, ProjectID, CreatedAt, EndedAt           *string
	Status                                      string
	Summary                                     *string
	Logs                                        []string
	Subdomain                                   *string
	Screenshot, ScreenshotLight, ScreenshotDark *string
	Author                                      *Author
	Commit                                      *Commit
	Source                                      *string

	retryAfter time.Duration // how long the service asks to wait before the next poll
}

// Author is the author of an update.
type Author struct {
	Name      *string
	AvatarURL *string
	VCSUserID *int64
}

// Commit is the commit that an update deploys.
type Commit struct {
	SHA, Ref, Message *string
	FilesChanged      *FilesChanged
}

// FilesChanged lists the files that a commit changed.
type FilesChanged struct {
	Added    []string
	Modified []string
	Removed  []string
}

const updateSucceeded = "success" // [HasFailed] tells the other final statuses

// Finished reports whether the update has finished, successfully or not.
func (u *UpdateStatus) Finished() bool { return u.Succeeded() || HasFailed(u.Status) }

// Succeeded reports whether the update has succeeded.
func (u *UpdateStatus) Succeeded() bool { return u.Status == updateSucceeded }

// Documented reports whether the status is final, or one that the contract names.
func (u *UpdateStatus) Documented() bool {
	return u.Finished() || u.Status == "queued" || u.Status == "in_progress"
}

// GetUpdateStatus reads an update (getUpdateStatus).
func (o *Operation) GetUpdateStatus(ctx context.Context, statusID string) (*UpdateStatus, error) {
	return call(ctx, o, updateEndpoint(statusID))
}

// WaitForUpdate polls an update until it finishes, successfully or not. It calls onUpdate, which may be nil, each
// time the status changes. It returns the same results as [Operation.WaitForStaticExport].
func (o *Operation) WaitForUpdate(
	ctx context.Context, statusID string, interval time.Duration, onUpdate func(*UpdateStatus),
) (*UpdateStatus, error) {
	status := ""
	return wait(ctx, o, updateEndpoint(statusID), interval, func(update *UpdateStatus) (observation, bool) {
		if update.Status != status {
			status = update.Status
			o.logProgress(ctx, "update "+statusID, status, !update.Documented(), nil, nil)
			if onUpdate != nil {
				onUpdate(update)
			}
		}
		return observation{retryAfter: update.retryAfter}, update.Finished()
	})
}

func updateEndpoint(statusID string) endpoint[UpdateStatus] {
	req := request{method: http.MethodGet, path: []string{"project", "update-status", statusID}}
	return endpoint[UpdateStatus]{req, readUpdate}
}

func readUpdate(o *object) (*UpdateStatus, error) {
	status, err := o.status()
	update := &UpdateStatus{
		ID: o.text("_id"), ProjectID: o.text("projectId"), CreatedAt: o.text("createdAt"), EndedAt: o.text("endedAt"),
		Status: status, Summary: o.text("summary"), Logs: o.texts("logs"),
		Subdomain: o.text("subdomain"), Source: o.text("source"), Screenshot: o.text("screenshot"),
		ScreenshotLight: o.text("screenshotLight"), ScreenshotDark: o.text("screenshotDark"),
		retryAfter: o.retryAfter,
	}
	if author := o.object("author"); author != nil {
		update.Author = &Author{
			Name: author.text("name"), AvatarURL: author.text("avatarUrl"), VCSUserID: author.count("vcsUserId"),
		}
	}
	if commit := o.object("commit"); commit != nil {
		update.Commit = &Commit{SHA: commit.text("sha"), Ref: commit.text("ref"), Message: commit.text("message")}
		if files := commit.object("filesChanged"); files != nil {
			update.Commit.FilesChanged = &FilesChanged{
				Added: files.texts("added"), Modified: files.texts("modified"), Removed: files.texts("removed"),
			}
		}
	}
	return update, err
}
