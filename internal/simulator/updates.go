package simulator

import (
	"cmp"
	"maps"
	"net/http"
	"time"
)

// UpdateSpec describes an update of a site. The zero value is an update whose
// record has every field.
type UpdateSpec struct {
	// ID is the status ID. If empty, the service creates one.
	ID string
	// Queue and Run are how long the update is queued and then in progress: as
	// in Options if zero, no time if negative. Forever keeps the update in that
	// state.
	Queue, Run time.Duration
	// Fail, unless empty, makes the update fail at the end of its run. It is the
	// summary and the last line of the log.
	Fail string
	// RunningStatus replaces "in_progress".
	RunningStatus string
	// Fields replace fields of the record, by their JSON names. Omit removes
	// one.
	Fields map[string]any
}

type update struct {
	UpdateSpec
	timeline
}

// AddUpdate adds an update and returns its ID. It replaces an update with the
// same ID.
func (s *Service) AddUpdate(spec UpdateSpec) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if spec.ID == "" {
		spec.ID = s.newID("upd_")
	}
	s.updates[spec.ID] = update{spec, s.newTimeline(s.options.Now(), spec.Queue, spec.Run)}
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
	log := []string{"Update queued", "Cloning the repository", "Building 6 pages"}
	switch p, _ := u.at(now); {
	case p == phaseQueued:
		body["status"], body["summary"] = "queued", "Waiting for a worker"
		log = log[:1]
	case p == phaseRunning:
		body["status"], body["summary"] = cmp.Or(u.RunningStatus, "in_progress"), "Building the site"
	case u.Fail != "":
		body["status"], body["summary"] = "failure", u.Fail
		log = append(log, "Error: "+u.Fail)
	default:
		body["status"], body["summary"] = "success", "The site is live"
		log = append(log, "Deployed")
	}
	if p, _ := u.at(now); p == phaseEnded {
		body["endedAt"] = timestamp(u.changed(now))
	}
	body["logs"] = log
	maps.Copy(body, u.Fields)
	return withoutOmitted(body)
}

// getUpdateStatus performs the operation of this name.
func (s *Service) getUpdateStatus(r *http.Request) response {
	u, ok := s.updates[r.PathValue("id")]
	if !ok {
		return failure(http.StatusNotFound, "there is no update with this ID")
	}
	altered := len(u.Fields) > 0 || u.RunningStatus != ""
	return response{status: http.StatusOK, object: u.record(s.options.Now()), altered: altered}
}
