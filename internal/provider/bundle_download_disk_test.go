// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// addBundle adds a completed job whose bundle is a site of that many pages and two
// assets: index.html, quickstart.html, guides/hosting.html and so on.
func (h *harness) addBundle(id string, pages int) {
	h.service.AddJob(simulator.JobSpec{ID: id, Queue: ended, Run: ended, Pages: pages})
}

// download returns a configuration that downloads a bundle to NAME/bundle.tar.gz and
// unpacks it to NAME/site.
func (c *cli) download(name, jobID, arguments string) string {
	return fmt.Sprintf("resource \"docs_bundle_download\" %q {\n  job_id = %q\n  path = %q\n  extract_to = %q\n  %s\n}\n",
		name, jobID, c.inFolder(name, "bundle.tar.gz"), c.inFolder(name, "site"), arguments)
}

// inFolder returns a name in the CLI's folder, which is not the provider's.
func (c *cli) inFolder(elements ...string) string {
	return filepath.ToSlash(filepath.Join(c.terraform.Folder, filepath.Join(elements...)))
}

// disk returns what is in a directory: contents of files.
func (c *cli) disk(t *testing.T, directory string) map[string]string {
	t.Helper()
	root, found := c.inFolder(directory), map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		found[strings.TrimPrefix(filepath.ToSlash(name), root+"/")] = string(content)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

// wantDisk checks everything that is in a directory.
func (c *cli) wantDisk(t *testing.T, directory string, want map[string]string) {
	t.Helper()
	if got := c.disk(t, directory); !reflect.DeepEqual(got, want) {
		t.Errorf("%s holds\n%.30q\nwant\n%.30q", directory, got, want)
	}
}

// change changes a directory of the folder by comma-separated steps: rm NAME, put NAME
// (a file), dir NAME, and copy NAME (another directory).
func (c *cli) change(t *testing.T, directory, steps string) {
	t.Helper()
	for step := range strings.SplitSeq(steps, ", ") {
		verb, name, _ := strings.Cut(step, " ")
		name = c.inFolder(directory, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		switch verb {
		case "rm":
			err = os.RemoveAll(name)
		case "put":
			err = cmp.Or(err, os.WriteFile(name, []byte("mine"), 0o600))
		case "dir":
			err = os.MkdirAll(name, 0o755)
		case "copy":
			err = cmp.Or(os.RemoveAll(c.inFolder(directory)), os.CopyFS(c.inFolder(directory), os.DirFS(c.inFolder(filepath.Base(name)))))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDownloadReplacesItsOwnFilesOnly goes through what may be on disk. Package bundle
// tests what counts as the resource's own.
func TestDownloadReplacesItsOwnFilesOnly(t *testing.T) {
	t.Parallel()
	// at is the argument of what the resource did not write, and problem describes it.
	tests := map[string]struct{ change, at, problem string }{
		"as recorded":        {},
		"older bundle":       {change: "copy older"},
		"everything missing": {change: "rm ."},
		"directory empty":    {change: "rm site, dir site"},
		"file replaced":      {change: "rm bundle.tar.gz, put bundle.tar.gz/mine", at: "path", problem: `bundle.tar.gz" is a directory`},
		"page edited":        {change: "put site/index.html", at: "extract_to", problem: `site" differs from what this resource wrote: "index.html" was changed`},
	}
	h := newHarness(t, simulator.Options{})
	h.addBundle("se_1", 2)
	h.addBundle("se_2", 3)
	c := h.cli(t, "")
	apply := func(job string) {
		var config strings.Builder
		for name := range tests {
			config.WriteString(c.download(label(name), job, ""))
		}
		c.write(t, config.String())
		c.apply(t, 0)
	}
	changeAll := func() map[string]map[string]string {
		changed := map[string]map[string]string{}
		for name, test := range tests {
			c.change(t, label(name), test.change)
			changed[name] = c.disk(t, label(name))
		}
		return changed
	}
	apply("se_1")
	c.change(t, "older", "copy as_recorded")
	apply("se_2")
	c.change(t, "latest", "copy as_recorded")
	fresh := c.disk(t, "latest")

	changed := changeAll()
	wantPhrases(t, c.terraform.Run(t, 0, "plan", "-refresh-only"), "No changes.")
	plan := c.report(t, 2, "plan", "-detailed-exitcode", "-out=saved")
	c.service.ResetRequests()
	applied := c.report(t, 1, "apply", "saved")
	c.wantCounts(t, counts{job: 3, bundle: 3, download: 3}) // none for what is not replaced
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, want := plan.planned[label(name)], map[bool]string{false: "update"}[test.change == ""]; got != want {
				t.Errorf("planned %q, want %q", got, want)
			}
			if test.at == "" {
				plan.wantNothingSaid(t, name)
				if test.change != "" {
					applied.wantNothingSaid(t, name)
				}
				c.wantDisk(t, label(name), fresh)
				return
			}
			plan.wantSaid(t, name, "warning: Unexpected files at the download path: "+c.inFolder(label(name))+"/", test.problem+". If that is still so during the apply, this download stops before it writes a file.")
			applied.wantSaid(t, name, "error: Unexpected files at the download path ("+test.at+")", test.problem+". The files on disk and the state are unchanged.",
				"Move or delete it, and plan and apply again. If another docs_bundle_download writes there, give each its own "+test.at+" instead.")
			c.wantDisk(t, label(name), changed[name])
			c.change(t, label(name), "rm .") // as the error says
		})
	}
	c.apply(t, 0)
	c.wantEmptyPlan(t)

	changed = changeAll()
	said := c.report(t, 0, "destroy", "-auto-approve").said[""] // the warnings have no address
	for name, test := range tests {
		t.Run("destroy, "+name, func(t *testing.T) {
			left := map[string]string{}
			for file, content := range changed[name] {
				if test.at == "path" && strings.HasPrefix(file, "bundle.tar.gz/") || test.at == "extract_to" && strings.HasPrefix(file, "site/") {
					left[file] = content
				}
			}
			c.wantDisk(t, label(name), left)
		})
	}
	if n := strings.Count(said, "warning: Files differ from what the resource wrote: "+c.inFolder()); n != 2 || strings.Count(said, ", so it was not deleted.") != 2 {
		t.Errorf("%d warnings, want 2:\n%s", n, said)
	}
}

func TestReplacementAtTheSamePathDeletesFirstUnlessItCreatesFirst(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	config := strings.Replace(c.download("site", "se_1", "lifecycle {\n    create_before_destroy = false\n  }"), "site/site", "site/pages", 1)
	c.write(t, config)
	plan := c.report(t, 2, "plan", "-detailed-exitcode", "-out=saved")
	plan.wantNothingSaid(t, "site") // its own files are no warning
	if plan.planned["site"] != "replace" {
		t.Errorf("planned %q, want a replacement", plan.planned["site"])
	}
	c.terraform.Run(t, 0, "apply", "saved")
	c.wantEmptyPlan(t)

	c.write(t, strings.Replace(config, "= false", "= true", 1))
	before := c.disk(t, "site")
	said := c.report(t, 1, "apply", "-auto-approve", "-replace="+siteBundle).said["site"]
	wantPhrases(t, said, `bundle.tar.gz" already exists. No files were written.`)
	c.wantDisk(t, "site", before)
	c.wantEmptyPlan(t)
}

// Nothing else makes a disk full, or keeps a rename from being undone, on every system.
func TestFailureSaysWhatIsOnTheDisk(t *testing.T) {
	t.Parallel()
	full := &fs.PathError{Op: "write", Path: "tmp", Err: syscall.ENOSPC}
	stuck := &os.LinkError{Op: "rename", Old: "old", New: "site", Err: syscall.EBUSY}
	for name, test := range map[string]struct {
		operation string
		err       error
		want      string
	}{
		"full in a create":     {"create", full, "Could not write the bundle\nThe operating system returned: write tmp: no space left on device.\n\nNo files were written.\n\nMake sure that Terraform can write next to \"a.tgz\" and \"site\", and that the disk has free space. Then plan and apply again."},
		"full in an update":    {"update", full, "device.\n\nThe files on disk and the state are unchanged.\n\nMake sure"},
		"mount point":          {"update", stuck, "unchanged.\n\nIf extract_to is a mount point, use a subdirectory of it."},
		"rename is not undone": {"update", errors.Join(full, bundle.ErrNotUndone, stuck), "busy.\n\nThe old files are in that temporary directory.\n\n"},
		"full in a destroy":    {"delete", full, "Could not delete the downloaded bundle\nThe operating system returned: write tmp: no space left on device.\n\nNo files were deleted, and the state is unchanged.\n\nMake sure"},
		"interrupted destroy":  {"delete", context.Canceled, "Could not delete the downloaded bundle\nTerraform was interrupted.\n\nNo files were deleted, and the state is unchanged."},
		"damaged archive":      {"create", &bundle.ArchiveError{Err: io.ErrUnexpectedEOF, Damaged: true}, "Could not unpack the bundle\nThe bundle of job se_1 is damaged: archive: unexpected EOF. No files were written.\n\nPlan and apply again. If it fails again, export the site again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			model := bundleDownloadModel{JobID: types.StringValue("se_1"), Path: types.StringValue("a.tgz"), ExtractTo: types.StringValue("site")}
			model.addFailure(test.operation, &diags, test.err)
			model.warnAboutLeftovers(errors.New("DIR was not deleted: busy"), &diags)
			wantPhrases(t, diags[0].Summary()+"\n"+diags[0].Detail(), test.want)
			wantPhrases(t, diags[1].Summary()+"\n"+diags[1].Detail(), "Temporary files not deleted: a.tgz\nDIR was not deleted: busy.\n\nDelete that directory.")
		})
	}
}

// storedText is a private state with one value.
type storedText string

func (s storedText) GetKey(context.Context, string) ([]byte, diag.Diagnostics)     { return []byte(s), nil }
func (storedText) SetKey(context.Context, string, []byte) (diags diag.Diagnostics) { return nil }

// Other engines keep no private state after some calls.
func TestWhatTheStateDescribesIsTheResourcesOwnWithoutPrivateState(t *testing.T) {
	t.Parallel()
	for private, want := range map[storedText]bundle.Owned{
		"":                             {Files: []string{"file"}, Trees: []string{"tree"}},
		"[]":                           {Files: []string{"file"}, Trees: []string{"tree"}},
		`{"files":["old"],"trees":[]}`: {Files: []string{"old", "file"}, Trees: []string{"tree"}},
	} {
		state := &bundleDownloadModel{SHA256: types.StringValue("file"), ContentSHA256: types.StringValue("tree")}
		var diags diag.Diagnostics
		if got := readOwned(t.Context(), private, state, &diags); !reflect.DeepEqual(got, want) || len(diags) > 0 {
			t.Errorf("%s: got %v and %v, want %v", private, got, diags, want)
		}
	}
}
