// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// disk is a directory with the target of one resource.
type disk struct {
	t    *testing.T
	root string
	Target
	owned Owned
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	root := t.TempDir()
	return &disk{t: t, root: root, Target: Target{Path: filepath.Join(root, "out", "bundle.tgz"), Directory: filepath.Join(root, "site")}}
}

// stage stages data, which the object store answers with.
func (d *disk) stage(data []byte, request Request) (*Staged, error) {
	s := &store{steps: []step{object(data, `"v1"`)}}
	request.Link = s.link
	return Stage(d.t.Context(), s, d.Target, request)
}

// put stages and commits data, and fails the test on an error.
func (d *disk) put(data []byte, request Request) (movedAside []string) {
	d.t.Helper()
	staged, err := d.stage(data, request)
	must(d.t, err)
	defer staged.Discard()
	movedAside, err = staged.Commit(d.t.Context(), &d.owned, at)
	must(d.t, err)
	return movedAside
}

func (d *disk) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// wantListing compares all that is on the disk.
func (d *disk) wantListing(want map[string]string) {
	d.t.Helper()
	if got := listing(d.t, d.root); !maps.Equal(got, want) {
		d.t.Errorf("on disk there is %q, want %q", got, want)
	}
}

// siteOf packs a site of two pages in an archive.
func siteOf(t *testing.T, version string) []byte {
	return gzipOf(t, tarOf(t, regular("docs/guide.html", "guide "+version), regular("index.html", "home "+version)))
}

func listingOf(archive []byte, version string) map[string]string {
	return map[string]string{
		"out/": "", "out/bundle.tgz": string(archive),
		"site/": "", "site/docs/": "", "site/docs/guide.html": "guide " + version, "site/index.html": "home " + version,
	}
}

func TestBundleIsWrittenDescribedAndRemoved(t *testing.T) {
	t.Parallel()
	d, data := newDisk(t), siteOf(t, "1")
	staged, err := d.stage(data, Request{Create: true, SHA256: strings.ToUpper(sumOf(data))})
	must(t, err)
	if listing := listing(t, d.root); listing["out/bundle.tgz"] != "" || listing["site/index.html"] != "" {
		t.Error("the target changed before Commit")
	}
	movedAside, err := staged.Commit(t.Context(), &d.owned, at)
	staged.Discard()
	if err != nil || len(movedAside) > 0 {
		t.Fatalf("moved aside %q, error %v", movedAside, err)
	}
	d.wantListing(listingOf(data, "1"))
	described, err := Describe(t.Context(), d.Path)
	want := Contents{SHA256: sumOf(data), SizeBytes: int64(len(data)), ContentSHA256: d.owned.Trees[0], FileCount: 2}
	if err != nil || described != want || staged.Contents() != want {
		t.Errorf("it is staged as %+v and described as %+v, want %+v; error %v", staged.Contents(), described, want, err)
	}
	if findings, err := d.Inspect(t.Context(), d.owned); err != nil || !findings.Complete() {
		t.Errorf("found %+v, error %v, want it complete", findings, err)
	}
	_, err = d.Remove(t.Context(), d.owned)
	must(t, err)
	d.wantListing(map[string]string{"out/": ""})
}

func TestBundleNeedNotBeUnpackedNorBeAnArchive(t *testing.T) {
	t.Parallel()
	archive := siteOf(t, "1")
	for name, tc := range map[string]struct {
		data    []byte
		content string // wanted digest
		files   int64
		err     bool
	}{
		"an archive":                         {archive, "", 2, false},
		"an archive of a known content":      {archive, contentOf(t, archive), 2, false},
		"another file":                       {[]byte("text"), "", 0, false},
		"another file in place of a content": {[]byte("text"), contentOf(t, archive), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			d.Directory = ""
			staged, err := d.stage(tc.data, Request{Create: true, ContentSHA256: tc.content})
			var archiveError *ArchiveError
			if errors.As(err, &archiveError) != tc.err || err != nil && !tc.err {
				t.Fatalf("error %v, want one of the archive: %t", err, tc.err)
			}
			if err != nil {
				return
			}
			defer staged.Discard()
			_, err = staged.Commit(t.Context(), &d.owned, at)
			must(t, err)
			findings, err := d.Inspect(t.Context(), d.owned)
			if c := staged.Contents(); err != nil || !findings.Complete() || c.FileCount != tc.files || (c.ContentSHA256 != "") != (tc.files > 0) || d.owned.Trees != nil {
				t.Errorf("contents %+v, found %+v, owned %+v, error %v", c, findings, d.owned, err)
			}
			_, err = d.Remove(t.Context(), d.owned)
			must(t, err)
			staged.Discard()
			d.wantListing(map[string]string{"out/": ""})
		})
	}
}

func contentOf(t *testing.T, data []byte) string {
	t.Helper()
	archive, _ := place(t, data)
	found, err := Describe(t.Context(), archive)
	must(t, err)
	return found.ContentSHA256
}

// TestOwnership is the table of what is on disk: what is ours is replaced and
// deleted, and what is not is moved aside, left, and described.
func TestOwnership(t *testing.T) {
	t.Parallel()
	older, newer, newest := siteOf(t, "1"), siteOf(t, "2"), siteOf(t, "3")
	const backup = ".backup-20260301T120000.000Z"
	for name, tc := range map[string]struct {
		change     func(t *testing.T, d *disk) // since the bundle was written
		file, tree Finding
		// moved says which of the two an update moves aside.
		fileMoved, treeMoved bool
	}{
		"as it was written": {
			change: func(*testing.T, *disk) {},
			file:   Finding{State: Current}, tree: Finding{State: Current},
		},
		"an older bundle": {
			change: func(_ *testing.T, d *disk) {
				owned := d.owned
				d.put(older, Request{})
				d.owned = owned
			},
			file: Finding{State: Older}, tree: Finding{State: Older},
		},
		"nothing": {
			change: func(t *testing.T, d *disk) { must(t, os.RemoveAll(d.path("out"))); must(t, os.RemoveAll(d.Directory)) },
		},
		"an empty directory": {
			change: func(t *testing.T, d *disk) { must(t, os.RemoveAll(d.Directory)); must(t, os.Mkdir(d.Directory, 0o755)) },
			file:   Finding{State: Current},
		},
		"an added file": {
			change: func(t *testing.T, d *disk) { write(t, d.path("site/docs/mine.txt"), "mine") },
			file:   Finding{State: Current}, tree: Finding{Foreign, `"docs/mine.txt" was added`}, treeMoved: true,
		},
		"an added directory": {
			change: func(t *testing.T, d *disk) { must(t, os.Mkdir(d.path("site/a"), 0o755)) },
			file:   Finding{State: Current}, tree: Finding{Foreign, `"a" was added`}, treeMoved: true,
		},
		"an edited file": {
			change: func(t *testing.T, d *disk) { write(t, d.path("site/index.html"), "mine") },
			file:   Finding{State: Current}, tree: Finding{Foreign, `"index.html" was changed`}, treeMoved: true,
		},
		"a removed file": {
			change: func(t *testing.T, d *disk) { must(t, os.Remove(d.path("site/docs/guide.html"))) },
			file:   Finding{State: Current}, tree: Finding{Foreign, `"docs/guide.html" is missing`}, treeMoved: true,
		},
		"a link in place of a directory": {
			change: func(t *testing.T, d *disk) {
				must(t, os.Rename(d.path("site/docs"), d.path("elsewhere")))
				must(t, os.Symlink("../elsewhere", d.path("site/docs")))
			},
			file: Finding{State: Current}, tree: Finding{Foreign, `"docs" is a symbolic link instead of a directory`}, treeMoved: true,
		},
		"a link in place of everything": {
			change: func(t *testing.T, d *disk) {
				must(t, os.Rename(d.Directory, d.path("elsewhere")))
				must(t, os.Symlink("elsewhere", d.Directory))
				d.Directory += "/" // behind a slash, the system would follow it
			},
			file: Finding{State: Current}, tree: Finding{Foreign, "it is not a directory"}, treeMoved: true,
		},
		"a file in place of the directory": {
			change: func(t *testing.T, d *disk) { must(t, os.RemoveAll(d.Directory)); write(t, d.Directory, "mine") },
			file:   Finding{State: Current}, tree: Finding{Foreign, "it is not a directory"}, treeMoved: true,
		},
		"an edited archive": {
			change: func(t *testing.T, d *disk) { write(t, d.Path, "mine") },
			file:   Finding{Foreign, "its SHA-256 checksum is " + sumOf([]byte("mine"))}, tree: Finding{State: Current}, fileMoved: true,
		},
		"a link in place of the archive": {
			change: func(t *testing.T, d *disk) {
				must(t, os.Rename(d.Path, d.path("elsewhere")))
				must(t, os.Symlink("../elsewhere", d.Path))
			},
			file: Finding{Foreign, "it is not a regular file"}, tree: Finding{State: Current}, fileMoved: true,
		},
		"an edited file without its archive": {
			change: func(t *testing.T, d *disk) { must(t, os.Remove(d.Path)); write(t, d.path("site/index.html"), "mine") },
			tree:   Finding{Foreign, "its files differ from those that were unpacked"}, treeMoved: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			d.put(older, Request{Create: true})
			d.put(newer, Request{})
			tc.change(t, d)
			before := listing(t, d.root)
			findings, err := d.Inspect(t.Context(), d.owned)
			if want := (Findings{tc.file, tc.tree}); err != nil || findings != want {
				t.Errorf("found %+v, error %v, want %+v", findings, err, want)
			}
			d.wantListing(before)

			t.Run("and an update", func(t *testing.T) {
				movedAside := d.put(newest, Request{})
				want, names := listingOf(newest, "3"), []string(nil)
				for name, content := range before {
					switch {
					case strings.HasPrefix(name, "elsewhere"):
						want[name] = content
					case tc.treeMoved && (name == "site" || strings.HasPrefix(name, "site/")):
						want["site"+backup+name[len("site"):]] = content
					case tc.fileMoved && name == "out/bundle.tgz":
						want[name+backup] = content
					}
				}
				if tc.treeMoved {
					names = append(names, d.path("site")+backup)
				}
				if tc.fileMoved {
					names = append(names, d.Path+backup)
				}
				if !slices.Equal(movedAside, names) {
					t.Errorf("moved aside %q, want %q", movedAside, names)
				}
				d.wantListing(want)
			})
		})
		t.Run(name+" and a destroy", func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			d.put(older, Request{Create: true})
			d.put(newer, Request{})
			tc.change(t, d)
			want := listing(t, d.root)
			maps.DeleteFunc(want, func(name, _ string) bool {
				return tc.file.ours() && name == "out/bundle.tgz" || tc.tree.ours() && strings.HasPrefix(name, "site/")
			})
			findings, err := d.Remove(t.Context(), d.owned)
			if want := (Findings{tc.file, tc.tree}); err != nil || findings != want {
				t.Errorf("found %+v, error %v, want %+v", findings, err, want)
			}
			d.wantListing(want)
		})
	}
}

func TestBundleThatAKilledProcessPutInPlaceIsReplaced(t *testing.T) {
	t.Parallel()
	d, data := newDisk(t), siteOf(t, "1")
	d.put(data, Request{Create: true})
	d.owned = Owned{} // never stored
	if movedAside := d.put(data, Request{}); len(movedAside) > 0 {
		t.Errorf("moved aside %q", movedAside)
	}
	d.wantListing(listingOf(data, "1"))
}

func TestCreateRefusesWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare   func(t *testing.T, d *disk)
		directory bool
		problem   string // "" if it is not refused
	}{
		"a file":                   {func(t *testing.T, d *disk) { write(t, d.Path, "mine") }, false, "already exists"},
		"a directory for the file": {func(t *testing.T, d *disk) { must(t, os.MkdirAll(d.Path, 0o755)) }, false, "already exists"},
		"a link to nothing": {func(t *testing.T, d *disk) {
			must(t, os.Mkdir(d.path("out"), 0o755))
			must(t, os.Symlink("nothing", d.Path))
		}, false, "already exists"},
		"a page":                   {func(t *testing.T, d *disk) { write(t, d.path("site/mine.html"), "mine") }, true, "already exists and is not empty"},
		"a file for the directory": {func(t *testing.T, d *disk) { write(t, d.Directory, "mine") }, true, "already exists and is not a directory"},
		"a link to a directory":    {func(t *testing.T, d *disk) { must(t, os.Symlink(".", d.Directory)) }, true, "already exists and is not a directory"},
		"an empty directory":       {func(t *testing.T, d *disk) { must(t, os.Mkdir(d.Directory, 0o755)) }, false, ""},
	} {
		check := func(t *testing.T, d *disk, err error) {
			t.Helper()
			var occupied *OccupiedError
			if tc.problem == "" && err == nil {
				return
			}
			want := OccupiedError{Name: d.Path, Directory: tc.directory, Problem: tc.problem}
			if tc.directory {
				want.Name = d.Directory
			}
			if !errors.As(err, &occupied) || *occupied != want {
				t.Errorf("error %v, want %v", err, &want)
			}
		}
		t.Run(name+" before the download", func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			tc.prepare(t, d)
			before := listing(t, d.root)
			s := &store{steps: []step{object(siteOf(t, "1"), `"v1"`)}}
			staged, err := Stage(t.Context(), s, d.Target, Request{Link: s.link, Create: true})
			check(t, d, err)
			if staged != nil {
				staged.Discard()
				before["out/"] = ""
			} else if len(s.asked) > 0 {
				t.Errorf("requests %q, want none", s.asked)
			}
			d.wantListing(before)
		})
		t.Run(name+" after the download", func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			staged, err := d.stage(siteOf(t, "1"), Request{Create: true})
			must(t, err)
			defer staged.Discard()
			if name == "a link to nothing" {
				must(t, os.Symlink("nothing", d.Path))
			} else {
				tc.prepare(t, d)
			}
			_, err = staged.Commit(t.Context(), &d.owned, at)
			if (err != nil) != (tc.problem != "") {
				t.Errorf("error %v, want %q", err, tc.problem)
			}
			if found := listing(t, d.root); err != nil && (found["site/index.html"] != "" || len(found["out/bundle.tgz"]) > 10) || len(d.owned.Files) > 0 != (err == nil) {
				t.Errorf("on disk there is %q, owned %v", found, d.owned)
			}
		})
	}
}

func TestFailureLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	data := siteOf(t, "2")
	for name, tc := range map[string]struct {
		data    []byte
		request Request
		spoil   func(d *disk, staged *Staged) // before Commit; nil if Stage fails
		err     string
	}{
		"a wrong checksum":        {data, Request{SHA256: sumOf(nil)}, nil, "the bundle's SHA-256 checksum is " + sumOf(data) + ", not " + sumOf(nil)},
		"other content":           {data, Request{ContentSHA256: sumOf(nil)}, nil, "the digest of the bundle's content is " + contentOf(t, data) + ", not " + sumOf(nil)},
		"no archive":              {[]byte("text"), Request{}, nil, "archive: it is not a tar"},
		"a hostile archive":       {tarOf(t, regular("index.html", "x"), regular("../evil", "x")), Request{}, nil, "unsafe name"},
		"no file to put in place": {data, Request{}, func(_ *disk, s *Staged) { _ = os.Remove(s.file.fresh) }, "no such file"},
		"no site to put in place": {data, Request{}, func(_ *disk, s *Staged) { _ = os.RemoveAll(s.tree.fresh) }, "no such file"},
		"no place for a backup": {data, Request{}, func(d *disk, _ *Staged) {
			_ = os.WriteFile(d.Path, []byte("mine"), 0o600)
			_ = os.WriteFile(d.Path+".backup-20260301T120000.000Z", nil, 0o600)
		}, "appeared in the meantime"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			d.put(siteOf(t, "1"), Request{Create: true})
			before, owned := listing(t, d.root), d.owned
			staged, err := d.stage(tc.data, tc.request)
			if tc.spoil != nil {
				must(t, err)
				tc.spoil(d, staged)
				for name, content := range listing(t, d.root) {
					if !strings.Contains(name, ".docs-bundle-") {
						before[name] = content
					}
				}
				_, err = staged.Commit(t.Context(), &d.owned, at)
				staged.Discard()
			}
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			d.wantListing(before)
			if !slices.Equal(d.owned.Files, owned.Files) {
				t.Errorf("owned %v, want %v", d.owned, owned)
			}
		})
	}
}

func TestUndoSaysWhereThingsAreIfItFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "bundle"), filepath.Join(dir, "aside")
	write(t, from, "old")
	var done moves
	must(t, done.move(from, to))
	write(t, from, "mine")
	if err := done.undo(); err == nil || !strings.Contains(err.Error(), "what was at "+from+" is now at "+to) {
		t.Errorf("error %v", err)
	}
	if got := listing(t, dir); got["bundle"] != "mine" || got["aside"] != "old" {
		t.Errorf("on disk there is %q", got)
	}
}

func TestScratchDirectoryThatHoldsTheOnlyCopyIsNotLitter(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	staged, err := d.stage(siteOf(t, "one"), Request{Create: true})
	must(t, err)
	only := filepath.Join(staged.tree.directory, "old")
	must(t, os.WriteFile(only, []byte("precious"), 0o600))
	staged.keep()
	staged.Discard()
	d.put(siteOf(t, "two"), Request{Create: true})
	if content, err := os.ReadFile(only); string(content) != "precious" {
		t.Errorf("it holds %q (%v)", content, err)
	}
}

func TestCommitAndInspectEndWithTheirContext(t *testing.T) {
	t.Parallel()
	d, cause := newDisk(t), errors.New("interrupted")
	d.put(siteOf(t, "1"), Request{Create: true})
	before := listing(t, d.root)
	staged, err := d.stage(siteOf(t, "2"), Request{})
	must(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := staged.Commit(ctx, &d.owned, at); !errors.Is(err, cause) {
		t.Errorf("Commit: error %v, want %v", err, cause)
	}
	staged.Discard()
	if _, err := d.Remove(ctx, d.owned); !errors.Is(err, cause) {
		t.Errorf("Remove: error %v, want %v", err, cause)
	}
	d.wantListing(before)
}

func TestModesOfWhatIsReplacedAreKept(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	for name, change := range map[string]func(d *disk){
		"of a bundle of ours":  func(*disk) {},
		"of something foreign": func(d *disk) { write(t, d.Path, "mine"); write(t, d.path("site/mine"), "mine") },
		"of an empty directory": func(d *disk) {
			must(t, os.RemoveAll(d.path("site/docs")))
			must(t, os.Remove(d.path("site/index.html")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			d.put(siteOf(t, "1"), Request{Create: true})
			change(d)
			must(t, os.Chmod(d.Directory, 0o700))
			must(t, os.Chmod(d.Path, 0o600))
			d.put(siteOf(t, "2"), Request{})
			if file, tree := modeOf(t, d.Path), modeOf(t, d.Directory); file != 0o600 || tree != fs.ModeDir|0o700 {
				t.Errorf("the file has mode %s and the directory %s", file, tree)
			}
		})
	}
}

func TestStageRemovesWhatKilledProcessesLeft(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	running, err := d.stage(siteOf(t, "1"), Request{})
	must(t, err)
	defer running.Discard()
	write(t, d.path(".site.docs-bundle-1/lock"), "")
	write(t, d.path(".site.docs-bundle-1/new/index.html"), "half")
	write(t, d.path("out/.bundle.tgz.docs-bundle-2/lock"), "")
	want := map[string]string{}
	for name, content := range map[string]string{
		".site.docs-bundle-mine":         "a file",
		".site.docs-bundle-3/index.html": "no lock",
		".other.docs-bundle-4/lock":      "another target",
	} {
		write(t, d.path(name), content)
		want[name] = content
	}
	must(t, os.MkdirAll(d.path(".site.docs-bundle-5/lock"), 0o755))
	staged, err := d.stage(siteOf(t, "1"), Request{})
	must(t, err)
	staged.Discard()
	found := listing(t, d.root)
	for _, name := range []string{".site.docs-bundle-1/", "out/.bundle.tgz.docs-bundle-2/"} {
		if _, ok := found[name]; ok {
			t.Errorf("%s is still there", name)
		}
	}
	for name, content := range want {
		if found[name] != content {
			t.Errorf("%s is gone", name)
		}
	}
	if _, ok := found[".site.docs-bundle-5/lock/"]; !ok {
		t.Error("a directory called lock is gone")
	}
	_, err = running.Commit(t.Context(), &d.owned, at)
	must(t, err) // what another process stages is not removed
}

func TestRemoveRemovesWhatKilledProcessesLeft(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	write(t, d.path(".site.docs-bundle-1/lock"), "")
	write(t, d.path("out/.bundle.tgz.docs-bundle-2/lock"), "")
	_, err := d.Remove(t.Context(), d.owned)
	must(t, err)
	d.wantListing(map[string]string{"out/": ""})
}

func TestScratchDirectoriesInUseAreNotRemovedByOthers(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "site")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				s, err := newScratch(name)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(s.fresh, nil, 0o600); err != nil {
					t.Error(err)
				}
				s.remove()
			}
		})
	}
	group.Wait()
	if left := listing(t, filepath.Dir(name)); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestScratchOfALongNameHasAName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("n", 255), strings.Repeat("語", 85)} {
		s, err := newScratch(filepath.Join(t.TempDir(), name))
		must(t, err)
		s.remove()
	}
}

func TestDirectoryThatCannotBeReplacedIsRefused(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	var occupied *OccupiedError
	if err := checkMovable(empty, filepath.Join(empty, "inside")); !errors.As(err, &occupied) || !occupied.Directory || occupied.Name != empty {
		t.Errorf("error %v, want one of the directory", err)
	}
}

func TestStageChecksTheTargetBehindLinks(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	must(t, os.Symlink("site", d.path("link")))
	must(t, os.Mkdir(d.path("site"), 0o755))
	d.Path = d.path("link/bundle.tgz")
	if _, err := d.stage(siteOf(t, "1"), Request{}); err == nil || !strings.Contains(err.Error(), "inside each other") {
		t.Errorf("error %v", err)
	}
	d.Path = d.path("out") + "/"
	if _, err := d.stage(siteOf(t, "1"), Request{}); err == nil || !strings.Contains(err.Error(), "names a directory") {
		t.Errorf("error %v", err)
	}
}

// Commit and Remove inspect what they replace again, where nobody reaches it any more.
func TestChangeAfterTheInspectionIsKept(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.put(siteOf(t, "one"), Request{Create: true})
	staged, err := d.stage(siteOf(t, "two"), Request{})
	must(t, err)
	defer staged.Discard()
	var done moves
	_, err = done.swap(staged.tree, d.Directory, Current, at)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(staged.tree.old, "mine"), []byte("precious"), 0o600))
	backups, err := staged.keepLateChanges(t.Context(), d.owned, at)
	must(t, err)
	if len(backups) != 1 {
		t.Fatalf("backups are %q", backups)
	}
	if content, err := os.ReadFile(filepath.Join(backups[0], "mine")); string(content) != "precious" {
		t.Errorf("the backup has %q (%v)", content, err)
	}
	found, err := removeOurs(t.Context(), backups[0], d.owned)
	must(t, err)
	if _, err := os.Stat(filepath.Join(backups[0], "mine")); found.State != Foreign || err != nil {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestArchiveThatIsCutOffIsAnErrorAlsoIfItIsNotUnpacked(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.Directory = ""
	archive := siteOf(t, "one")
	s := &store{steps: []step{answer(200, archive[:len(archive)/2])}}
	var unusable *ArchiveError
	if _, err := Stage(t.Context(), s, d.Target, Request{Link: s.link, Create: true}); !errors.As(err, &unusable) {
		t.Errorf("error %v", err)
	}
	d.wantListing(map[string]string{"out/": ""})
}

func TestOwnedKeepsTheLast20(t *testing.T) {
	t.Parallel()
	var owned Owned
	for i := range 25 {
		owned = owned.with(fmt.Sprint("file ", i), fmt.Sprint("tree ", i))
	}
	owned = owned.with("file 7", "")
	stored, err := json.Marshal(owned)
	must(t, err)
	var got Owned
	must(t, json.Unmarshal(stored, &got))
	if len(got.Files) != 20 || got.Files[0] != "file 5" || got.Files[19] != "file 7" || len(got.Trees) != 20 || got.Trees[19] != "tree 24" {
		t.Errorf("stored %s", stored)
	}
	if again := got.with("file 10", ""); len(again.Files) != 20 || again.Files[19] != "file 10" || got.Files[19] != "file 7" {
		t.Errorf("with a known file it is %v", again.Files)
	}
}
