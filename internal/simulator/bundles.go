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

// bundleLink is a presigned link to a bundle.
type bundleLink struct {
	url     string
	expires time.Time
}

// generateBundle performs the operation of this name.
func (s *Service) generateBundle(r *http.Request) reply {
	id, now := r.PathValue("id"), s.options.Now()
	j := s.jobs[id]
	if j == nil {
		return failure(http.StatusNotFound, noSuchJob)
	}
	if status := j.status(now); status != "completed" {
		return failure(http.StatusConflict, "the export job is not completed: its status is "+status)
	}
	if j.Archive == nil {
		j.Archive = siteArchive(j.Pages)
	}
	if !s.options.KeepLink || !now.Before(j.link.expires) {
		if err := s.options.Storage.Put(r.Context(), bundleName(id), j.Archive); err != nil {
			return failure(http.StatusBadGateway, "the bundle could not be stored")
		}
		link, err := s.options.Storage.Link(r.Context(), bundleName(id), s.options.LinkLifetime)
		if err != nil {
			return failure(http.StatusBadGateway, "the link could not be made")
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
	return reply{status: http.StatusOK, body: map[string]any{
		"jobId":     id,
		"bundleUrl": j.link.url,
		"sizeBytes": len(j.Archive),
		"expiresAt": j.link.expires.UTC().Format(time.RFC3339),
	}}
}

var plainName = regexp.MustCompile(`^[0-9A-Za-z_-]+$`)

// bundleName returns the name of a job's bundle in the storage. An ID with
// special characters is written in hexadecimal digits.
func bundleName(id string) string {
	if !plainName.MatchString(id) {
		id = "hex-" + hex.EncodeToString([]byte(id))
	}
	return "exports/" + id + "/bundle.tar.gz"
}
