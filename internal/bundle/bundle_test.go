// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

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

func (d *disk) inspect() Found {
	d.t.Helper()
	found, err := d.Inspect(d.t.Context(), d.owned)
	must(d.t, err)
	return found
}

type fetchError struct{ error }

// stage stages data. Fetching nil fails.
func (d *disk) stage(data []byte) (*Staged, error) {
	d.t.Helper()
	return Stage(d.t.Context(), d.Target, func(_ context.Context, file *os.File) (string, int64, error) {
		if data == nil {
			return "", 0, fetchError{io.ErrUnexpectedEOF}
		}
		size, err := file.Write(data)
		return sumOf(data), int64(size), err
	})
}

// put stages and commits data.
func (d *disk) put(data []byte) error {
	d.t.Helper()
	staged, err := d.stage(data)
	if err != nil {
		return err
	}
	return errors.Join(staged.Commit(d.t.Context(), &d.owned), staged.Discard())
}

// remove removes what is at the target, and discards it.
func (d *disk) remove(ctx context.Context) (*Removed, error) {
	d.t.Helper()
	removed, err := d.Remove(ctx, d.owned)
	if err == nil {
		err = removed.Discard()
	}
	return removed, err
}

func (d *disk) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// wantListing compares all that is on the disk.
func (d *disk) wantListing(want map[string]string) {
	d.t.Helper()
	if got := listing(d.t, d.root); !maps.Equal(got, want) {
		d.t.Errorf("on disk there is %.40q, want %.40q", got, want)
	}
}

func sumOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

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

func TestBundleThatIsNotUnpackedMayBeAnythingButDamaged(t *testing.T) {
	t.Parallel()
	archive := siteOf(t, "1")
	for name, tc := range map[string]struct {
		data  []byte
		files int64
	}{
		"an archive":                     {archive, 2},
		"another file":                   {[]byte("text"), 0},
		"a small gzip file":              {gzipOf(t, []byte("text")), 0},
		"an archive with an unsafe name": {tarOf(t, regular("../evil", "x")), 0},
		"a zip of unknown compression":   {patch(zipOf(t, zipEntry{name: "index.html", body: "home"}), "PK\x01\x02", 10, 99), 0},
		"an archive that is cut off":     {shorter(archive, 9), -1},
		"a small gzip that is cut off":   {shorter(gzipOf(t, []byte("text")), 9), -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			d.Directory = ""
			staged, err := d.stage(tc.data)
			if tc.files < 0 {
				if _, damaged := errors.AsType[*ArchiveError](err); !damaged {
					t.Errorf("error %v, want an *ArchiveError", err)
				}
				d.wantListing(map[string]string{"out/": ""})
				return
			}
			must(t, err)
			must(t, errors.Join(staged.Commit(t.Context(), &d.owned), staged.Discard()))
			if c := staged.Contents; c.FileCount != tc.files || (c.ContentSHA256 != "") != (tc.files > 0) || !d.inspect().Complete() {
				t.Errorf("contents %+v, found %+v", c, d.inspect())
			}
			_, err = d.remove(t.Context())
			must(t, err)
			d.wantListing(map[string]string{"out/": ""})
		})
	}
}

// TestOwnership is the table of what may be on disk: what is ours is replaced and
// deleted, and everything else stops an update and is left by a destroy.
func TestOwnership(t *testing.T) {
	t.Parallel()
	older, newer, newest := siteOf(t, "1"), siteOf(t, "2"), siteOf(t, "3")
	const differs, unknown = "differs from what this resource wrote", "already exists, and this resource did not write it"
	foreign := func(problem string) Finding { return Finding{State: Foreign, Problem: problem} }
	absent, current, old := Finding{}, Finding{State: Current}, Finding{State: Older}
	goBack := func(t *testing.T, d *disk) { owned := d.owned; must(t, d.put(older)); d.owned = owned }
	for name, tc := range map[string]struct {
		change     func(t *testing.T, d *disk) // since the bundle was written
		file, tree Finding
	}{
		"as it was written": {func(*testing.T, *disk) {}, current, current},
		"an older bundle":   {goBack, old, old},
		"nothing": {func(t *testing.T, d *disk) {
			must(t, os.RemoveAll(d.path("out")))
			must(t, os.RemoveAll(d.Directory))
		}, absent, absent},
		"an empty directory": {func(t *testing.T, d *disk) {
			must(t, os.RemoveAll(d.Directory))
			must(t, os.Mkdir(d.Directory, 0o755))
		}, current, absent},
		"a file whose time changed": {func(t *testing.T, d *disk) {
			must(t, os.Chtimes(d.path("site/index.html"), time.Unix(1, 0), time.Unix(1, 0)))
		}, current, current},
		"an added file":      {func(t *testing.T, d *disk) { write(t, d.path("site/docs/mine.txt"), "mine") }, current, foreign(differs + `: "docs/mine.txt" was added`)},
		"an added directory": {func(t *testing.T, d *disk) { must(t, os.Mkdir(d.path("site/a"), 0o755)) }, current, foreign(differs + `: "a" was added`)},
		"a removed file":     {func(t *testing.T, d *disk) { must(t, os.Remove(d.path("site/docs/guide.html"))) }, current, foreign(differs + `: "docs/guide.html" is missing`)},
		"two edited files": {func(t *testing.T, d *disk) {
			write(t, d.path("site/index.html"), "mine")
			write(t, d.path("site/docs/guide.html"), "mine")
		}, current, foreign(differs + `: "docs/guide.html" was changed`)},
		"a directory in place of a file": {func(t *testing.T, d *disk) {
			must(t, os.Remove(d.path("site/index.html")))
			write(t, d.path("site/index.html/mine"), "mine")
		}, current, foreign(differs + `: "index.html" was changed`)},
		"an edited file of an older bundle": {func(t *testing.T, d *disk) {
			goBack(t, d)
			write(t, d.path("site/index.html"), "mine")
		}, old, foreign(differs + `: "index.html" was changed`)},
		"an edited file without the archive": {func(t *testing.T, d *disk) {
			must(t, os.Remove(d.Path))
			write(t, d.path("site/index.html"), "mine")
		}, absent, foreign(differs)},
		"an edited file beside another archive": {func(t *testing.T, d *disk) {
			write(t, d.Path, string(newest))
			write(t, d.path("site/index.html"), "mine")
		}, foreign(differs), foreign(differs)},
		"a link in place of a file": {func(t *testing.T, d *disk) {
			must(t, os.Rename(d.path("site/index.html"), d.path("elsewhere")))
			symlink(t, "../elsewhere", d.path("site/index.html"))
		}, current, foreign(differs + `: "index.html" is a symbolic link`)},
		"a link in place of everything": {func(t *testing.T, d *disk) {
			must(t, os.Rename(d.Directory, d.path("elsewhere")))
			symlink(t, "elsewhere", d.Directory)
			d.Directory += "/" // before a slash, the system would follow it
		}, current, foreign("is a symbolic link")},
		"a file in place of the directory": {func(t *testing.T, d *disk) {
			must(t, os.RemoveAll(d.Directory))
			write(t, d.Directory, "mine")
		}, current, foreign("is a file")},
		"a directory in place of the archive": {func(t *testing.T, d *disk) {
			must(t, os.Remove(d.Path))
			must(t, os.Mkdir(d.Path, 0o755))
		}, foreign("is a directory"), current},
		"a link in place of the archive": {func(t *testing.T, d *disk) {
			must(t, os.Rename(d.Path, d.path("elsewhere")))
			symlink(t, "../elsewhere", d.Path)
		}, foreign("is a symbolic link"), current},
		"files of somebody else where nothing was written": {func(_ *testing.T, d *disk) { d.owned = Owned{} }, foreign(unknown), foreign(unknown)},
	} {
		prepare := func(t *testing.T) (d *disk, before map[string]string) {
			d = newDisk(t)
			must(t, d.put(older))
			must(t, d.put(newer))
			tc.change(t, d)
			found := d.inspect()
			if found.File != tc.file || found.Tree != tc.tree {
				t.Errorf("found %+v, want %+v and %+v", found, tc.file, tc.tree)
			}
			return d, listing(t, d.root)
		}
		t.Run(name+", and an update", func(t *testing.T) {
			t.Parallel()
			d, before := prepare(t)
			d.wantListing(before)
			err := d.put(newest)
			var occupied *OccupiedError
			switch {
			case tc.file.State != Foreign && tc.tree.State != Foreign:
				must(t, err)
				d.wantListing(listingOf(newest, "3"))
			case !errors.As(err, &occupied) || occupied.Directory != (tc.file.State != Foreign) || occupied.Problem != tc.file.Problem+tc.tree.Problem && occupied.Problem != tc.file.Problem:
				t.Errorf("error %v", err)
			default:
				d.wantListing(before)
			}
		})
		t.Run(name+", and a destroy", func(t *testing.T) {
			t.Parallel()
			d, want := prepare(t)
			maps.DeleteFunc(want, func(name, _ string) bool {
				return tc.file.ours() && name == "out/bundle.tgz" || tc.tree.ours() && strings.HasPrefix(name, "site/")
			})
			removed, err := d.remove(t.Context())
			must(t, err)
			if n := len(removed.Occupied()); n != strings.Count(fmt.Sprint(tc.file.State, tc.tree.State), fmt.Sprint(Foreign)) {
				t.Errorf("%d are reported as foreign", n)
			}
			d.wantListing(want)
		})
	}
}

func TestCommitStopsAtWhatAppearedSinceStage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first, second Target
		directory     bool
	}{
		"one file":           {Target{"a.tgz", "a"}, Target{"a.tgz", "b"}, false},
		"one directory":      {Target{"a.tgz", "a"}, Target{"b.tgz", "a"}, true},
		"a file in the site": {Target{"a.tgz", "b/a"}, Target{"b.tgz", "b"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := newDisk(t), newDisk(t)
			second.root = first.root
			first.Target = Target{first.path(tc.first.Path), first.path(tc.first.Directory)}
			second.Target = Target{first.path(tc.second.Path), first.path(tc.second.Directory)}
			staged, err := second.stage(siteOf(t, "2"))
			must(t, err)
			must(t, first.put(siteOf(t, "1")))
			var occupied *OccupiedError
			if err := staged.Commit(t.Context(), &second.owned); !errors.As(err, &occupied) || occupied.Directory != tc.directory || len(second.owned.Files) > 0 {
				t.Errorf("error %v, owned %+v", err, second.owned)
			}
			must(t, staged.Discard())
			if found := first.inspect(); !found.Complete() {
				t.Errorf("found %+v, want what the first one wrote", found)
			}
		})
	}
}

func TestFailureLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	data := siteOf(t, "2")
	for name, tc := range map[string]struct {
		data  []byte
		spoil func(s *Staged) error // before Commit; nil if Stage fails
		want  any                   // type of the error
	}{
		"a refused bundle":        {nil, nil, new(fetchError)},
		"no archive":              {[]byte("text"), nil, new(*ArchiveError)},
		"a hostile archive":       {tarOf(t, regular("index.html", "x"), regular("../evil", "x")), nil, new(*ArchiveError)},
		"no file to put in place": {data, func(s *Staged) error { return os.Remove(s.file.staged()) }, new(*os.LinkError)},
		"no site to put in place": {data, func(s *Staged) error { return os.RemoveAll(s.tree.staged()) }, new(*os.LinkError)},
	} {
		for when, written := range map[string]bool{"in a create": false, "in an update": true} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				d := newDisk(t)
				before := map[string]string{"out/": ""}
				if written {
					must(t, d.put(siteOf(t, "1")))
					before = listing(t, d.root)
				}
				owned := fmt.Sprint(d.owned)
				staged, err := d.stage(tc.data)
				if tc.spoil != nil {
					must(t, err)
					must(t, tc.spoil(staged))
					err = staged.Commit(t.Context(), &d.owned)
					must(t, staged.Discard())
				}
				if err == nil || !errors.As(err, tc.want) {
					t.Errorf("error %v, want one of type %T", err, tc.want)
				}
				d.wantListing(before)
				if fmt.Sprint(d.owned) != owned {
					t.Errorf("owned %v, want %v", d.owned, owned)
				}
			})
		}
	}
}

func TestWhatCannotBePutBackIsKeptAndNamed(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	must(t, d.put(siteOf(t, "1")))
	staged, err := d.stage(siteOf(t, "2"))
	must(t, err)
	must(t, staged.tree.replace())
	must(t, os.RemoveAll(d.Directory)) // so that there is nothing to take back
	old := staged.tree.old()
	var lost *LostError
	if err := staged.tree.undo(); !errors.As(err, &lost) || lost.Name != d.path("site") || lost.Now != old {
		t.Errorf("error %v", err)
	}
	must(t, staged.Discard())
	if content, err := os.ReadFile(filepath.Join(old, "index.html")); string(content) != "home 1" {
		t.Errorf("it holds %q; error %v", content, err)
	}
}

func TestInterruptedRemoveIsAnErrorAndDeletesNothing(t *testing.T) {
	t.Parallel()
	d, cause := newDisk(t), errors.New("interrupted")
	must(t, d.put(siteOf(t, "1")))
	before := listing(t, d.root)
	// The context ends at each of the points where Remove asks it.
	for asked := 0; ; asked++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		counting := &countedContext{Context: ctx, left: asked, cancel: func() { cancel(cause) }}
		_, err := d.remove(counting)
		if counting.left >= 0 {
			must(t, err)
			break
		}
		if !errors.Is(err, cause) {
			t.Fatalf("ended at question %d: error %v, want %v", asked, err, cause)
		}
		d.wantListing(before)
	}
	d.wantListing(map[string]string{"out/": ""})
}

// countedContext ends after it was asked for its error left times.
type countedContext struct {
	context.Context
	left   int
	cancel func()
}

func (c *countedContext) Err() error {
	if c.left--; c.left < 0 {
		c.cancel()
	}
	return c.Context.Err()
}

func TestRemoveChangesEverythingOrNothing(t *testing.T) {
	t.Parallel()
	readOnly := func(t *testing.T, name string) {
		if runtime.GOOS == "windows" || os.Geteuid() == 0 {
			t.Skip("needs a system with Unix modes and a user other than root, who may write to a read-only directory")
		}
		must(t, os.Chmod(name, 0o500))
		t.Cleanup(func() { _ = os.Chmod(name, 0o700) }) //nolint:gosec // a directory
	}
	data := siteOf(t, "1")
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, d *disk)
		err   error // nil: any
		left  bool  // everything is removed, and a part of the site is left in a temporary directory
	}{
		"no room for a temporary name beside the file": {spoil: func(t *testing.T, d *disk) {
			long := filepath.Join(d.root, strings.Repeat("x", 250))
			must(t, os.Rename(d.Path, long))
			d.Path = long
		}},
		"a file in a read-only directory":   {spoil: func(t *testing.T, d *disk) { readOnly(t, d.path("out")) }, err: fs.ErrPermission},
		"a read-only directory":             {spoil: func(t *testing.T, d *disk) { readOnly(t, d.Directory) }, err: fs.ErrPermission},
		"a read-only directory in the site": {spoil: func(t *testing.T, d *disk) { readOnly(t, d.path("site/docs")) }, err: fs.ErrPermission, left: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			must(t, d.put(data))
			tc.spoil(t, d)
			before := listing(t, d.root)
			_, err := d.remove(t.Context())
			if err == nil || tc.err != nil && !errors.Is(err, tc.err) {
				t.Fatalf("error %v", err)
			}
			if !tc.left {
				d.wantListing(before)
				return
			}
			temporary, _ := filepath.Glob(d.path(".site.docs-bundle-*"))
			if len(temporary) != 1 || !strings.Contains(err.Error(), temporary[0]+" was not deleted: ") || len(listing(t, d.path("out"))) > 0 {
				t.Fatalf("error %v, temporary directories %q", err, temporary)
			}
			must(t, os.Chmod(filepath.Join(temporary[0], "old", "docs"), 0o700)) //nolint:gosec // a directory
		})
	}
}

func TestOwnedKeepsTheLast20(t *testing.T) {
	t.Parallel()
	var digests []string
	for i := range 25 {
		digests = withDigest(digests, fmt.Sprint(i))
	}
	again := withDigest(digests, "7")
	if len(digests) != 20 || digests[0] != "5" || digests[19] != "24" || len(again) != 20 || again[19] != "7" || slices.Index(again, "7") != 19 || digests[2] != "7" {
		t.Errorf("it holds %v, and with a known digest %v", digests, again)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		target Target
		err    string
	}{
		"a file":                      {Target{"out/bundle.tgz", ""}, ""},
		"a file and a directory":      {Target{"bundle.tgz", "site/"}, ""},
		"names that begin alike":      {Target{"site.tgz", "site"}, ""},
		"no file":                     {Target{"", "site"}, "names a directory"},
		"a slash after the file":      {Target{"out/", ""}, "names a directory"},
		"one name for both":           {Target{"site", "./site"}, "inside each other"},
		"a file inside the directory": {Target{"site/x/bundle.tgz", "site"}, "inside each other"},
		"a directory inside the file": {Target{"site", "site/pages"}, "inside each other"},
		"a file in the current one":   {Target{"bundle.tgz", "."}, "inside each other"},
	} {
		err := tc.target.Check()
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: error %v, want %q", name, err, tc.err)
		}
	}
}
