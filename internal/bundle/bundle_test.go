package bundle

import (
	"bytes"
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
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
)

var errDownload = errors.New("not downloaded")

// disk is a directory with the target of one resource: out/bundle.
type disk struct {
	t    *testing.T
	root string
	Target
	placed  Placed
	owned   Owned
	content Content // of what was staged last
	unsized bool    // whether what is staged is not known to be complete
}

func newDisk(t *testing.T, unpack bool) *disk {
	t.Helper()
	root := t.TempDir()
	return &disk{t: t, root: root, Target: Target{filepath.Join(root, "out", "bundle"), unpack}}
}

// stage stages and unpacks data. Without data, the download fails.
func (d *disk) stage(data []byte) (*Staged, error) {
	d.t.Helper()
	staged, err := d.Stage()
	if err != nil {
		return nil, err
	}
	defer func() { // Windows renames and deletes no open file
		if err := staged.archive.Close(); !errors.Is(err, os.ErrClosed) {
			d.t.Errorf("the archive is still open: %v", err)
		}
	}()
	if data == nil {
		return nil, errors.Join(errDownload, staged.Close())
	}
	for _, part := range [][]byte{slices.Repeat([]byte("of an object that changed"), 100), nil, data[:1], data[1:]} {
		if part == nil {
			must(d.t, staged.Restart())
		}
		_, err = staged.Write(part)
		must(d.t, err)
	}
	if d.content, err = staged.Verify(d.t.Context(), !d.unsized); err != nil {
		return nil, errors.Join(err, staged.Close())
	}
	if staged.SHA256() != sha256Of(data) || staged.SizeBytes != int64(len(data)) {
		d.t.Errorf("%d bytes with checksum %s, want %d with %s", staged.SizeBytes, staged.SHA256(), len(data), sha256Of(data))
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
	owned, err := staged.Commit(d.t.Context(), &d.placed, d.owned)
	if err == nil {
		d.owned = owned
	}
	return errors.Join(err, staged.Close())
}

// remove removes what is at the target, in another run.
func (d *disk) remove() error {
	d.t.Helper()
	d.placed = Placed{}
	return d.Remove(d.t.Context(), &d.placed, d.owned)
}

func (d *disk) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// change changes the disk by comma-separated steps: put NAME (a file), dir NAME, rm NAME, and link NAME (instead of what is there).
func (d *disk) change(steps string) {
	d.t.Helper()
	for step := range strings.SplitSeq(steps, ", ") {
		verb, name, _ := strings.Cut(step, " ")
		name = d.path(name)
		switch verb {
		case "put":
			write(d.t, name, "mine 1") // as long as home 1
		case "dir":
			must(d.t, os.Mkdir(name, 0o755))
		case "rm":
			must(d.t, os.RemoveAll(name))
		case "link":
			must(d.t, os.Rename(name, d.path("elsewhere")))
			symlink(d.t, d.path("elsewhere"), name)
		}
	}
}

// wantListing compares all that is on the disk.
func (d *disk) wantListing(want map[string]string) {
	d.t.Helper()
	if got := listing(d.t, d.root); !maps.Equal(got, want) {
		d.t.Errorf("on disk there is %.40q, want %.40q", got, want)
	}
}

func sha256Of(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// siteOf packs a site of two pages in an archive.
func siteOf(t *testing.T, version string) []byte {
	return gzipOf(t, tarOf(t, regular("docs/guide.html", "guide "+version), regular("index.html", "home "+version)))
}

// listingOf is the disk with that bundle.
func (d *disk) listingOf(archive []byte, version string) map[string]string {
	if d.Unpack {
		return map[string]string{
			"out/": "", "out/bundle/": "", "out/bundle/docs/": "", "out/bundle/docs/guide.html": "guide " + version, "out/bundle/index.html": "home " + version,
		}
	}
	return map[string]string{"out/": "", "out/bundle": string(archive)}
}

// TestOwnership is the table of what may be on disk: what is ours is replaced and deleted, and everything else stops an update and a removal.
func TestOwnership(t *testing.T) {
	t.Parallel()
	first, second, third := siteOf(t, "1"), siteOf(t, "2"), siteOf(t, "3")
	const missing, foreign = -1, -2 // or the index of the bundle
	older := func(d *disk) {        // than the one that was put last
		owned := d.owned
		must(d.t, d.put(first))
		d.owned = owned
	}
	forget := func(d *disk) { d.owned = nil }
	link := func(d *disk) { // before a slash, the system would follow it
		d.change("link out/bundle")
		d.Path += "/"
	}
	for name, tc := range map[string]struct {
		unpack bool
		change any // steps or a function
		want   int
		kind   fs.FileMode // of what is foreign
	}{
		"a file as it was written":            {false, "", 1, 0},
		"an older file":                       {false, older, 0, 0},
		"no file":                             {false, "rm out", missing, 0},
		"no file, and a file as its parent":   {false, "rm out, put out", missing, 0},
		"another file":                        {false, "put out/bundle", foreign, 0},
		"a file without a record":             {false, forget, foreign, 0},
		"a directory in place of a file":      {false, "rm out/bundle, dir out/bundle", foreign, fs.ModeDir},
		"a link in place of a file":           {false, "link out/bundle", foreign, fs.ModeSymlink},
		"a directory as it was written":       {true, "", 1, 0},
		"an older directory":                  {true, older, 0, 0},
		"no directory":                        {true, "rm out/bundle", missing, 0},
		"an empty directory":                  {true, "rm out/bundle, dir out/bundle", missing, 0},
		"an added file":                       {true, "put out/bundle/docs/mine.txt", foreign, fs.ModeDir},
		"an added directory":                  {true, "dir out/bundle/empty", foreign, fs.ModeDir},
		"a removed file":                      {true, "rm out/bundle/docs/guide.html", foreign, fs.ModeDir},
		"an edited file":                      {true, "put out/bundle/index.html", foreign, fs.ModeDir},
		"an added link":                       {true, "put out/bundle/z, link out/bundle/z", foreign, fs.ModeDir},
		"a link in place of a page":           {true, "link out/bundle/index.html", foreign, fs.ModeDir},
		"a directory without a record":        {true, forget, foreign, fs.ModeDir},
		"a link in place of a directory":      {true, link, foreign, fs.ModeSymlink},
		"a file in place of a directory":      {true, "rm out/bundle, put out/bundle", foreign, 0},
		"an empty directory without a record": {true, func(d *disk) { forget(d); d.change("rm out/bundle, dir out/bundle") }, missing, 0},
	} {
		prepare := func(t *testing.T) (*disk, map[string]string) {
			d := newDisk(t, tc.unpack)
			must(t, d.put(first))
			must(t, d.put(second))
			if change, ok := tc.change.(func(*disk)); ok {
				change(d)
			} else {
				d.change(tc.change.(string))
			}
			return d, listing(t, d.root)
		}
		check := func(t *testing.T, err error) {
			t.Helper()
			occupied, ok := errors.AsType[*OccupiedError](err)
			if ok != (tc.want == foreign) || ok != (err != nil) || ok && (occupied.Kind != tc.kind || occupied.Path == "") {
				t.Errorf("error %+v", err)
			}
		}
		t.Run(name+", and an update", func(t *testing.T) {
			t.Parallel()
			d, before := prepare(t)
			found, err := d.Inspect(t.Context(), d.owned)
			check(t, err)
			want := ""
			if tc.want >= 0 {
				want = d.owned[tc.want]
			}
			if found != want {
				t.Errorf("found %q, want %q", found, want)
			}
			d.wantListing(before)
			if strings.HasSuffix(name, "parent") {
				return // there is no place for another one
			}
			err = d.put(third)
			check(t, err)
			if tc.want != foreign {
				must(t, err)
				before = d.listingOf(third, "3")
			}
			d.wantListing(before)
		})
		t.Run(name+", and a removal", func(t *testing.T) {
			t.Parallel()
			d, before := prepare(t)
			check(t, d.remove())
			maps.DeleteFunc(before, func(name, _ string) bool { return tc.want >= 0 && strings.HasPrefix(name, "out/bundle") })
			d.wantListing(before)
		})
	}
}

// The old resource of a replacement that creates first is removed after the new one has written the same content.
func TestRemoveLeavesWhatWasPlaced(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ unpack, link bool }{
		"a file": {}, "a directory": {unpack: true},
		"a file, through a link": {link: true}, "a directory, through a link": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, data := newDisk(t, tc.unpack), siteOf(t, "1")
			must(t, d.put(data))
			renamed := d.Target
			renamed.Path += string(filepath.Separator)
			if tc.link {
				symlink(t, "out", d.path("alias"))
				renamed.Path = d.path("alias/bundle")
			}
			must(t, renamed.Remove(t.Context(), &d.placed, d.owned))
			must(t, os.RemoveAll(d.path("alias")))
			d.wantListing(d.listingOf(data, "1"))
			must(t, d.remove())
			d.wantListing(map[string]string{"out/": ""})
		})
	}
}

func TestOfResourcesWithOnePathOnlyTheFirstIsPutInPlace(t *testing.T) {
	t.Parallel()
	d, data := newDisk(t, false), siteOf(t, "1")
	const resources = 32
	start, errs := make(chan bool), make(chan error, resources)
	for range resources {
		staged, err := d.stage(data)
		must(t, err)
		go func() {
			<-start
			_, err := staged.Commit(t.Context(), &d.placed, nil)
			errs <- errors.Join(err, staged.Close())
		}()
	}
	close(start)
	stopped := 0
	for range resources {
		if err := <-errs; isA[*OccupiedError](err) {
			stopped++
		} else {
			must(t, err)
		}
	}
	if stopped != resources-1 {
		t.Errorf("%d of %d were stopped", stopped, resources)
	}
}

func TestOnlyChangesOfOnePathWaitForEachOther(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		path  string
		waits bool
	}{
		"the same path":  {"out/bundle", true},
		"another case":   {"OUT/Bundle", true},
		"another file":   {"out/bundle2", false},
		"through a link": {"alias/bundle", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, interrupted := newDisk(t, false), errors.New("interrupted")
				must(t, d.put(siteOf(t, "1")))
				if strings.HasPrefix(tc.path, "alias") {
					symlink(t, "out", d.path("alias"))
				}
				unlock, err := d.placed.lock(t.Context(), d.Target)
				must(t, err)
				ctx, interrupt := context.WithCancelCause(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- Target{Path: d.path(tc.path)}.Remove(ctx, &d.placed, d.owned) }()
				synctest.Wait()
				if waits := len(ended) == 0; waits != tc.waits {
					t.Errorf("it waits: %t", waits)
				}
				interrupt(interrupted)
				if err := <-ended; errors.Is(err, interrupted) != tc.waits {
					t.Errorf("error %v", err)
				}
				unlock()
				must(t, d.put(siteOf(t, "2")))
			})
		})
	}
}

func TestPermissionsStay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a system with Unix modes")
	}
	for unpack, mode := range map[bool]fs.FileMode{false: 0o600, true: fs.ModeDir | fs.ModeSetgid | 0o700} {
		d := newDisk(t, unpack)
		must(t, d.put(siteOf(t, "1")))
		must(t, os.Chmod(d.Path, mode))
		must(t, d.put(siteOf(t, "2")))
		if info, err := os.Stat(d.Path); err != nil || info.Mode() != mode {
			t.Errorf("it has the mode %s, want %s; error %v", info.Mode(), mode, err)
		}
	}
}

func TestDirectoryWithoutWritePermission(t *testing.T) {
	t.Parallel()
	d := newDisk(t, true)
	must(t, d.put(siteOf(t, "1")))
	must(t, os.Chmod(d.Path, 0o500))
	err := d.put(siteOf(t, "2")) // only root can replace it
	info, _ := os.Stat(d.Path)
	if left, _ := filepath.Glob(d.path("out/.docs-bundle*")); len(left) > 0 || err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("mode %s, error %v, left %v", info.Mode(), err, left)
	}
	must(t, os.Chmod(d.Path, 0o700)) //nolint:gosec // a directory, so that the test can delete it
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
		"an archive that is cut off":     {shorter(archive, 9), -1},
		"a small gzip that is cut off":   {shorter(gzipOf(t, []byte("text")), 9), -1},
		"a large gzip that is cut off":   {shorter(gzipOf(t, bytes.Repeat([]byte("text"), 50_000)), 9), -1},
		"a tar without its end":          {shorter(tarOf(t, regular("index.html", "x")), 1024), -1},
		"and with an unsafe name":        {shorter(tarOf(t, regular("../evil", "x")), 1024), -1},
	} {
		d := newDisk(t, false)
		d.unsized = true
		if err := d.put(tc.data); (err != nil) != (tc.files < 0) || err != nil && !isA[*ArchiveError](err) {
			t.Errorf("%s: error %v", name, err)
		}
		if c := d.content; tc.files >= 0 && (c.Files != tc.files || (c.Digest != "") != (tc.files > 0) || d.owned[0] != sha256Of(tc.data)) {
			t.Errorf("%s: content %+v, owned %v", name, c, d.owned)
		}
	}
}

func TestInspectReturnsErrorsOfTheSystem(t *testing.T) {
	t.Parallel()
	if _, err := (Target{Path: strings.Repeat("x", 300)}).Inspect(t.Context(), nil); runtime.GOOS != "windows" && !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Errorf("a name that is too long: error %v", err)
	}
	unreadable := Target{Path: "/proc/self/mem"} // a regular file, even for root
	if _, err := unreadable.Inspect(t.Context(), Owned{"other"}); runtime.GOOS == "linux" && !errors.Is(err, syscall.EIO) {
		t.Errorf("a file that cannot be read: error %v", err)
	}
	if _, err := unreadable.Inspect(t.Context(), nil); runtime.GOOS == "linux" && !isA[*OccupiedError](err) {
		t.Errorf("a file that need not be read: error %v", err)
	}
}

func TestFailureLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	remove := func(name string) func(*testing.T, *Staged) {
		return func(t *testing.T, s *Staged) { must(t, os.RemoveAll(s.in(name))) }
	}
	dangle := func(t *testing.T, s *Staged) { // a link has no mode of its own
		remove("directory")(t, s)
		symlink(t, "nowhere", s.in("directory"))
	}
	for name, tc := range map[string]struct {
		data  []byte
		spoil func(*testing.T, *Staged) // before Commit; nil if stage fails
		want  func(error) bool
	}{
		"a failed download":         {nil, nil, func(err error) bool { return errors.Is(err, errDownload) }},
		"no archive":                {[]byte("text"), nil, isA[*ArchiveError]},
		"a hostile archive":         {tarOf(t, regular("index.html", "x"), regular("../evil", "x")), nil, isA[*ArchiveError]},
		"no site to put in place":   {siteOf(t, "2"), remove("directory"), isA[*os.LinkError]},
		"no place for the old one":  {siteOf(t, "2"), remove("."), isA[*os.LinkError]},
		"a mode that cannot be set": {siteOf(t, "2"), dangle, isA[*fs.PathError]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t, true)
			must(t, d.put(siteOf(t, "1")))
			before := listing(t, d.root)
			staged, err := d.stage(tc.data)
			if tc.spoil != nil {
				must(t, err)
				tc.spoil(t, staged)
				err = d.commit(staged)
			}
			if !tc.want(err) || isA[*LeftError](err) {
				t.Errorf("error %v", err)
			}
			d.wantListing(before)
		})
	}
}

func TestWhatCannotBePutBackIsKeptAndNamed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a system that looks up the directory before ..")
	}
	d := newDisk(t, true)
	must(t, d.put(siteOf(t, "1")))
	staged, err := d.stage(siteOf(t, "2"))
	must(t, err)
	staged.target.Path += "/../bundle" // a name that cannot be renamed back, because bundle is no longer there
	must(t, os.RemoveAll(staged.in("directory")))
	old := staged.in("old")
	if left, ok := errors.AsType[*LeftError](d.commit(staged)); !ok || !left.Old || left.Path != old {
		t.Errorf("error %+v, want one that names %s", left, old)
	}
	if content, err := os.ReadFile(filepath.Join(old, "index.html")); string(content) != "home 1" {
		t.Errorf("it holds %q; error %v", content, err)
	}
}

func TestWhatIsNotDeletedIsNamed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("needs a system with Unix modes and a user other than root, who may write to a read-only directory")
	}
	d := newDisk(t, true)
	must(t, d.put(siteOf(t, "1")))
	must(t, os.Chmod(d.path("out/bundle/docs"), 0o500)) //nolint:gosec // a directory
	left, ok := errors.AsType[*LeftError](d.remove())
	temporary, _ := filepath.Glob(d.path("out/*"))
	hidden, _ := filepath.Glob(d.path("out/.docs-bundle-*"))
	if !ok || left.Old || len(temporary) != len(hidden) || !slices.Equal(hidden, []string{left.Path}) {
		t.Fatalf("error %+v, temporary directories %q, all %q", left, hidden, temporary)
	}
	must(t, os.Chmod(filepath.Join(left.Path, "old", "docs"), 0o700)) //nolint:gosec // a directory
	// If it cannot even be renamed, nothing is deleted.
	must(t, d.put(siteOf(t, "1")))
	must(t, os.Chmod(d.path("out"), 0o500)) //nolint:gosec // a directory
	if err := d.remove(); !errors.Is(err, fs.ErrPermission) || isA[*LeftError](err) {
		t.Errorf("error %v", err)
	}
	if now, err := d.Inspect(t.Context(), d.owned); now == "" {
		t.Errorf("a part was deleted; error %v", err)
	}
	must(t, os.Chmod(d.path("out"), 0o700)) //nolint:gosec // a directory
}

func TestOwnedKeepsTheLast20Contents(t *testing.T) {
	t.Parallel()
	var owned Owned
	for i := range 25 {
		owned = owned.with(fmt.Sprint(i))
	}
	for range 25 { // a fresh disk in each run
		owned = owned.with("7")
	}
	if len(owned) != 20 || owned[0] != "5" || owned[19] != "7" {
		t.Errorf("it holds %v", owned)
	}
}
