// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOwnership is the table of what may be on disk: what is ours is replaced and
// deleted, and everything else stops an update and is left by a destroy.
func TestOwnership(t *testing.T) {
	t.Parallel()
	first, second, third := siteOf(t, "1"), siteOf(t, "2"), siteOf(t, "3")
	const differs, unknown = "differs from what this resource wrote", "already exists"
	foreign := func(problem string) part { return part{problem: problem} }
	gone, latest, old := part{}, part{owned: true, latest: true}, part{owned: true}
	doubtful := func(doubt string) part { return part{owned: true, latest: true, doubt: doubt} }
	goBack := func(t *testing.T, d *disk) { // to the disk of a machine that has not seen the update
		owned := d.owned
		must(t, d.put(first))
		owned.Files[0].Time, owned.Trees[0].Time = timeOf(d.Path), timeOf(d.Directory)
		d.owned = owned
	}
	for name, tc := range map[string]struct {
		change     func(t *testing.T, d *disk) // since the bundle was written
		file, tree part
	}{
		"as it was written": {func(*testing.T, *disk) {}, latest, latest},
		"an older bundle":   {goBack, old, old},
		"nothing": {func(t *testing.T, d *disk) {
			must(t, os.RemoveAll(d.path("out")))
			must(t, os.RemoveAll(d.Directory))
		}, gone, gone},
		"an empty directory": {func(t *testing.T, d *disk) {
			must(t, os.RemoveAll(d.Directory))
			must(t, os.Mkdir(d.Directory, 0o755))
		}, latest, gone},
		"a page whose time changed": {func(t *testing.T, d *disk) {
			must(t, os.Chtimes(d.path("site/index.html"), time.Unix(1, 0), time.Unix(1, 0)))
		}, latest, latest},
		"times in whole seconds": {func(t *testing.T, d *disk) { // of a copy by tar
			for _, name := range []string{d.Path, d.Directory} {
				at := time.Unix(0, timeOf(name)).Truncate(time.Second)
				must(t, os.Chtimes(name, at, at))
			}
		}, latest, latest},
		"a newer directory": {func(t *testing.T, d *disk) { // a file was added and removed
			must(t, os.Chtimes(d.Directory, time.Now().Add(time.Minute), time.Now().Add(time.Minute)))
		}, latest, doubtful(replacedSince)},
		"no private state":   {func(_ *testing.T, d *disk) { d.owned.Files[1].Time, d.owned.Trees[1].Time = 0, 0 }, doubtful(unknownTime), doubtful(unknownTime)},
		"an added file":      {func(t *testing.T, d *disk) { write(t, d.path("site/docs/mine.txt"), "mine") }, latest, foreign(differs)},
		"an added directory": {func(t *testing.T, d *disk) { must(t, os.Mkdir(d.path("site/a"), 0o755)) }, latest, foreign(differs)},
		"a removed file":     {func(t *testing.T, d *disk) { must(t, os.Remove(d.path("site/docs/guide.html"))) }, latest, foreign(differs)},
		"two edited files": {func(t *testing.T, d *disk) {
			write(t, d.path("site/index.html"), "mine")
			write(t, d.path("site/docs/guide.html"), "mine")
		}, latest, foreign(differs)},
		"a directory in place of a file": {func(t *testing.T, d *disk) {
			must(t, os.Remove(d.path("site/index.html")))
			write(t, d.path("site/index.html/mine"), "mine")
		}, latest, foreign(differs)},
		"an edited file of an older bundle": {func(t *testing.T, d *disk) {
			goBack(t, d)
			write(t, d.path("site/index.html"), "mine")
		}, old, foreign(differs)},
		"an edited file without the archive": {func(t *testing.T, d *disk) {
			must(t, os.Remove(d.Path))
			write(t, d.path("site/index.html"), "mine")
		}, gone, foreign(differs)},
		"an edited file beside another archive": {func(t *testing.T, d *disk) {
			write(t, d.Path, string(siteOf(t, "4")))
			write(t, d.path("site/index.html"), "mine")
		}, foreign(differs), foreign(differs)},
		"a link in place of a file": {func(t *testing.T, d *disk) {
			must(t, os.Rename(d.path("site/index.html"), d.path("elsewhere")))
			symlink(t, "../elsewhere", d.path("site/index.html"))
		}, latest, foreign(differs)},
		"a link in place of everything": {func(t *testing.T, d *disk) {
			must(t, os.Rename(d.Directory, d.path("elsewhere")))
			symlink(t, "elsewhere", d.Directory)
			d.Directory += "/" // before a slash, the system would follow it
		}, latest, foreign("is a symbolic link")},
		"a file in place of the directory": {func(t *testing.T, d *disk) {
			must(t, os.RemoveAll(d.Directory))
			write(t, d.Directory, "mine")
		}, latest, foreign("is a file")},
		"a directory in place of the archive": {func(t *testing.T, d *disk) {
			must(t, os.Remove(d.Path))
			must(t, os.Mkdir(d.Path, 0o755))
		}, foreign("is a directory"), latest},
		"a link in place of the archive": {func(t *testing.T, d *disk) {
			must(t, os.Rename(d.Path, d.path("elsewhere")))
			symlink(t, "../elsewhere", d.Path)
		}, foreign("is a symbolic link"), latest},
		"files of somebody else where nothing was written": {func(_ *testing.T, d *disk) { d.owned = Owned{} }, foreign(unknown), foreign(unknown)},
	} {
		prepare := func(t *testing.T) (d *disk, before map[string]string) {
			d = newDisk(t)
			must(t, d.put(first))
			must(t, d.put(second))
			tc.change(t, d)
			found := d.inspect()
			for _, p := range []struct{ got, want part }{{*found.directory, tc.tree}, {found.file, tc.file}} {
				if p.got.owned != p.want.owned || p.got.latest != p.want.latest || p.got.doubt != p.want.doubt || !strings.HasPrefix(p.got.problem, p.want.problem) {
					t.Errorf("found %+v, want %+v", p.got, p.want)
				}
			}
			return d, listing(t, d.root)
		}
		t.Run(name+", and an update", func(t *testing.T) {
			t.Parallel()
			d, before := prepare(t)
			d.wantListing(before)
			err := d.put(third)
			if tc.file.problem+tc.tree.problem == "" {
				must(t, err)
				d.wantListing(listingOf(third, "3"))
				return
			}
			occupied, _ := errors.AsType[OccupiedError](err)
			wantProblems(t, occupied, tc.tree.problem, tc.file.problem)
			d.wantListing(before)
		})
		t.Run(name+", and a destroy", func(t *testing.T) {
			t.Parallel()
			d, want := prepare(t)
			maps.DeleteFunc(want, func(name, _ string) bool {
				return tc.file.owned && tc.file.doubt == "" && name == "out/bundle.tgz" || tc.tree.owned && tc.tree.doubt == "" && strings.HasPrefix(name, "site/")
			})
			removed, err := d.inspect().Remove(t.Context())
			must(t, err)
			must(t, removed.Discard())
			wantProblems(t, removed.Left, tc.tree.problem+tc.tree.doubt, tc.file.problem+tc.file.doubt)
			d.wantListing(want)
		})
	}
}

func TestWhatHasTheContentOfTheBundleIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change   func(t *testing.T, d *disk) // since somebody else wrote the same bundle
		occupied string                      // what stops the commit
	}{
		"everything":         {func(*testing.T, *disk) {}, ""},
		"only the file":      {func(t *testing.T, d *disk) { must(t, os.RemoveAll(d.Directory)) }, ""},
		"only the directory": {func(t *testing.T, d *disk) { must(t, os.Remove(d.Path)) }, ""},
		"not another file":   {func(t *testing.T, d *disk) { write(t, d.Path, "mine") }, "bundle.tgz already exists"},
		"not with a link":    {func(t *testing.T, d *disk) { symlink(t, "index.html", d.path("site/z")) }, "site already exists"},
		"not another page":   {func(t *testing.T, d *disk) { write(t, d.path("site/index.html"), "mine") }, "site already exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			must(t, d.put(siteOf(t, "1")))
			tc.change(t, d)
			d.owned = Owned{}
			before, found := listing(t, d.root), d.inspect()
			err := d.put(siteOf(t, "1"))
			if tc.occupied != "" {
				if err == nil || !strings.Contains(err.Error(), tc.occupied) {
					t.Errorf("error %v, want %q", err, tc.occupied)
				}
				d.wantListing(before)
				if after := d.inspect(); after.file != found.file || *after.directory != *found.directory {
					t.Errorf("the times changed from\n%+v\nto\n%+v", found, after)
				}
				return
			}
			must(t, err)
			d.wantListing(listingOf(siteOf(t, "1"), "1"))
			for _, p := range d.inspect().parts() {
				if !p.latest || p.doubt != "" {
					t.Errorf("found %+v, want the resource's own", p)
				}
			}
			must(t, d.remove())
			d.wantListing(map[string]string{"out/": ""})
		})
	}
}

// With create_before_destroy, what a resource wrote is replaced before the resource is
// destroyed, perhaps in a later run.
func TestRemoveLeavesWhatAnotherResourceHasPutInPlace(t *testing.T) {
	t.Parallel()
	for _, on := range []string{"the same disk", "a fresh disk"} {
		for _, content := range []string{"1", "2"} { // what the old resource had written, or not
			old := newDisk(t)
			must(t, old.put(siteOf(t, "1")))
			if on == "a fresh disk" || content == "2" {
				must(t, os.RemoveAll(old.root))
			}
			must(t, (&disk{t: t, root: old.root, Target: old.Target}).put(siteOf(t, content)))
			removed, err := old.inspect().Remove(t.Context())
			must(t, err)
			must(t, removed.Discard())
			if len(removed.Left) != 2 {
				t.Errorf("%s, content %s: %+v is reported as left, want the directory and the file", on, content, removed.Left)
			}
			old.wantListing(listingOf(siteOf(t, content), content))
		}
	}
}

func TestRemoveLeavesWhatWasTakenOverSinceInspect(t *testing.T) {
	t.Parallel()
	data := siteOf(t, "1")
	old := newDisk(t)
	must(t, old.put(data))
	found := old.inspect()
	must(t, (&disk{t: t, root: old.root, Target: old.Target}).put(data))
	removed, err := found.Remove(t.Context())
	must(t, err)
	must(t, removed.Discard())
	wantProblems(t, removed.Left, replacedSince, replacedSince)
	old.wantListing(listingOf(data, "1"))
}

// It is the destroy and the create of a resource that was renamed without a moved block.
func TestRemoveBesideACommitOfTheSameContentLosesNothing(t *testing.T) {
	t.Parallel()
	data := siteOf(t, "1")
	for range 100 {
		old := newDisk(t)
		must(t, old.put(data))
		renamed := &disk{t: t, root: old.root, Target: old.Target}
		ended := make(chan error)
		go func() {
			removed, err := old.inspect().Remove(t.Context())
			if err == nil {
				err = removed.Discard()
			}
			ended <- err
		}()
		must(t, renamed.put(data))
		must(t, <-ended)
		old.wantListing(listingOf(data, "1"))
	}
}

// wantProblems checks how the problems of obstacles begin. An empty one is no obstacle.
func wantProblems(t *testing.T, got []Obstacle, want ...string) {
	t.Helper()
	want = slices.DeleteFunc(want, func(problem string) bool { return problem == "" })
	if !slices.EqualFunc(got, want, func(o Obstacle, problem string) bool { return strings.HasPrefix(o.Problem, problem) }) {
		t.Errorf("the obstacles are %+v, want %q", got, want)
	}
}

func TestOwnedKeepsTheLast20Contents(t *testing.T) {
	t.Parallel()
	var owned Owned
	for i := range int64(25) {
		owned.Files = withLatest(owned.Files, Written{fmt.Sprint(i), i})
	}
	for range 25 { // a fresh disk in each run
		owned.Files = withLatest(owned.Files, Written{"7", 99})
	}
	owned.Add("7", "")
	if len(owned.Files) != 20 || owned.Files[0] != (Written{"5", 5}) || owned.Files[19] != (Written{"7", 99}) || len(owned.Trees) != 0 {
		t.Errorf("it holds %v", owned)
	}
	owned.Add("8", "tree")
	if owned.Files[19] != (Written{Digest: "8"}) || len(owned.Files) != 20 || owned.Trees[0] != (Written{Digest: "tree"}) {
		t.Errorf("it holds %v", owned)
	}
}
