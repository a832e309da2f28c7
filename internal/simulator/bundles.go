// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// RevokeLinks makes every link that the built-in store has signed so far
// invalid, whatever its expiry. The next bundle request gets a new link.
func (s *Service) RevokeLinks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.rotateKey()
	for _, j := range s.jobs {
		j.link = link{}
	}
}

// generateBundle answers POST /static-export/jobs/{jobId}/bundle (section 4.4).
func (s *Service) generateBundle(r *http.Request, id string) reply {
	s.mu.Lock()
	j, refusal := s.findJob(id)
	if j == nil {
		s.mu.Unlock()
		return refusal
	}
	status, archive, pages, stored := j.status(s.now()), j.Archive, j.Pages, j.stored
	s.mu.Unlock()

	if status != "completed" {
		return failure(http.StatusConflict, "the export job is not completed: its status is "+status)
	}
	if archive == nil {
		var err error
		if archive, err = s.site(pages); err != nil {
			return failure(http.StatusInternalServerError, "the site could not be packaged")
		}
	}
	if !stored {
		put := s.store.Put
		if s.options.Storage != nil {
			put = s.options.Storage.Put
		}
		if err := put(r.Context(), objectName(id), archive); err != nil {
			return failure(http.StatusBadGateway, "the bundle could not be stored")
		}
	}
	fresh, err := s.newLink(r, id)
	if err != nil {
		return failure(http.StatusBadGateway, "the bundle's link could not be made")
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	j.stored = true
	if !s.options.KeepLink || !s.now().Before(j.link.expires) {
		j.link = fresh
	}
	return reply{http.StatusOK, withoutOmitted(map[string]any{
		"jobId":     id,
		"bundleUrl": j.link.url,
		"sizeBytes": len(archive),
		"expiresAt": s.options.ExpiresAt(j.link.expires),
	})}
}

// newLink returns a link to a bundle that is in the storage.
func (s *Service) newLink(r *http.Request, id string) (link, error) {
	now := s.now().Truncate(time.Second)
	expires := now.Add(s.options.LinkLifetime)
	if s.options.Storage != nil {
		url, err := s.options.Storage.Link(r.Context(), objectName(id), s.options.LinkLifetime)
		return link{url, expires}, err
	}
	url := s.store.link(objectName(id), now, s.options.LinkLifetime)
	if strings.HasPrefix(url, "/") {
		// No listener of its own: the store is where the API is.
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		url = scheme + "://" + r.Host + url
	}
	return link{url, expires}, nil
}

// site returns the archive of a site with so many pages, made only once.
func (s *Service) site(pages int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if archive, ok := s.sites[pages]; ok {
		return archive, nil
	}
	archive, err := siteArchive(pages)
	if err == nil {
		s.sites[pages] = archive
	}
	return archive, err
}

var plainName = regexp.MustCompile(`^[0-9A-Za-z_-]+$`)

// objectName returns the name of a job's bundle in the storage. An id that
// would mean something else in a path is written in hexadecimal digits.
func objectName(id string) string {
	if !plainName.MatchString(id) {
		id = "hex-" + hex.EncodeToString([]byte(id))
	}
	return "exports/" + id + "/bundle.tar.gz"
}
