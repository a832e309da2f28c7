// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
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

// pack returns a gzip-compressed tar of pages, each "NAME CONTENT". Another level
// makes another file of the same pages.
func pack(t *testing.T, level int, pages ...string) []byte {
	t.Helper()
	var packed bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&packed, level)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(compressed)
	for _, page := range pages {
		name, content, _ := strings.Cut(page, " ")
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// addBundle adds a completed job whose bundle is the archive.
func (h *harness) addBundle(id string, archive []byte) {
	h.AddJob(simulator.JobSpec{ID: id, Queue: ended, Run: ended, Archive: archive})
}

// download returns a configuration that downloads a bundle to FOLDER/NAME/bundle.tar.gz
// and unpacks it to FOLDER/NAME/site.
func download(name, jobID, arguments string) string {
	return fmt.Sprintf("resource \"docs_bundle_download\" %q {\n  job_id = %q\n  path = \"FOLDER/%[1]s/bundle.tar.gz\"\n  extract_to = \"FOLDER/%[1]s/site\"\n  %[3]s\n}\n", name, jobID, arguments)
}

// writeInFolder replaces the configuration, with the name of the folder in place of
// FOLDER: the provider runs in the test's process, so not in that folder.
func (c *cli) writeInFolder(t *testing.T, config string) {
	t.Helper()
	c.write(t, strings.ReplaceAll(config, "FOLDER", filepath.ToSlash(c.Folder)))
}

var backupTime = regexp.MustCompile(`\.backup-20300131T12\d{4}\.\d{3}Z`)

// disk returns what is in a directory of the folder: contents of files and targets of
// links, by their names. The times in the names of backups are left out.
func (c *cli) disk(t *testing.T, directory string) map[string]string {
	t.Helper()
	root, found := filepath.Join(c.Folder, directory), map[string]string{}
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
		found[backupTime.ReplaceAllString(filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator))), ".backup")] = string(content)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

// wantDisk checks everything that is in a directory of the folder.
func (c *cli) wantDisk(t *testing.T, directory string, want map[string]string) {
	t.Helper()
	if got := c.disk(t, directory); !reflect.DeepEqual(got, want) {
		t.Errorf("%s holds\n%.60q\nwant\n%.60q", directory, got, want)
	}
}

// put writes a file in the folder.
func (c *cli) put(t *testing.T, name, content string) {
	t.Helper()
	name = filepath.Join(c.Folder, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// remove removes files and directories of the folder.
func (c *cli) remove(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(c.Folder, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDownloadReplacesItsOwnFilesOnly goes through what may be on disk, row by row:
// what the plan says, what the apply does, and what destroy deletes.
func TestDownloadReplacesItsOwnFilesOnly(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	older, latest := []string{"index.html old", "gone.html gone"}, []string{"index.html new", "guides/links.html links"}
	h.addBundle("se_1", pack(t, gzip.BestSpeed, older...))
	h.addBundle("se_2", pack(t, gzip.BestSpeed, latest...))
	c := h.cli(t, "")
	fresh := map[string]string{"bundle.tar.gz": string(pack(t, gzip.BestSpeed, latest...)), "site/index.html": "new", "site/guides/links.html": "links"}
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(c.Folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	type row struct {
		change func(root string)
		// foreign is what the provider did not write, with the words of the warning.
		foreign map[string]string
		// complete means that there is nothing to do.
		complete bool
	}
	tests := map[string]row{
		"as recorded": {change: func(string) {}, complete: true},
		"older bundle": {change: func(root string) {
			c.remove(t, root)
			c.put(t, root+"/bundle.tar.gz", string(pack(t, gzip.BestSpeed, older...)))
			c.put(t, root+"/site/index.html", "old")
			c.put(t, root+"/site/gone.html", "gone")
		}},
		"older directory only": {change: func(root string) {
			c.remove(t, root+"/site")
			c.put(t, root+"/site/index.html", "old")
			c.put(t, root+"/site/gone.html", "gone")
		}},
		"everything missing": {change: func(root string) { c.remove(t, root) }},
		"file missing":       {change: func(root string) { c.remove(t, root+"/bundle.tar.gz") }},
		"directory missing":  {change: func(root string) { c.remove(t, root+"/site") }},
		"directory empty":    {change: func(root string) { c.remove(t, root+"/site/index.html", root+"/site/guides") }},
		"file edited": {
			change:  func(root string) { c.put(t, root+"/bundle.tar.gz", "mine") },
			foreign: map[string]string{"bundle.tar.gz": "its SHA-256 checksum is "},
		},
		"file replaced by a link": {
			change: func(root string) {
				c.remove(t, root+"/bundle.tar.gz")
				link("site/index.html", root+"/bundle.tar.gz")
			},
			foreign: map[string]string{"bundle.tar.gz": "it is not a regular file"},
		},
		"file replaced by a directory": {
			change: func(root string) {
				c.remove(t, root+"/bundle.tar.gz")
				c.put(t, root+"/bundle.tar.gz/mine", "mine")
			},
			foreign: map[string]string{"bundle.tar.gz": "it is not a regular file"},
		},
		"page added": {
			change:  func(root string) { c.put(t, root+"/site/mine.html", "mine") },
			foreign: map[string]string{"site": `"mine.html" was added`},
		},
		"page edited": {
			change:  func(root string) { c.put(t, root+"/site/index.html", "mine") },
			foreign: map[string]string{"site": `"index.html" was changed`},
		},
		"page removed": {
			change:  func(root string) { c.remove(t, root+"/site/guides/links.html") },
			foreign: map[string]string{"site": `"guides/links.html" is missing`},
		},
		"page replaced by a link": {
			change: func(root string) {
				c.remove(t, root+"/site/index.html")
				link("guides/links.html", root+"/site/index.html")
			},
			foreign: map[string]string{"site": `"index.html" is a symbolic link instead of a file`},
		},
		"directory replaced by a link": {
			change: func(root string) {
				c.put(t, root+"/elsewhere/mine", "mine")
				c.remove(t, root+"/site")
				link("elsewhere", root+"/site")
			},
			foreign: map[string]string{"site": "it is not a directory"},
		},
		"directory of somebody else, file missing": {
			change: func(root string) {
				c.remove(t, root)
				c.put(t, root+"/site/mine", "mine")
			},
			foreign: map[string]string{"site": "it does not hold what was unpacked into it"},
		},
		"both edited": {
			change: func(root string) {
				c.put(t, root+"/bundle.tar.gz", "mine")
				c.put(t, root+"/site/mine", "mine")
			},
			foreign: map[string]string{"bundle.tar.gz": "its SHA-256 checksum is ", "site": "it does not hold what was unpacked into it"},
		},
	}
	for _, job := range []string{"se_1", "se_2"} {
		var config strings.Builder
		for name := range tests {
			config.WriteString(download(label(name), job, ""))
		}
		c.writeInFolder(t, config.String())
		c.Run(t, 0, "apply", "-auto-approve")
	}
	change := func() (before map[string]map[string]string) {
		before = map[string]map[string]string{}
		for name, test := range tests {
			test.change(label(name))
			before[name] = c.disk(t, label(name))
		}
		return before
	}

	before := change()
	wantPhrases(t, c.Run(t, 0, "plan", "-refresh-only"), "No changes.")
	plan := c.report(t, 2, "plan", "-detailed-exitcode", "-out=saved")
	apply := c.report(t, 0, "apply", "saved")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, want := plan.planned[label(name)], map[bool]string{false: "update"}[test.complete]; got != want {
				t.Errorf("planned %q, want %q", got, want)
			}
			var planned, applied []string
			want := maps.Clone(fresh)
			for place, difference := range test.foreign {
				argument := map[string]string{"bundle.tar.gz": "path", "site": "extract_to"}[place]
				planned = append(planned, "warning: Files were not written by the provider ("+argument+")", place+" is not as the provider wrote it: "+difference, "It is moved aside by the apply.")
				applied = append(applied, "warning: Files moved aside", "/"+label(name)+"/"+place+".backup-2030")
				for file, content := range before[name] {
					if rest, ok := strings.CutPrefix(file, place); ok {
						want[place+".backup"+rest] = content
					}
				}
			}
			for file, content := range before[name] {
				if strings.HasPrefix(file, "elsewhere/") {
					want[file] = content
				}
			}
			plan.wantSaid(t, name, planned...)
			apply.wantSaid(t, name, applied...)
			c.wantDisk(t, label(name), want)
		})
	}
	c.wantEmptyPlan(t)

	for name := range tests {
		for file := range tests[name].foreign {
			backups, _ := filepath.Glob(filepath.Join(c.Folder, label(name), file+".backup-*"))
			for _, backup := range backups {
				c.remove(t, strings.TrimPrefix(backup, c.Folder))
			}
		}
	}
	before = change()
	destroy := c.report(t, 0, "destroy", "-auto-approve").said[""] // Terraform gives it no address
	warnings := 0
	for name, test := range tests {
		warnings += len(test.foreign)
		t.Run("destroy, "+name, func(t *testing.T) {
			left := map[string]string{}
			for place, difference := range test.foreign {
				wantPhrases(t, destroy, "/"+label(name)+"/"+place+" is not as the provider wrote it: "+difference)
				for file, content := range before[name] {
					if strings.HasPrefix(file, place) || strings.HasPrefix(file, "elsewhere/") {
						left[file] = content
					}
				}
			}
			c.wantDisk(t, label(name), left)
		})
	}
	if n := strings.Count(destroy, "It is left as it is."); n != warnings {
		t.Errorf("%d warnings, want %d:\n%s", n, warnings, destroy)
	}
}
