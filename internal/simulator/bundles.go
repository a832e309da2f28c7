package simulator

import (
	"net/http"
	"strings"
	"time"
)

// bundleLink is a presigned link to a bundle.
type bundleLink struct {
	url     string
	expires time.Time
}

// generateBundle performs the operation of this name.
func (s *Service) generateBundle(r *http.Request) response {
	id, now := r.PathValue("id"), s.options.Now()
	j := s.jobs[id]
	if j == nil {
		return failure(http.StatusNotFound, noSuchJob)
	}
	if status := j.status(now); status != "completed" {
		return failure(http.StatusConflict, "the export job is not completed: its status is "+status)
	}
	if j.Archive == nil {
		j.Archive = j.archive()
	}
	if !s.options.KeepLink || !now.Before(j.link.expires) {
		// An ID can have characters that a path cannot.
		name := "exports/" + digits(id, 16) + "/bundle.tar.gz"
		link, err := s.options.Store(r.Context(), name, j.Archive, s.options.LinkLifetime)
		if err != nil {
			return failure(http.StatusBadGateway, "the bundle could not be stored")
		}
		if strings.HasPrefix(link, "/") { // the store is served where the API is
			scheme := "http://"
			if r.TLS != nil {
				scheme = "https://"
			}
			link = scheme + r.Host + link
		}
		j.link = bundleLink{link, now.Truncate(time.Second).Add(s.options.LinkLifetime)}
	}
	return response{status: http.StatusOK, object: map[string]any{
		"jobId":     id,
		"bundleUrl": j.link.url,
		"sizeBytes": len(j.Archive),
		"expiresAt": j.link.expires.UTC().Format(time.RFC3339),
	}}
}
