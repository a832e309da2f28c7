// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// addBundle adds a completed job whose bundle is a site of that many pages and two
// assets: index.html, quickstart.html, guides/hosting.html and so on.
func (h *harness) addBundle(id string, pages int) {
	h.AddJob(simulator.JobSpec{ID: id, Queue: ended, Run: ended, Pages: pages})
}

// download returns a configuration that downloads a bundle to NAME/bundle.tar.gz and
// unpacks it to NAME/site.
func (c *cli) download(name, jobID, arguments string) string {
	return fmt.Sprintf("resource \"docs_bundle_download\" %q {\n  job_id = %q\n  path = %q\n  extract_to = %q\n  %s\n}\n",
		name, jobID, c.inFolder(name, "bundle.tar.gz"), c.inFolder(name, "site"), arguments)
}

// inFolder returns a name in the CLI's folder, which is not the provider's.
func (c *cli) inFolder(elements ...string) string {
	return filepath.ToSlash(filepath.Join(c.Folder, filepath.Join(elements...)))
}

// backupTime is the time in the name of a backup, which the disk of a test leaves out.
var backupTime = regexp.MustCompile(`\.backup-20300131T12\d{4}\.\d{3}Z`)

// disk returns what is in a directory: contents of files and targets of links.
func (c *cli) disk(t *testing.T, directory string) map[string]string {
	t.Helper()
	root, found := c.inFolder(directory), map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if entry.Type() == fs.ModeSymlink {
			var target string
			target, err = os.Readlink(name)
			content = []byte("link to " + target)
		}
		found[backupTime.ReplaceAllString(strings.TrimPrefix(filepath.ToSlash(name), root+"/"), ".backup")] = string(content)
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
// (a file), link NAME (to "elsewhere"), dir NAME, and copy NAME (another directory).
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
		case "link":
			err = cmp.Or(err, os.Symlink("elsewhere", name))
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

// TestDownloadReplacesItsOwnFilesOnly goes through what may be on disk, row by row:
// what the plan says, what the apply does, and what destroy deletes.
func TestDownloadReplacesItsOwnFilesOnly(t *testing.T) {
	t.Parallel()
	// file and tree are words of the warning about what the provider did not write.
	tests := map[string]struct{ change, file, tree string }{
		"as recorded":                  {},
		"older bundle":                 {change: "copy older"},
		"everything missing":           {change: "rm ."},
		"file missing":                 {change: "rm bundle.tar.gz"},
		"directory missing":            {change: "rm site"},
		"directory empty":              {change: "rm site, dir site"},
		"file edited":                  {change: "put bundle.tar.gz", file: "its SHA-256 checksum is "},
		"file replaced by a link":      {change: "rm bundle.tar.gz, link bundle.tar.gz", file: "it is not a regular file"},
		"file replaced by a directory": {change: "rm bundle.tar.gz, put bundle.tar.gz/mine", file: "it is not a regular file"},
		"page added":                   {change: "put site/mine", tree: `"mine" was added`},
		"page edited":                  {change: "put site/index.html", tree: `"index.html" was changed`},
		"page removed":                 {change: "rm site/quickstart.html", tree: `"quickstart.html" is missing`},
		"page replaced by a link":      {change: "rm site/index.html, link site/index.html", tree: `"index.html" is a symbolic link instead of a file`},
		"directory replaced by a link": {change: "rm site, link site, put elsewhere/mine", tree: "it is not a directory"},
		"directory of somebody else":   {change: "rm ., put site/mine", tree: "its files differ from those that were unpacked"},
		"both edited":                  {change: "put bundle.tar.gz, put site/mine", file: "its SHA-256 checksum is ", tree: "its files differ from those that were unpacked"},
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
		c.Run(t, 0, "apply", "-auto-approve")
	}
	changeAll := func() map[string]map[string]string {
		changed := map[string]map[string]string{}
		for name, test := range tests {
			c.change(t, label(name), test.change)
			changed[name] = c.disk(t, label(name))
		}
		return changed
	}
	// foreign copies into onto what is not the provider's, and appends to its names.
	foreign := func(name string, changed, onto map[string]string, suffix string) {
		for file, content := range changed {
			place, rest, _ := strings.Cut(file, "/")
			switch {
			case place == "elsewhere":
				onto[file] = content
			case place == "bundle.tar.gz" && tests[name].file != "", place == "site" && tests[name].tree != "":
				onto[strings.TrimSuffix(place+suffix+"/"+rest, "/")] = content
			}
		}
	}
	apply("se_1")
	c.change(t, "older", "copy as_recorded")
	apply("se_2")
	c.change(t, "latest", "copy as_recorded")
	fresh := c.disk(t, "latest")

	changed := changeAll()
	wantPhrases(t, c.Run(t, 0, "plan", "-refresh-only"), "No changes.")
	plan := c.report(t, 2, "plan", "-detailed-exitcode", "-out=saved")
	applied := c.report(t, 0, "apply", "saved")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, want := plan.planned[label(name)], map[bool]string{false: "update"}[test.change == ""]; got != want {
				t.Errorf("planned %q, want %q", got, want)
			}
			var warned, moved []string
			for _, found := range []struct{ argument, place, difference string }{{"path", "bundle.tar.gz", test.file}, {"extract_to", "site", test.tree}} {
				if found.difference != "" {
					warned = append(warned, "warning: Files differ from what the provider wrote ("+found.argument+")", found.place+" differs from what the provider wrote: "+found.difference, "It will be moved aside by the apply.")
					moved = append(moved, "warning: Files moved aside", c.inFolder(label(name), found.place)+".backup-2030")
				}
			}
			plan.wantSaid(t, name, warned...)
			applied.wantSaid(t, name, moved...)
			want := maps.Clone(fresh)
			foreign(name, changed[name], want, ".backup")
			c.wantDisk(t, label(name), want)
		})
	}
	c.wantEmptyPlan(t)

	for name := range tests {
		c.change(t, label(name), "copy latest")
	}
	changed = changeAll()
	said := c.report(t, 0, "destroy", "-auto-approve").said[""] // the warnings have no address
	warnings := 0
	for name, test := range tests {
		t.Run("destroy, "+name, func(t *testing.T) {
			for place, difference := range map[string]string{"bundle.tar.gz": test.file, "site": test.tree} {
				if difference != "" {
					warnings++
					wantPhrases(t, said, c.inFolder(label(name), place)+" differs from what the provider wrote: "+difference)
				}
			}
			left := map[string]string{}
			foreign(name, changed[name], left, "")
			c.wantDisk(t, label(name), left)
		})
	}
	if n := strings.Count(said, "It was not deleted."); n != warnings {
		t.Errorf("%d warnings, want %d:\n%s", n, warnings, said)
	}
}
