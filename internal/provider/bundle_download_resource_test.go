// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func checksum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

func TestDownloadIsDescribedInTheState(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	site, text := pack(t, gzip.BestSpeed, "index.html new", "guides/links.html links"), []byte("not an archive")
	h.addBundle("se_1", site)
	h.addBundle("se_2", text)
	c := h.cli(t, "")
	c.writeInFolder(t, download("site", "se_1", "sha256 = \""+checksum(site)+"\"")+
		"resource \"docs_bundle_download\" \"file\" {\n  job_id = \"se_2\"\n  path = \"FOLDER/file\"\n}\n")
	c.Run(t, 0, "apply", "-auto-approve")
	values := c.values(t)
	wantAttributes(t, values["site"], map[string]any{
		"sha256": checksum(site), "size_bytes": float64(len(site)), "file_count": 2.,
		"content_sha256": checksum([]byte("d " + strings.Repeat("0", 64) + " guides\x00f " + checksum([]byte("links")) + " guides/links.html\x00f " + checksum([]byte("new")) + " index.html\x00")),
	})
	wantAttributes(t, values["file"], map[string]any{"sha256": checksum(text), "size_bytes": float64(len(text)), "content_sha256": nil, "file_count": nil})
	for _, request := range h.Requests() {
		if request.Endpoint == simulator.EndpointDownload && request.Header.Get("Authorization") != "" {
			t.Error("the key was sent to the object store")
		}
	}
	h.ResetRequests()
	c.wantEmptyPlan(t)
	h.wantNoRequests(t)
}

func TestDownloadThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	site := pack(t, gzip.BestSpeed, "index.html new")
	h.addBundle("good", site)
	h.addBundle("hostile", pack(t, gzip.BestSpeed, "../index.html out"))
	h.addBundle("text", []byte("not an archive"))
	h.AddJob(simulator.JobSpec{ID: "running", Queue: ended, Run: simulator.Forever})
	c := h.cli(t, "")
	c.put(t, "file_exists/bundle.tar.gz", "mine")
	c.put(t, "directory_not_empty/site/mine", "mine")
	c.put(t, "directory_is_a_file/site", "mine")
	tests := map[string]struct {
		jobID, arguments string
		said             []string
		left             map[string]string
	}{
		"other checksum":      {"good", `sha256 = "` + strings.Repeat("0", 64) + `"`, []string{"Checksum of the bundle does not match (sha256)", "has the SHA-256 checksum " + checksum(site), "Files on disk are unchanged."}, nil},
		"hostile archive":     {"hostile", "", []string{"Could not unpack the bundle (extract_to)", `archive entry "../index.html": unsafe name. Files on disk are unchanged.`}, nil},
		"not an archive":      {"text", "", []string{"Could not unpack the bundle (extract_to)", "it is not a tar, gzip-compressed tar or zip archive."}, nil},
		"job not completed":   {"running", "", []string{"Static export job not completed"}, nil},
		"unknown job":         {"unknown", "", []string{"Could not read the static export job", "HTTP 404 Not Found"}, nil},
		"file exists":         {"good", "", []string{"Target of the download is occupied (path)", "bundle.tar.gz already exists. The provider does not overwrite what it did not write.\n\nRemove it, or choose another path."}, map[string]string{"bundle.tar.gz": "mine"}},
		"directory not empty": {"good", "", []string{"(extract_to)", "site already exists and is not empty.", "Remove it, or choose another extract_to."}, map[string]string{"site/mine": "mine"}},
		"directory is a file": {"good", "", []string{"(extract_to)", "site already exists and is not a directory."}, map[string]string{"site": "mine"}},
		"timeout":             {"good", `timeouts = { create = "0s" }`, []string{"Could not read the static export job", "Not finished after 0s (`timeouts.create`)."}, nil},
	}
	var config strings.Builder
	for name, test := range tests {
		config.WriteString(download(label(name), test.jobID, test.arguments))
	}
	c.writeInFolder(t, config.String())
	said := c.report(t, 1, "apply", "-auto-approve")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			said.wantSaid(t, name, append(test.said, "error: ")...)
			if test.left == nil {
				test.left = map[string]string{}
			}
			c.wantDisk(t, label(name), test.left)
		})
	}
	if values := c.values(t); len(values) > 0 {
		t.Errorf("the state holds %v", values)
	}
}

func TestDownloadRenewsARefusedLinkOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ refusals, exit int }{"one refusal": {1, 0}, "lasting refusals": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.addBundle("se_1", pack(t, gzip.BestSpeed, "index.html new"))
			h.AddFault(simulator.Fault{Endpoint: simulator.EndpointDownload, Times: test.refusals, Status: 403, Body: "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"})
			c := h.cli(t, "")
			c.writeInFolder(t, download("site", "se_1", ""))
			said := c.report(t, test.exit, "apply", "-auto-approve")
			h.wantCounts(t, map[string]int{simulator.EndpointBundle: 2, simulator.EndpointDownload: 2})
			if test.exit > 0 {
				said.wantSaid(t, "site", "Could not download the bundle", "answered HTTP 403 Forbidden, AccessDenied: Request has expired.\n\nJob: se_1. Files on disk are unchanged.")
			}
		})
	}
}

func TestTwoDownloadsMustNotWriteTheSameFiles(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.addBundle("se_1", pack(t, gzip.BestSpeed, "index.html new"))
	c := h.cli(t, "")
	for name, second := range map[string]string{
		"path":       strings.Replace(download("a", "se_1", ""), "a/site", "b/site", 1),
		"extract_to": strings.Replace(download("a", "se_1", ""), "a/bundle", "b/bundle", 1),
	} {
		t.Run(name, func(t *testing.T) {
			c.writeInFolder(t, download("a", "se_1", "")+strings.Replace(second, `"a" {`, `"b" {`, 1))
			said := c.report(t, 1, "apply", "-auto-approve").said
			wantPhrases(t, said["a"]+said["b"], "error: Target of the download is occupied ("+name+")", "is written by another resource in the same run.")
			if n := len(c.values(t)); n != 1 {
				t.Errorf("%d resources are in the state, want 1", n)
			}
			c.Run(t, 0, "destroy", "-auto-approve")
		})
	}
}

// TestUpdateOfADownloadIsAllOrNothing: a bundle that cannot be put in place leaves file
// and directory as they were, and the next plan asks for it again.
func TestUpdateOfADownloadIsAllOrNothing(t *testing.T) {
	t.Parallel()
	latest := pack(t, gzip.BestSpeed, "index.html new")
	for name, test := range map[string]struct {
		archive []byte
		apply   func(*testing.T, *cli) string
		said    string
	}{
		"archive that cannot be unpacked": {[]byte("not an archive"), func(t *testing.T, c *cli) string { return c.Run(t, 1, "apply", "-auto-approve") }, "Could not unpack the bundle"},
		"interrupt": {
			latest, func(t *testing.T, c *cli) string {
				return c.interrupt(t, simulator.EndpointDownload, "apply", "-auto-approve")
			}, "Terraform was interrupted.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.addBundle("se_1", pack(t, gzip.BestSpeed, "index.html old"))
			c := h.cli(t, "")
			c.writeInFolder(t, download("site", "se_1", ""))
			c.Run(t, 0, "apply", "-auto-approve")
			before := c.disk(t, "site")

			h.addBundle("se_2", test.archive)
			c.writeInFolder(t, download("site", "se_2", ""))
			wantPhrases(t, test.apply(t, c), test.said)
			c.wantDisk(t, "site", before)
			h.addBundle("se_2", latest)
			if planned := c.report(t, 0, "apply", "-auto-approve").planned["site"]; planned != "update" {
				t.Errorf("planned %q, want an update", planned)
			}
			c.wantDisk(t, "site", map[string]string{"bundle.tar.gz": string(latest), "site/index.html": "new"})
			c.wantEmptyPlan(t)
		})
	}
}

func TestDownloadFollowsTheExport(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	config := func(revision string) string {
		return "resource \"docs_static_export\" \"export\" {\n  domain = \"docs.example.com\"\n  triggers = { revision = \"" + revision + "\" }\n}\n" +
			strings.Replace(download("site", "", ""), `""`, "docs_static_export.export.job_id", 1)
	}
	c := h.cli(t, "")
	c.writeInFolder(t, config("1"))
	c.Run(t, 0, "apply", "-auto-approve")
	h.clock.Advance(2 * time.Hour) // the link of the export has expired
	if planned := c.report(t, 0, "apply", "-auto-approve").planned; planned["export"] != "update" || planned["site"] != "" {
		t.Errorf("a renewed link must download nothing: %v", planned)
	}
	h.NextJob(simulator.JobSpec{Pages: 2})
	c.writeInFolder(t, config("2"))
	if planned := c.report(t, 0, "apply", "-auto-approve").planned; planned["site"] != "update" {
		t.Errorf("new content must be downloaded in place: %v", planned)
	}
	h.wantCounts(t, map[string]int{simulator.EndpointDownload: 2, simulator.EndpointStart: 2})
	wantAttributes(t, c.values(t)["site"], map[string]any{"file_count": 4.})
	c.wantEmptyPlan(t)
}

// TestDownloadOnAFreshDiskInEachPhase is a run of HCP Terraform: the plan is made on one
// disk and applied on another, and both are empty.
func TestDownloadOnAFreshDiskInEachPhase(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	pages := []string{"index.html new"}
	h.addBundle("se_1", pack(t, gzip.BestSpeed, pages...))
	c := h.cli(t, "")
	c.writeInFolder(t, download("site", "se_1", "")+`
resource "terraform_data" "content" {
  triggers_replace = [docs_bundle_download.site.content_sha256, docs_bundle_download.site.file_count, docs_bundle_download.site.job_id]
}
resource "terraform_data" "file" {
  input = docs_bundle_download.site.sha256
}
`)
	c.Run(t, 0, "apply", "-auto-approve")
	repacked := pack(t, gzip.BestCompression, pages...)
	for range 2 {
		c.remove(t, "site")
		plan := c.report(t, 0, "plan", "-out=saved")
		plan.wantSaid(t, "site")
		if plan.planned["site"] != "update" || plan.planned["file"] != "update" || plan.planned["content"] != "" {
			t.Errorf("planned %v", plan.planned)
		}
		h.addBundle("se_1", repacked) // the service packed the same pages again
		c.Run(t, 0, "apply", "saved")
		c.wantDisk(t, "site", map[string]string{"bundle.tar.gz": string(repacked), "site/index.html": "new"})
		wantAttributes(t, c.values(t)["site"], map[string]any{"sha256": checksum(repacked)})
	}

	c.remove(t, "site")
	h.addBundle("se_1", pack(t, gzip.BestSpeed, "index.html changed"))
	c.report(t, 1, "apply", "-auto-approve").wantSaid(t, "site", "error: Content of the bundle has changed (job_id)", "The service returned other files for job se_1 than before", `run "terraform apply -replace"`)
	c.wantDisk(t, "site", map[string]string{})
	c.Run(t, 0, "apply", "-auto-approve", "-replace=docs_bundle_download.site")
	c.wantEmptyPlan(t)
}

func TestDownloadOfTheFirstVersionIsTakenOver(t *testing.T) {
	t.Parallel()
	site := pack(t, gzip.BestSpeed, "index.html new")
	for name, test := range map[string]struct {
		sha256    string
		prepare   func(*testing.T, *cli)
		downloads int
	}{
		"bundle on disk": {`"` + checksum(site) + `"`, func(t *testing.T, c *cli) {
			c.put(t, "site/bundle.tar.gz", string(site))
			c.put(t, "site/site/index.html", "new")
		}, 0},
		"fresh disk, checksum dropped": {"null", func(*testing.T, *cli) {}, 1},
		"page added by somebody since then": {`"` + checksum(site) + `"`, func(t *testing.T, c *cli) {
			c.put(t, "site/bundle.tar.gz", string(site))
			c.put(t, "site/site/mine", "mine")
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.addBundle("se_1", site)
			c := h.cli(t, "")
			c.writeInFolder(t, download("site", "se_1", ""))
			written := base64.StdEncoding.EncodeToString([]byte(`{"job_id":"se_1","sha256":"` + checksum(site) + `"}`))
			private := base64.StdEncoding.EncodeToString([]byte(`{"written":"` + written + `"}`))
			root := filepath.ToSlash(c.Folder)
			registry := "terraform"
			if c.IsOpenTofu() {
				registry = "opentofu"
			}
			c.put(t, "terraform.tfstate", `{"version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "7d1b6a44-6b5d-4a0c-9d1e-1f7cf2a0a5d3", "outputs": {}, "resources": [{
  "mode": "managed", "type": "docs_bundle_download", "name": "site", "provider": "provider[\"registry.`+registry+`.io/docs-hosting/docs\"]",
  "instances": [{"schema_version": 0, "private": "`+private+`", "attributes": {"job_id": "se_1", "path": "`+root+`/site/bundle.tar.gz", "extract_to": "`+root+`/site/site",
    "sha256": `+test.sha256+`, "size_bytes": `+fmt.Sprint(len(site))+`, "file_count": 1, "timeouts": null}}]}]}`)
			test.prepare(t, c)
			if planned := c.report(t, 0, "apply", "-auto-approve").planned["site"]; planned != "update" {
				t.Errorf("planned %q, want an update", planned)
			}
			h.wantCounts(t, map[string]int{simulator.EndpointDownload: test.downloads})
			wantAttributes(t, c.values(t)["site"], map[string]any{"sha256": checksum(site), "file_count": 1., "content_sha256": checksum([]byte("f " + checksum([]byte("new")) + " index.html\x00"))})
			c.wantEmptyPlan(t)
			c.Run(t, 0, "destroy", "-auto-approve")
			if _, err := os.Stat(filepath.Join(c.Folder, "site/bundle.tar.gz")); !os.IsNotExist(err) {
				t.Errorf("the bundle is still there: %v", err)
			}
		})
	}
}

func TestPrivateAuthorityIsTrustedAndAPlainLinkOfAnHTTPSServiceIsNot(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
	h.addBundle("se_1", pack(t, gzip.BestSpeed, "index.html new"))
	server := httptest.NewUnstartedServer(h.Service) // its links are those of the harness, so plain
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	h.env[baseURLVariable] = server.URL + "/v1"
	c := h.cli(t, readUpdate)
	c.report(t, 1, "plan").wantSaid(t, "update", "certificate signed by unknown authority", "The server's certificate is not trusted.", "set ca_cert_pem")
	h.wantNoRequests(t)

	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	trusting := "provider \"docs\" {\n  ca_cert_pem = <<-EOT\n" + authority + "EOT\n}\n" + readUpdate
	c.write(t, trusting)
	c.report(t, 0, "plan").wantSaid(t, "update")
	c.writeInFolder(t, trusting+download("site", "se_1", ""))
	c.report(t, 1, "apply", "-auto-approve").wantSaid(t, "site", "error: Could not generate a bundle link", "its bundleUrl is plain http, although base_url is https")
	h.wantCounts(t, map[string]int{simulator.EndpointDownload: 0})
	c.wantDisk(t, "site", map[string]string{})
}
