// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var errDownload = errors.New("not downloaded")

// disk is a directory with the target of one resource.
type disk struct {
	t    *testing.T
	root string
	Target
	owned   Owned
	content Content // of what was staged last
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	root := t.TempDir()
	return &disk{t: t, root: root, Target: Target{Path: filepath.Join(root, "out", "bundle.tgz"), Directory: filepath.Join(root, "site")}}
}

func (d *disk) inspect() *Found {
	d.t.Helper()
	found, err := d.Inspect(d.t.Context(), d.owned)
	must(d.t, err)
	return found
}

// stage stages and unpacks data. Without data, the download fails.
func (d *disk) stage(data []byte) (*Staged, error) {
	d.t.Helper()
	found := d.inspect()
	staged, err := found.Stage()
	if err == nil && data == nil {
		err = errDownload
	}
	if err != nil {
		return nil, errors.Join(err, d.discard(found))
	}
	for _, part := range [][]byte{[]byte("of an object that changed"), data} {
		must(d.t, staged.Restart())
		_, err = staged.Write(part)
		must(d.t, err)
	}
	if staged.SHA256() != sha256Of(data) || staged.SizeBytes != int64(len(data)) {
		d.t.Errorf("%d bytes with checksum %s, want %d with %s", staged.SizeBytes, staged.SHA256(), len(data), sha256Of(data))
	}
	if d.content, err = staged.Unpack(d.t.Context()); err != nil {
		return nil, errors.Join(err, d.discard(found))
	}
	d.wantClosed(found)
	return staged, nil
}

func (d *disk) discard(found *Found) error {
	d.t.Helper()
	err := found.Discard()
	d.wantClosed(found)
	return err
}

// wantClosed checks that the file is closed, because Windows renames and deletes no open one.
func (d *disk) wantClosed(found *Found) {
	d.t.Helper()
	if err := found.writer.Close(); found.writer != nil && !errors.Is(err, os.ErrClosed) {
		d.t.Errorf("the file is still open: %v", err)
	}
}

// put stages and commits data.
func (d *disk) put(data []byte) error {
	d.t.Helper()
	staged, err := d.stage(data)
	if err != nil {
		return err
	}
	return d.commit(staged)
}

// commit commits what was staged.
func (d *disk) commit(staged *Staged) error {
	d.t.Helper()
	owned, err := staged.Commit(d.t.Context())
	if err == nil {
		d.owned = owned
	}
	return errors.Join(err, staged.found.Discard())
}

// remove removes what is at the target.
func (d *disk) remove() error {
	d.t.Helper()
	found := d.inspect()
	_, err := found.Remove(d.t.Context())
	return errors.Join(err, found.Discard())
}

func (d *disk) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// wantListing compares all that is on the disk.
func (d *disk) wantListing(want map[string]string) {
	d.t.Helper()
	if got := listing(d.t, d.root); !maps.Equal(got, want) {
		d.t.Errorf("on disk there is %.40q, want %.40q", got, want)
	}
}

func sha256Of(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

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
		"an archive with a file twice":   {tarOf(t, regular("a", "x"), regular("a", "x")), 0},
		"an archive that is cut off":     {shorter(archive, 9), -1},
		"a small gzip that is cut off":   {shorter(gzipOf(t, []byte("text")), 9), -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			d.Directory = ""
			err := d.put(tc.data)
			if tc.files < 0 {
				if !isA[*ArchiveError](err) {
					t.Errorf("error %v, want an *ArchiveError", err)
				}
				d.wantListing(map[string]string{"out/": ""})
				return
			}
			must(t, err)
			if c := d.content; c.Files != tc.files || (c.Digest != "") != (tc.files > 0) || !d.inspect().Complete() {
				t.Errorf("content %+v, found %+v", c, d.inspect())
			}
			must(t, d.remove())
			d.wantListing(map[string]string{"out/": ""})
		})
	}
}

func TestWhatChangedSinceInspectIsNeitherReplacedNorRemoved(t *testing.T) {
	t.Parallel()
	before, after := siteOf(t, "1"), siteOf(t, "2")
	for name, tc := range map[string]struct {
		name, content string
		sameTime      bool
		directory     bool
	}{
		"an edited file":                        {"out/bundle.tgz", "mine", false, false},
		"an added page":                         {"site/docs/mine.html", "mine", false, true},
		"an edited page of the same size":       {"site/docs/guide.html", "guide 2", false, true},
		"an edited page with the original time": {"site/docs/guide.html", "mine", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			must(t, d.put(before))
			staged, err := d.stage(after)
			must(t, err)
			found, old := d.inspect(), time.Now()
			if tc.sameTime {
				info, err := os.Stat(d.path(tc.name))
				must(t, err)
				old = info.ModTime()
			}
			write(t, d.path(tc.name), tc.content)
			must(t, os.Chtimes(d.path(tc.name), old, old))
			err = d.commit(staged)
			if occupied, ok := errors.AsType[OccupiedError](err); !ok || len(occupied) != 1 || occupied[0].Directory != tc.directory {
				t.Errorf("error %v, want one of the directory: %t", err, tc.directory)
			}
			left, err := found.Remove(t.Context())
			must(t, errors.Join(err, found.Discard()))
			if len(left) != 1 || left[0].Directory != tc.directory || left[0].Problem != replacedSince {
				t.Errorf("left is %+v, want what changed", left)
			}
			want := listingOf(before, "1")
			maps.DeleteFunc(want, func(name, _ string) bool {
				return tc.directory == (name == "out/bundle.tgz") && name != "out/"
			})
			want[tc.name] = tc.content
			d.wantListing(want)
		})
	}
}

// The disk changes at each of the points where Inspect asks its context, or the context ends.
func TestWhatHappensDuringInspect(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted")
	for _, edit := range []bool{false, true} {
		for asked := 0; ; asked++ {
			d := newDisk(t)
			must(t, d.put(siteOf(t, "1")))
			ctx, cancel := context.WithCancelCause(t.Context())
			counting := &countedContext{Context: ctx, left: asked, act: func() {
				if edit {
					write(t, d.path("site/docs/guide.html"), "mine")
				} else {
					cancel(cause)
				}
			}}
			found, err := d.Inspect(counting, d.owned)
			if counting.left >= 0 {
				must(t, err)
				break
			}
			if !edit && !errors.Is(err, cause) {
				t.Fatalf("interrupted at question %d: error %v, want %v", asked, err, cause)
			}
			if edit {
				_, err = found.Stage()
				must(t, err)
				if err := errors.Join(found.replace(), found.Discard()); !isA[OccupiedError](err) {
					t.Errorf("edited at question %d: error %v", asked, err)
				}
			}
		}
	}
}

// countedContext does something when it is asked for its error after left times.
type countedContext struct {
	context.Context
	left int
	act  func()
}

func (c *countedContext) Err() error {
	if c.left--; c.left == -1 {
		c.act()
	}
	return c.Context.Err()
}

func TestParentThatIsNoDirectoryIsNamed(t *testing.T) {
	t.Parallel()
	for _, target := range []Target{{"file/a/b/bundle.tgz", "site"}, {"bundle.tgz", "file/a/b/site"}} {
		d := newDisk(t)
		d.Target = Target{d.path(target.Path), d.path(target.Directory)}
		write(t, d.path("file"), "mine")
		before := listing(t, d.root)
		if failed, ok := errors.AsType[*fs.PathError](d.put(siteOf(t, "1"))); !ok || failed.Path != d.path("file") {
			t.Errorf("%+v: error %v", target, failed)
		}
		must(t, d.remove())
		d.wantListing(before)
	}
}

func TestInspectReturnsErrorsOfTheSystem(t *testing.T) {
	t.Parallel()
	if _, err := (Target{Path: strings.Repeat("x", 300)}).Inspect(t.Context(), Owned{}); runtime.GOOS != "windows" && !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Errorf("a name that is too long: error %v", err)
	}
	unreadable := Target{Path: "/proc/self/mem"} // a regular file, even for root
	if _, err := unreadable.Inspect(t.Context(), Owned{Files: []Written{{Digest: "other"}}}); runtime.GOOS == "linux" && !errors.Is(err, syscall.EIO) {
		t.Errorf("a file that cannot be read: error %v", err)
	}
}

// The lock is one for the process, so no test runs beside this one.
func TestWaitForTheLockEndsWithItsContext(t *testing.T) {
	d, cause := newDisk(t), errors.New("interrupted")
	must(t, d.put(siteOf(t, "1")))
	staged, err := d.stage(siteOf(t, "2"))
	must(t, err)
	changing <- struct{}{}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := staged.Commit(ctx); !errors.Is(err, cause) {
		t.Errorf("Commit: error %v, want %v", err, cause)
	}
	found := d.inspect()
	if _, err := found.Remove(ctx); !errors.Is(err, cause) {
		t.Errorf("Remove: error %v, want %v", err, cause)
	}
	<-changing
	for range 20 { // the system chooses between a lock that is free and a context that ended
		if _, err := found.Remove(ctx); !errors.Is(err, cause) {
			t.Errorf("Remove with a free lock: error %v, want %v", err, cause)
		}
	}
	must(t, staged.found.Discard())
	must(t, d.remove())
}

func TestFailureLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	data := siteOf(t, "2")
	for name, tc := range map[string]struct {
		data  []byte
		spoil func(s *Staged) error // before Commit; nil if Stage fails
		want  func(error) bool      // whether the error is of the right type; nil: of any
	}{
		"a failed download":       {nil, nil, nil},
		"no archive":              {[]byte("text"), nil, isA[*ArchiveError]},
		"a hostile archive":       {tarOf(t, regular("index.html", "x"), regular("../evil", "x")), nil, isA[*ArchiveError]},
		"no file to put in place": {data, func(s *Staged) error { return os.Remove(s.found.file.newName()) }, isA[*os.LinkError]},
		"no site to put in place": {data, func(s *Staged) error { return os.RemoveAll(s.found.directory.newName()) }, isA[*os.LinkError]},
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
				staged, err := d.stage(tc.data)
				if tc.spoil != nil {
					must(t, err)
					must(t, tc.spoil(staged))
					err = d.commit(staged)
				}
				if err == nil || tc.want != nil && !tc.want(err) {
					t.Errorf("error %v of another type", err)
				}
				d.wantListing(before)
			})
		}
	}
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestWhatCannotBePutBackIsKeptAndNamed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a system that looks up the directory before ..")
	}
	d := newDisk(t)
	must(t, d.put(siteOf(t, "1")))
	staged, err := d.stage(siteOf(t, "2"))
	must(t, err)
	directory := staged.found.directory
	must(t, os.RemoveAll(directory.newName()))
	// A name that cannot be renamed back, because site is no longer there.
	directory.name += "/../site"
	directory.stamp, err = stampOf(directory.name)
	must(t, err)
	old := directory.oldName()
	err = d.commit(staged)
	if !errors.Is(err, ErrNotUndone) || strings.Count(err.Error(), d.Directory) != 2 || strings.Count(err.Error(), old) != 1 {
		t.Errorf("error %v, want two that name %s and %s", err, d.Directory, old)
	}
	if content, err := os.ReadFile(filepath.Join(old, "index.html")); string(content) != "home 1" {
		t.Errorf("it holds %q; error %v", content, err)
	}
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
			err := d.remove()
			if err == nil || tc.err != nil && !errors.Is(err, tc.err) {
				t.Fatalf("error %v", err)
			}
			if !tc.left {
				d.wantListing(before)
				return
			}
			temporary, _ := filepath.Glob(d.path(".site.docs-bundle-*"))
			if len(temporary) != 1 || !strings.Contains(err.Error(), strconv.Quote(temporary[0])+" was not deleted: ") || len(listing(t, d.path("out"))) > 0 {
				t.Fatalf("error %v, temporary directories %q", err, temporary)
			}
			must(t, os.Chmod(filepath.Join(temporary[0], "old", "docs"), 0o700)) //nolint:gosec // a directory
		})
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
		"one name for both":           {Target{"site", "./site"}, "must not contain one another"},
		"a file inside the directory": {Target{"site/x/bundle.tgz", "site"}, "must not contain one another"},
		"a directory inside the file": {Target{"site", "site/pages"}, "must not contain one another"},
		"a file in the current one":   {Target{"bundle.tgz", "."}, "must not contain one another"},
	} {
		err := tc.target.Check()
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: error %v, want %q", name, err, tc.err)
		}
	}
}

func TestCheckWithoutAWorkingDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps a directory in which a process works")
	}
	deleted := t.TempDir()
	t.Chdir(deleted)
	must(t, os.Remove(deleted))
	const want = "the working directory was deleted or cannot be read (getwd: no such file or directory), so run the command in another one"
	if err := (Target{"bundle.tgz", "site"}).Check(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
