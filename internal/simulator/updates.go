// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"cmp"
	"maps"
	"net/http"
	"time"
)

// UpdateSpec is the shape of an update of a site (section 2.1 of the API). The
// zero value is an update with every field of the record. Forever as Queue or
// Run keeps an update in that state.
type UpdateSpec struct {
	// ID is the status identifier; one is made if empty.
	ID string
	// Queue and Run are how long the update is queued and then in progress:
	// as in Options if zero, not at all if negative.
	Queue, Run time.Duration
	// Fail, unless empty, makes the update fail at the end of its run, with
	// this as its summary and the last line of its log.
	Fail string
	// QueuedStatus and RunningStatus are shown in place of "queued" and
	// "in_progress".
	QueuedStatus, RunningStatus string
	// StartedAt is when the update was queued; now if zero.
	StartedAt time.Time
	// Fields are members of the record in place of the built-in ones, by
	// their JSON names: nil for null, Omit for none at all.
	Fields map[string]any
}

type update struct {
	UpdateSpec
	timeline
}

// AddUpdate puts an update into the service and returns its id. An update of
// the same id is replaced.
func (s *Service) AddUpdate(spec UpdateSpec) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if spec.ID == "" {
		spec.ID = s.newID("upd_")
	}
	if spec.StartedAt.IsZero() {
		spec.StartedAt = s.now()
	}
	s.updates[spec.ID] = update{UpdateSpec: spec, timeline: timeline{
		start: spec.StartedAt,
		queue: defaultTo(spec.Queue, s.options.Queue),
		run:   defaultTo(spec.Run, s.options.Run),
	}}
	return spec.ID
}

// record returns the update as the API shows it at now.
func (u update) record(now time.Time) map[string]any {
	body := map[string]any{
		"_id":             u.ID,
		"projectId":       "prj_" + digits("project", 16),
		"createdAt":       timestamp(u.start),
		"subdomain":       "acme",
		"screenshot":      "https://images.example.com/acme/page.png",
		"screenshotLight": "https://images.example.com/acme/light.png",
		"screenshotDark":  "https://images.example.com/acme/dark.png",
		"author": map[string]any{
			"name":      "Ada Example",
			"avatarUrl": "https://images.example.com/ada.png",
			"vcsUserId": 4217,
		},
		"commit": map[string]any{
			"sha":     digits("commit", 40),
			"ref":     "refs/heads/main",
			"message": "Describe how links expire",
			"filesChanged": map[string]any{
				"added":    []string{"guides/links.mdx"},
				"modified": []string{"docs.json", "index.mdx"},
				"removed":  []string{"guides/old.mdx"},
			},
		},
		"source": "vcs",
	}
	logs := []string{"Update queued"}
	switch p, _ := u.at(now); p {
	case phaseQueued:
		body["status"], body["summary"] = cmp.Or(u.QueuedStatus, "queued"), "Waiting for a worker"
	case phaseRunning:
		body["status"], body["summary"] = cmp.Or(u.RunningStatus, "in_progress"), "Building the site"
		logs = append(logs, "Cloning the repository", "Building 6 pages")
	default:
		body["endedAt"] = timestamp(u.changed(now))
		body["status"], body["summary"] = "success", "The site is live"
		logs = append(logs, "Cloning the repository", "Building 6 pages")
		if u.Fail != "" {
			body["status"], body["summary"] = "failure", u.Fail
			logs = append(logs, "Error: "+u.Fail)
		} else {
			logs = append(logs, "Deployed")
		}
	}
	body["logs"] = logs
	maps.Copy(body, u.Fields)
	return withoutOmitted(body)
}

// getUpdate answers GET /project/update-status/{statusId} (section 4.1).
func (s *Service) getUpdate(id string) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, ok := s.updates[id]
	if !ok {
		return failure(http.StatusNotFound, "no such update")
	}
	return reply{http.StatusOK, u.record(s.now())}
}
