// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const bundle = "docs_bundle_download.bundle"

// newDownload returns a service with a completed job and a folder to download
// to.
func newDownload(t *testing.T, spec simulator.JobSpec, arguments string) *cli {
	t.Helper()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	spec.StartedAt = startOfTime.Add(-time.Hour)
	id := h.AddJob(spec)
	c := h.newCLI(t, "")
	c.write(t, c.inFolder(fmt.Sprintf("resource \"docs_bundle_download\" \"bundle\" {\n  job_id = %q\n  path = \"FOLDER/out/bundle.tar.gz\"\n%s\n}\n", id, arguments)))
	return c
}

// inFolder puts the folder's name into a configuration. The provider runs in
// the test's process, which has a working directory of its own.
func (c *cli) inFolder(config string) string {
	return strings.ReplaceAll(config, "FOLDER", filepath.ToSlash(c.Folder))
}

// files lists what is below a directory of the folder.
func (c *cli) files(t *testing.T, directory string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(filepath.Join(c.Folder, directory), func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, strings.TrimPrefix(name, c.Folder+"/"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestDownloadIsCheckedUnpackedAndRemovedAgain(t *testing.T) {
	t.Parallel()
	c := newDownload(t, simulator.JobSpec{}, `extract_to = "FOLDER/site"`)
	c.Run(t, 0, "apply", "-auto-approve")
	state := c.state(t, bundle)
	sum, size, err := checksum(filepath.Join(c.Folder, "out/bundle.tar.gz"))
	if err != nil || state["sha256"] != sum || state["size_bytes"] != float64(size) {
		t.Errorf("state %v, file %s of %d bytes (%v)", state, sum, size, err)
	}
	pages := c.files(t, "site")
	if state["file_count"] != float64(len(pages)) || !strings.Contains(c.read(t, "site/index.html"), "<html") {
		t.Errorf("unpacked %v, state %v", pages, state)
	}
	for _, request := range c.Requests() {
		if request.Endpoint == simulator.EndpointDownload && request.Header.Get("Authorization") != "" {
			t.Error("the key went to the object store")
		}
	}
	c.ResetRequests()
	c.wantEmptyPlan(t)
	if requests := c.Requests(); len(requests) > 0 {
		t.Errorf("a refresh made %d requests", len(requests))
	}

	// A fresh runner has the state, but not the files.
	if err := os.Remove(filepath.Join(c.Folder, "out/bundle.tar.gz")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(c.Folder, "site")); err != nil {
		t.Fatal(err)
	}
	output := c.Run(t, 0, "apply", "-auto-approve")
	if !strings.Contains(output, "0 added, 1 changed, 0 destroyed") {
		t.Errorf("unexpected apply:\n%s", output)
	}
	c.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointDownload: 1})
	c.wantEmptyPlan(t)

	// A page that somebody added is not ours to remove.
	if err := os.WriteFile(filepath.Join(c.Folder, "site/mine.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	output = c.Run(t, 0, "destroy", "-auto-approve")
	if !strings.Contains(output, "Other files in the directory stay") {
		t.Errorf("unexpected destroy:\n%s", output)
	}
	if left := append(c.files(t, "site"), c.files(t, "out")...); len(left) != 1 || left[0] != "site/mine.txt" {
		t.Errorf("destroy left %v", left)
	}
}

func TestDownloadFollowsTheJob(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	config := exportConfig + `
resource "docs_bundle_download" "bundle" {
  job_id     = docs_static_export.site.job_id
  path       = "bundle.tar.gz"
  extract_to = "FOLDER/site"
}
`
	c := h.newCLI(t, "")
	config = c.inFolder(config)
	c.write(t, config)
	c.Run(t, 0, "apply", "-auto-approve")
	h.clock.Advance(2 * time.Hour)
	if output := c.Run(t, 0, "apply", "-auto-approve"); !strings.Contains(output, "0 added, 1 changed") {
		t.Errorf("a renewed link must download nothing:\n%s", output)
	}
	h.wantCounts(t, map[string]int{simulator.EndpointDownload: 1})
	c.write(t, secondRevision(config))
	if output := c.Run(t, 0, "apply", "-auto-approve"); !strings.Contains(output, "0 added, 2 changed") {
		t.Errorf("new content must be downloaded in place:\n%s", output)
	}
	h.wantCounts(t, map[string]int{simulator.EndpointDownload: 2, simulator.EndpointStart: 2})
	c.wantEmptyPlan(t)
	c.Run(t, 0, "destroy", "-auto-approve")
	if _, err := os.Lstat(filepath.Join(c.Folder, "site")); !os.IsNotExist(err) {
		t.Errorf("site is left: %v", err)
	}
}

func TestDownloadGoesOnWhereTheConnectionWasCut(t *testing.T) {
	t.Parallel()
	c := newDownload(t, simulator.JobSpec{}, ``)
	c.AddFault(simulator.Fault{Endpoint: simulator.EndpointDownload, Times: 1, TruncateBody: 100})
	c.Run(t, 0, "apply", "-auto-approve")
	var downloads []simulator.Request
	for _, request := range c.Requests() {
		if request.Endpoint == simulator.EndpointDownload {
			downloads = append(downloads, request)
		}
	}
	if len(downloads) != 2 || downloads[1].Header.Get("Range") != "bytes=100-" {
		t.Errorf("downloads %+v", downloads)
	}
	c.wantEmptyPlan(t)
}

func TestDownloadRenewsALinkThatExpiredOnce(t *testing.T) {
	t.Parallel()
	c := newDownload(t, simulator.JobSpec{}, ``)
	c.AddFault(simulator.Fault{Endpoint: simulator.EndpointDownload, Times: 1, Status: 403, Body: "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"})
	c.Run(t, 0, "apply", "-auto-approve")
	c.wantCounts(t, map[string]int{simulator.EndpointBundle: 2, simulator.EndpointDownload: 2, simulator.EndpointStart: 0})
}

func TestDownloadsThatLeaveNothingBehind(t *testing.T) {
	hostile := func(header tar.Header) []byte {
		var archive bytes.Buffer
		compressed := gzip.NewWriter(&archive)
		entries := tar.NewWriter(compressed)
		header.Mode = 0o644
		if err := entries.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if err := entries.Close(); err != nil {
			t.Fatal(err)
		}
		if err := compressed.Close(); err != nil {
			t.Fatal(err)
		}
		return archive.Bytes()
	}
	for name, test := range map[string]struct {
		spec      simulator.JobSpec
		arguments string
		fault     *simulator.Fault
		want      string
	}{
		"a wrong checksum": {
			arguments: `sha256 = "` + strings.Repeat("0", 64) + `"`,
			want:      "Checksum of the bundle does not match",
		},
		"a link that is refused again": {
			fault: &simulator.Fault{Endpoint: simulator.EndpointDownload, Status: 403},
			want:  "The object store 127.0.0.1",
		},
		"an entry above the target": {
			spec: simulator.JobSpec{Archive: hostile(tar.Header{Typeflag: tar.TypeReg, Name: "../escape.html"})}, arguments: `extract_to = "FOLDER/site"`,
			want: "unsafe name",
		},
		"an absolute entry": {
			spec: simulator.JobSpec{Archive: hostile(tar.Header{Typeflag: tar.TypeReg, Name: "/etc/escape.html"})}, arguments: `extract_to = "FOLDER/site"`,
			want: "unsafe name",
		},
		"a link out of the target": {
			spec: simulator.JobSpec{Archive: hostile(tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "../../x"})}, arguments: `extract_to = "FOLDER/site"`,
			want: "unsafe link",
		},
		"a device": {
			spec: simulator.JobSpec{Archive: hostile(tar.Header{Typeflag: tar.TypeChar, Name: "null"})}, arguments: `extract_to = "FOLDER/site"`,
			want: "neither a file",
		},
		"no archive at all": {
			spec: simulator.JobSpec{Archive: []byte("hello")}, arguments: `extract_to = "FOLDER/site"`,
			want: "not a tar",
		},
		"a job that still runs": {
			spec: simulator.JobSpec{Run: 1000 * time.Hour},
			want: "Static export job not completed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newDownload(t, test.spec, test.arguments)
			if test.fault != nil {
				c.AddFault(*test.fault)
			}
			output := c.Run(t, 1, "apply", "-auto-approve")
			if !words(test.want).MatchString(output) {
				t.Errorf("the message has no %q:\n%s", test.want, output)
			}
			if strings.Contains(output, "X-Amz") {
				t.Errorf("the link is shown:\n%s", output)
			}
			if left := append(c.files(t, "out"), c.files(t, "site")...); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if c.state(t, bundle) != nil {
				t.Error("the state holds a download that failed")
			}
		})
	}
}

func TestDownloadOverwritesNothingOfOthers(t *testing.T) {
	t.Parallel()
	c := newDownload(t, simulator.JobSpec{}, `extract_to = "FOLDER/site"`)
	for _, name := range []string{"out/bundle.tar.gz", "site/index.html"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(c.Folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.Folder, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output := c.Run(t, 1, "apply", "-auto-approve")
	for _, want := range []string{"File exists already", "Directory exists already"} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in:\n%s", want, output)
		}
	}
	if requests := c.Requests(); len(requests) > 0 {
		t.Errorf("%d requests before the check", len(requests))
	}
	for _, name := range []string{"out/bundle.tar.gz", "site/index.html"} {
		if c.read(t, name) != "mine" {
			t.Errorf("%s was overwritten", name)
		}
	}
}

func TestDownloadThatSomebodyChangedIsMadeAgainAndNotDeletedBlindly(t *testing.T) {
	t.Parallel()
	c := newDownload(t, simulator.JobSpec{}, ``)
	c.Run(t, 0, "apply", "-auto-approve")
	file := filepath.Join(c.Folder, "out/bundle.tar.gz")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Run(t, 2, "plan", "-detailed-exitcode")
	output := c.Run(t, 0, "destroy", "-auto-approve")
	if !strings.Contains(output, "Downloaded file was changed and stays") || c.read(t, "out/bundle.tar.gz") != "mine" {
		t.Errorf("the changed file was not kept:\n%s", output)
	}
}
