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

// change changes the disk by comma-separated steps: put NAME (a file), dir NAME, rm NAME, link
// NAME (instead of what is there), old NAME, and new NAME (by their times).
func (d *disk) change(steps string) {
	d.t.Helper()
	for step := range strings.SplitSeq(steps, ", ") {
		verb, name, _ := strings.Cut(step, " ")
		name = d.path(name)
		var err error
		switch verb {
		case "put":
			write(d.t, name, "mine")
		case "dir":
			err = os.Mkdir(name, 0o755)
		case "rm":
			err = os.RemoveAll(name)
		case "link":
			must(d.t, os.Rename(name, d.path("elsewhere")))
			symlink(d.t, d.path("elsewhere"), name)
		case "old": // in whole seconds, as in a copy by tar
			at := time.Unix(0, timeOf(d.t, name)).Truncate(time.Second)
			err = os.Chtimes(name, at, at)
		case "new":
			at := time.Now().Add(time.Minute)
			err = os.Chtimes(name, at, at)
		}
		must(d.t, err)
	}
}

func timeOf(t testing.TB, name string) int64 {
	t.Helper()
	info, err := os.Lstat(name)
	must(t, err)
	return info.ModTime().UnixNano()
}

// TestOwnership is the table of what may be on disk: what is ours is replaced and
// deleted, and everything else stops an update and is left by a destroy.
func TestOwnership(t *testing.T) {
	t.Parallel()
	first, second, third := siteOf(t, "1"), siteOf(t, "2"), siteOf(t, "3")
	gone, latest, old := part{}, part{owned: true, latest: true}, part{owned: true}
	doubtful := func(doubt string) part { return part{owned: true, latest: true, doubt: doubt} }
	foreign := func(problem string) part { return part{problem: problem} }
	differs := func(where string) part { return foreign("differs from what this resource wrote" + where) }
	goBack := func(t *testing.T, d *disk) { // to the disk of a machine that has not seen the update
		owned := d.owned
		must(t, d.put(first))
		owned.Files[0].Time, owned.Trees[0].Time = timeOf(t, d.Path), timeOf(t, d.Directory)
		d.owned = owned
	}
	for name, tc := range map[string]struct {
		prepare    func(t *testing.T, d *disk)
		change     string
		file, tree part
	}{
		"as it was written":                     {nil, "", latest, latest},
		"an older bundle":                       {goBack, "", old, old},
		"nothing":                               {nil, "rm out, rm site", gone, gone},
		"an empty directory":                    {nil, "rm site, dir site", latest, gone},
		"a page whose time changed":             {nil, "new site/index.html", latest, latest},
		"times in whole seconds":                {nil, "old out/bundle.tgz, old site", latest, latest},
		"a newer directory":                     {nil, "new site", latest, doubtful(replacedSince)}, // a file was added and removed
		"no private state":                      {func(_ *testing.T, d *disk) { d.owned.Files[1].Time, d.owned.Trees[1].Time = 0, 0 }, "", doubtful(unknownTime), doubtful(unknownTime)},
		"an added file":                         {nil, "put site/docs/mine.txt", latest, differs(`: "docs/mine.txt" was added`)},
		"an added directory":                    {nil, "dir site/a", latest, differs(`: "a" was added`)},
		"a removed file":                        {nil, "rm site/docs/guide.html", latest, differs(`: "docs/guide.html" is missing`)},
		"two edited files":                      {nil, "put site/index.html, put site/docs/guide.html", latest, differs(`: "docs/guide.html" was changed`)},
		"a directory in place of a file":        {nil, "rm site/index.html, put site/index.html/mine", latest, differs(`: "index.html" was changed`)},
		"an edited file of an older bundle":     {goBack, "put site/index.html", old, differs("")},
		"an edited file without the archive":    {nil, "rm out/bundle.tgz, put site/index.html", gone, differs("")},
		"an edited file beside another archive": {nil, "put out/bundle.tgz, put site/index.html", differs(""), differs("")},
		"an added link":                         {nil, "put site/z, link site/z", latest, differs("")},
		"a link in place of a file":             {nil, "link site/index.html", latest, differs("")},
		// Before a slash, the system would follow a link.
		"a link in place of everything":                    {func(_ *testing.T, d *disk) { d.Directory += "/" }, "link site", latest, foreign("is a symbolic link")},
		"a file in place of the directory":                 {nil, "rm site, put site", latest, foreign("is a file")},
		"a directory in place of the archive":              {nil, "rm out/bundle.tgz, dir out/bundle.tgz", foreign("is a directory"), latest},
		"a link in place of the archive":                   {nil, "link out/bundle.tgz", foreign("is a symbolic link"), latest},
		"files of somebody else where nothing was written": {func(_ *testing.T, d *disk) { d.owned = Owned{} }, "", foreign("already exists"), foreign("already exists")},
	} {
		prepare := func(t *testing.T) (d *disk, before map[string]string) {
			d = newDisk(t)
			must(t, d.put(first))
			must(t, d.put(second))
			if tc.prepare != nil {
				tc.prepare(t, d)
			}
			d.change(tc.change)
			found := d.inspect()
			for _, p := range []struct{ got, want part }{{*found.directory, tc.tree}, {*found.file, tc.file}} {
				if p.got.owned != p.want.owned || p.got.latest != p.want.latest || p.got.doubt != p.want.doubt || p.got.problem != p.want.problem {
					t.Errorf("found %+v, want %+v", p.got, p.want)
				}
			}
			if found.Complete() != (tc.file.latest && tc.tree.latest) {
				t.Errorf("complete: %t", found.Complete())
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
			found := d.inspect()
			left, err := found.Remove(t.Context())
			must(t, errors.Join(err, found.Discard()))
			wantProblems(t, left, tc.tree.problem+tc.tree.doubt, tc.file.problem+tc.file.doubt)
			d.wantListing(want)
		})
	}
}

func TestWhatHasTheContentOfTheBundleIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change   string // since somebody else wrote the same bundle
		occupied string // what stops the commit
	}{
		"everything":         {"", ""},
		"only the file":      {"rm site", ""},
		"only the directory": {"rm out/bundle.tgz", ""},
		"not through a link": {"link out/bundle.tgz", "bundle.tgz is a symbolic link"},
		"not another file":   {"put out/bundle.tgz", "bundle.tgz "},
		"not an added link":  {"put site/z, link site/z", "site "},
		"not another page":   {"put site/index.html", "site "},
	} {
		for who, owned := range map[string]Owned{"a new resource": {}, "another bundle's resource": {Files: []Written{{Digest: "other"}}, Trees: []Written{{Digest: "other"}}}} {
			t.Run(name+" by "+who, func(t *testing.T) {
				t.Parallel()
				d := newDisk(t)
				must(t, d.put(siteOf(t, "1")))
				d.change(tc.change)
				d.owned = owned
				before, found := listing(t, d.root), d.inspect()
				err := d.put(siteOf(t, "1"))
				if tc.occupied != "" {
					if err == nil || !strings.Contains(err.Error(), tc.occupied) {
						t.Errorf("error %v, want %q", err, tc.occupied)
					}
					d.wantListing(before)
					if after := d.inspect(); *after.file != *found.file || *after.directory != *found.directory {
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
}

// With create_before_destroy, a resource takes the files over before they are destroyed.
func TestRemoveLeavesWhatWasTakenOverSinceInspect(t *testing.T) {
	t.Parallel()
	data := siteOf(t, "1")
	old := newDisk(t)
	must(t, old.put(data))
	found := old.inspect()
	must(t, (&disk{t: t, root: old.root, Target: old.Target}).put(data))
	left, err := found.Remove(t.Context())
	must(t, err)
	wantProblems(t, left, replacedSince, replacedSince)
	old.wantListing(listingOf(data, "1"))
	old.change("rm out, rm site")
	left, err = found.Remove(t.Context())
	must(t, err)
	wantProblems(t, left)
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
		go func() { ended <- old.remove() }()
		must(t, renamed.put(data))
		must(t, <-ended)
		old.wantListing(listingOf(data, "1"))
	}
}

// wantProblems checks the problems of obstacles. An empty one is no obstacle.
func wantProblems(t *testing.T, got []Obstacle, want ...string) {
	t.Helper()
	want = slices.DeleteFunc(want, func(problem string) bool { return problem == "" })
	if !slices.EqualFunc(got, want, func(o Obstacle, problem string) bool { return o.Problem == problem }) {
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
	if len(owned.Files) != 20 || owned.Files[0] != (Written{"5", 5}) || owned.Files[19] != (Written{"7", 99}) {
		t.Errorf("it holds %v", owned)
	}
}
