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
	"slices"
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
	staged, err := d.inspect().Stage()
	if err != nil {
		return nil, err
	}
	defer func() { // Windows renames and deletes no open file
		if err := staged.writer.Close(); !errors.Is(err, os.ErrClosed) {
			d.t.Errorf("the file is still open: %v", err)
		}
	}()
	if data == nil {
		return nil, errors.Join(errDownload, staged.Close())
	}
	for _, part := range [][]byte{[]byte("of an object that changed"), nil, data[:1], data[1:]} {
		if part == nil {
			must(d.t, staged.Restart())
		}
		_, err = staged.Write(part)
		must(d.t, err)
	}
	if staged.SHA256() != sha256Of(data) || staged.SizeBytes != int64(len(data)) {
		d.t.Errorf("%d bytes with checksum %s, want %d with %s", staged.SizeBytes, staged.SHA256(), len(data), sha256Of(data))
	}
	if d.content, err = staged.Unpack(d.t.Context()); err != nil {
		return nil, errors.Join(err, staged.Close())
	}
	return staged, nil
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
	return errors.Join(err, staged.Close())
}

// remove removes what is at the target.
func (d *disk) remove() error {
	d.t.Helper()
	found := d.inspect()
	_, err := found.Remove(d.t.Context())
	return errors.Join(err, found.Close())
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

func TestPermissionsStay(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	must(t, os.Mkdir(d.Directory, 0o700))
	must(t, os.Chmod(d.Directory, 0o700|fs.ModeSetgid))
	must(t, d.put(siteOf(t, "1")))
	must(t, os.Chmod(d.Path, 0o600))
	must(t, d.put(siteOf(t, "2")))
	for _, name := range []string{d.Directory, d.Path} {
		info, err := os.Stat(name)
		must(t, err)
		if mode := info.Mode(); runtime.GOOS != "windows" && (mode.Perm()&0o77 != 0 || mode.IsDir() && mode&fs.ModeSetgid == 0) { // Windows has none
			t.Errorf("%s has the mode %s", name, mode)
		}
	}
	must(t, os.Chmod(d.Directory, 0o500))
	err := d.put(siteOf(t, "3")) // only root can replace it
	info, _ := os.Stat(d.Directory)
	left, _ := filepath.Glob(filepath.Join(d.root, ".*docs-bundle*"))
	if len(left) > 0 || err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("a directory without write permission: mode %s, error %v, left %v", info.Mode(), err, left)
	}
	must(t, os.Chmod(d.Directory, 0o700)) // so the test can delete it
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
			if err := d.put(tc.data); (err != nil) != (tc.files < 0) || err != nil && !isA[*ArchiveError](err) {
				t.Errorf("error %v", err)
			}
			if c := d.content; tc.files >= 0 && (c.Files != tc.files || (c.Digest != "") != (tc.files > 0) || !d.inspect().Complete()) {
				t.Errorf("content %+v, found %+v", c, d.inspect())
			}
			must(t, d.remove())
			d.wantListing(map[string]string{"out/": ""})
		})
	}
}

func TestWhatChangedSinceInspectIsNeitherReplacedNorRemoved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change    string
		directory bool
	}{
		"an edited file":                        {"put out/bundle.tgz", false},
		"an edited page of the same size":       {"put site/index.html", true},
		"an edited page with the original time": {"put site/docs/guide.html, back site/docs/guide.html", true},
		"a renamed page":                        {"rename site/index.html, back site", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			must(t, d.put(siteOf(t, "1")))
			d.change("back site/docs/guide.html, back site")
			staged, err := d.stage(siteOf(t, "2"))
			must(t, err)
			removal := d.inspect()
			d.change(tc.change)
			err = d.commit(staged)
			if occupied, ok := errors.AsType[OccupiedError](err); !ok || len(occupied) != 1 || occupied[0].Directory != tc.directory {
				t.Errorf("error %v, want one of the directory: %t", err, tc.directory)
			}
			left, err := removal.Remove(t.Context())
			must(t, errors.Join(err, removal.Close()))
			if len(left) != 1 || left[0].Directory != tc.directory || left[0].Problem != replacedSince {
				t.Errorf("left is %+v, want what changed", left)
			}
			if _, err := os.Lstat(map[bool]string{false: d.Path, true: d.Directory}[tc.directory]); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestInspectEndsWithItsContext(t *testing.T) {
	t.Parallel()
	d, cause := newDisk(t), errors.New("interrupted")
	must(t, d.put(siteOf(t, "1")))
	for asked := 0; ; asked++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		counting := &countedContext{Context: ctx, left: asked, act: func() { cancel(cause) }}
		_, err := d.Inspect(counting, d.owned)
		if counting.left >= 0 {
			must(t, err)
			break
		}
		if !errors.Is(err, cause) {
			t.Fatalf("interrupted at question %d: error %v, want %v", asked, err, cause)
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
	<-changing
	for range 20 { // the system chooses between a lock that is free and a context that ended
		if _, err := d.inspect().Remove(ctx); !errors.Is(err, cause) {
			t.Errorf("Remove with a free lock: error %v, want %v", err, cause)
		}
	}
	must(t, staged.Close())
	must(t, d.remove())
}

func TestFailureLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	data := siteOf(t, "2")
	for name, tc := range map[string]struct {
		data  []byte
		spoil func(s *Staged) error // before Commit; nil if stage fails
		want  func(error) bool
	}{
		"a failed download":       {nil, nil, func(err error) bool { return errors.Is(err, errDownload) }},
		"no archive":              {[]byte("text"), nil, isA[*ArchiveError]},
		"a hostile archive":       {tarOf(t, regular("index.html", "x"), regular("../evil", "x")), nil, isA[*ArchiveError]},
		"no file to put in place": {data, func(s *Staged) error { return os.Remove(s.found.file.newName()) }, isA[*os.LinkError]},
		"no site to put in place": {data, func(s *Staged) error { return os.RemoveAll(s.found.directory.newName()) }, isA[*os.LinkError]},
	} {
		d := newDisk(t)
		must(t, d.put(siteOf(t, "1")))
		before := listing(t, d.root)
		staged, err := d.stage(tc.data)
		if tc.spoil != nil {
			must(t, errors.Join(err, tc.spoil(staged)))
			err = d.commit(staged)
		}
		if !tc.want(err) {
			t.Errorf("%s: error %v", name, err)
		}
		d.wantListing(before)
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

func TestRemoveChangesNothingWithoutRoomForATemporaryName(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.Path = d.path(strings.Repeat("x", 215))
	must(t, d.put(siteOf(t, "1")))
	long := d.path(strings.Repeat("x", 250))
	must(t, os.Rename(d.Path, long))
	d.Path = long
	before := listing(t, d.root)
	if err := d.remove(); err == nil {
		t.Error("it was removed")
	}
	d.wantListing(before)
}

func TestWhatIsNotDeletedIsNamed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("needs a system with Unix modes and a user other than root, who may write to a read-only directory")
	}
	d := newDisk(t)
	must(t, d.put(siteOf(t, "1")))
	must(t, os.Chmod(d.path("site/docs"), 0o500))
	err := d.remove()
	temporary, _ := filepath.Glob(d.path(".site.docs-bundle-*"))
	if len(temporary) != 1 || err == nil || !strings.Contains(err.Error(), strconv.Quote(temporary[0])+" was not deleted: ") || len(listing(t, d.path("out"))) > 0 {
		t.Fatalf("error %v, temporary directories %q", err, temporary)
	}
	must(t, os.Chmod(filepath.Join(temporary[0], "old", "docs"), 0o700)) //nolint:gosec // a directory
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		target Target
		err    string
	}{
		"a file and a directory":      {Target{"bundle.tgz", "site/"}, ""},
		"names that begin alike":      {Target{"site.tgz", "site"}, ""},
		"no file":                     {Target{"", "site"}, "names a directory"},
		"a slash after the file":      {Target{"out/", ""}, "names a directory"},
		"one name for both":           {Target{"site", "./site"}, "may be inside the other"},
		"a file inside the directory": {Target{"site/x/bundle.tgz", "site"}, "may be inside the other"},
		"a directory inside the file": {Target{"site", "site/pages"}, "may be inside the other"},
		"a file in the current one":   {Target{"bundle.tgz", "."}, "may be inside the other"},
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

// change changes the disk by comma-separated steps: put NAME (a file), dir NAME, rm NAME, link
// NAME (instead of what is there), rename NAME, and old, back, and new NAME (by their times).
func (d *disk) change(steps string) {
	d.t.Helper()
	for step := range strings.SplitSeq(steps, ", ") {
		verb, name, _ := strings.Cut(step, " ")
		name = d.path(name)
		var err error
		switch verb {
		case "put":
			write(d.t, name, "mine 1") // as long as home 1
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
		case "back":
			err = os.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0))
		case "rename":
			err = os.Rename(name, name+".bak")
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
	gone, latest, old := part{}, part{origin: originLatest}, part{origin: originEarlier}
	doubtful := func(problem string) part { return part{origin: originLatest, problem: problem} }
	otherKind := func(problem string) part { return part{origin: originOtherKind, problem: problem} }
	differs := func(where string) part {
		return part{origin: originOther, problem: "differs from what this resource wrote" + where}
	}
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
		"a removed file":                        {nil, "rm site/docs/guide.html", latest, differs(`: "docs/guide.html" is missing`)},
		"two edited files":                      {nil, "put site/index.html, put site/docs/guide.html", latest, differs(`: "docs/guide.html" was changed`)},
		"an edited file of an older bundle":     {goBack, "put site/index.html", old, differs("")},
		"an edited file without the archive":    {nil, "rm out/bundle.tgz, put site/index.html", gone, differs("")},
		"an edited file beside another archive": {nil, "put out/bundle.tgz, put site/index.html", differs(""), differs("")},
		"an added link":                         {nil, "put site/z, link site/z", latest, differs("")},
		// Before a slash, the system would follow a link.
		"a link in place of everything":       {func(_ *testing.T, d *disk) { d.Directory += "/" }, "link site", latest, otherKind("is a symbolic link")},
		"a file in place of the directory":    {nil, "rm site, put site", latest, otherKind("is a file")},
		"a directory in place of the archive": {nil, "rm out/bundle.tgz, dir out/bundle.tgz", otherKind("is a directory"), latest},
		"a link in place of the archive":      {nil, "link out/bundle.tgz", otherKind("is a symbolic link"), latest},
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
				if p.got.origin != p.want.origin || p.got.problem != p.want.problem {
					t.Errorf("found %+v, want %+v", p.got, p.want)
				}
			}
			if found.Complete() != (tc.file.origin == originLatest && tc.tree.origin == originLatest) {
				t.Errorf("complete: %t", found.Complete())
			}
			return d, listing(t, d.root)
		}
		t.Run(name+", and an update", func(t *testing.T) {
			t.Parallel()
			d, before := prepare(t)
			d.wantListing(before)
			err := d.put(third)
			if !tc.file.origin.foreign() && !tc.tree.origin.foreign() {
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
				return tc.file.problem == "" && name == "out/bundle.tgz" || tc.tree.problem == "" && tc.tree.origin != originNone && strings.HasPrefix(name, "site/")
			})
			found := d.inspect()
			left, err := found.Remove(t.Context())
			must(t, errors.Join(err, found.Close()))
			wantProblems(t, left, tc.tree.problem, tc.file.problem)
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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			must(t, d.put(siteOf(t, "1")))
			d.change(tc.change)
			d.owned = Owned{}
			before := listing(t, d.root)
			page, _ := os.Stat(d.path("site/index.html"))
			err := d.put(siteOf(t, "1"))
			if tc.occupied != "" {
				if err == nil || !strings.Contains(err.Error(), tc.occupied) {
					t.Errorf("error %v, want %q", err, tc.occupied)
				}
				d.wantListing(before)
				return
			}
			must(t, err)
			d.wantListing(listingOf(siteOf(t, "1"), "1"))
			if now, err := os.Stat(d.path("site/index.html")); err != nil || page != nil && !os.SameFile(page, now) {
				t.Errorf("the page was replaced; error %v", err)
			}
			for _, p := range d.inspect().parts() {
				if p.origin != originLatest || p.problem != "" {
					t.Errorf("found %+v, want the resource's own", p)
				}
			}
			must(t, d.remove())
			d.wantListing(map[string]string{"out/": ""})
		})
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
