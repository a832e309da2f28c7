package bundle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// disk is a directory with the target of one resource: out/bundle.
type disk struct {
	t    *testing.T
	root string
	Target
	placed  Placed
	owned   Owned
	content Content // of what was staged last
}

func newDisk(t *testing.T, unpack bool) *disk {
	t.Helper()
	root := t.TempDir()
	target := filepath.Join(root, "out", "bundle")
	if unpack {
		target += "/" // before which the system would follow a link
	}
	return &disk{t: t, root: root, Target: Target{target, unpack}}
}

// stage stages and verifies data, of an object that has changed during the download.
func (d *disk) stage(ctx context.Context, data []byte) (*Staged, error) {
	d.t.Helper()
	staged, err := d.Stage()
	if err != nil {
		return nil, err
	}
	_, err1 := staged.Write(slices.Concat(data, data))
	err2 := staged.Restart()
	_, err3 := staged.Write(data)
	must(d.t, errors.Join(err1, err2, err3))
	d.content, err = staged.Verify(ctx)
	if !errors.Is(staged.archive.Close(), os.ErrClosed) {
		d.t.Error("the archive is still open") // Windows renames and deletes no open file
	}
	if err != nil {
		return nil, cmp.Or(staged.Close(ctx), err)
	}
	if staged.SHA256() != sha256Of(data) || staged.SizeBytes != int64(len(data)) {
		d.t.Errorf("%d bytes with checksum %s, want %d with %s", staged.SizeBytes, staged.SHA256(), len(data), sha256Of(data))
	}
	return staged, nil
}

// put replaces what is at the target. It asks ctx for its error before and after the replacement, too, and calls the
// functions before it.
func (d *disk) put(ctx context.Context, data []byte, before ...func(*Staged)) error {
	d.t.Helper()
	found, err := d.Inspect(ctx, d.owned)
	if err != nil {
		return err
	}
	staged, err := d.stage(ctx, data)
	if err != nil {
		return err
	}
	_ = ctx.Err()
	for _, act := range before {
		act(staged)
	}
	owned, err := staged.Commit(&d.placed, found, d.owned)
	_ = ctx.Err()
	if err == nil {
		d.owned = owned
	}
	return errors.Join(err, staged.Close(ctx))
}

// remove removes what is at the target, in another run.
func (d *disk) remove(ctx context.Context) error {
	d.t.Helper()
	d.placed = Placed{}
	return d.Remove(ctx, &d.placed, d.owned)
}

// putOrRemove does one of them.
func (d *disk) putOrRemove(ctx context.Context, data []byte, removes bool) error {
	d.t.Helper()
	if removes {
		return d.remove(ctx)
	}
	return d.put(ctx, data)
}

// path returns the path of a name, in which OLD is where the old directory is.
func (d *disk) path(name string) string {
	old, _ := filepath.Glob(filepath.Join(d.root, "out", ".docs*", "old"))
	below, isOld := strings.CutPrefix(name, "OLD")
	if !isOld {
		return filepath.Join(d.root, name)
	}
	return filepath.Join(append(old, d.Path)[0], below)
}

// change changes the disk by comma-separated steps: put NAME (a file), dir NAME, rm NAME, link NAME (instead of what is
// there), near NAME (the same, beside it), and those of TestOwnership. Anything else panics.
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
		case "near":
			must(d.t, os.Rename(name, filepath.Join(filepath.Dir(name), "moved")))
			symlink(d.t, "moved", name)
		case "older": // than the one that was put last
			owned := d.owned
			must(d.t, d.put(d.t.Context(), siteOf(d.t, "1")))
			d.owned = owned
		case "forget":
			d.owned = nil
		default:
			panic("there is no step " + step)
		}
		if info, err := os.Lstat(name); err == nil { // the clock may tick between a name and its directory
			must(d.t, os.Chtimes(filepath.Dir(name), time.Time{}, info.ModTime()))
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
func (d *disk) listingOf(version string) map[string]string {
	if d.Unpack {
		return map[string]string{
			"out/": "", "out/bundle/": "", "out/bundle/docs/": "", "out/bundle/docs/guide.html": "guide " + version, "out/bundle/index.html": "home " + version,
		}
	}
	return map[string]string{"out/": "", "out/bundle": string(siteOf(d.t, version))}
}

// TestOwnership is the table of what may be on disk: what is ours is replaced and deleted, and everything else stops an update and a removal.
func TestOwnership(t *testing.T) {
	t.Parallel()
	const missing, foreign = -1, -2 // or the index of the bundle
	for name, tc := range map[string]struct {
		unpack bool
		change string
		want   int
		latest string // of what is foreign
	}{
		"a file as it was written":       {false, "rm none", 1, ""},
		"an older file":                  {false, "older", 0, ""},
		"no file":                        {false, "rm out", missing, ""},
		"another file":                   {false, "put out/bundle", foreign, ""},
		"a link in place of a file":      {false, "link out/bundle", foreign, ""},
		"a directory as it was written":  {true, "rm none", 1, ""},
		"an older directory":             {true, "older", 0, ""},
		"an empty directory":             {true, "rm out/bundle, dir out/bundle", missing, ""},
		"an added file":                  {true, "put out/bundle/docs/.DS_Store", foreign, "docs/.DS_Store"},
		"a removed file":                 {true, "rm out/bundle/docs/guide.html", foreign, "docs"},
		"an edited file":                 {true, "put out/bundle/index.html", foreign, "index.html"},
		"a link in place of a page":      {true, "link out/bundle/index.html", foreign, "index.html"},
		"a directory without a record":   {true, "forget", foreign, ""},
		"a link in place of a directory": {true, "link out/bundle", foreign, ""},
		"a file in place of a directory": {true, "rm out/bundle, put out/bundle", foreign, ""},
	} {
		for _, removes := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, removed: %t", name, removes), func(t *testing.T) {
				t.Parallel()
				d := newDisk(t, tc.unpack)
				must(t, d.put(t.Context(), siteOf(t, "1")))
				must(t, d.put(t.Context(), siteOf(t, "2")))
				d.owned = append(d.owned, "") // of a state without a digest
				long := time.Now().Add(-time.Hour)
				must(t, filepath.WalkDir(d.root, func(name string, _ fs.DirEntry, _ error) error { return os.Chtimes(name, long, long) }))
				d.change(tc.change)
				after, digest := listing(t, d.root), ""
				if tc.want >= 0 {
					digest = d.owned[tc.want]
				}
				if found, _ := d.Inspect(t.Context(), d.owned); found.Digest != digest {
					t.Errorf("found %q, want %q", found.Digest, digest)
				}
				err := d.putOrRemove(t.Context(), siteOf(t, "3"), removes)
				if removes {
					maps.DeleteFunc(after, func(name, _ string) bool { return tc.want >= 0 && strings.HasPrefix(name, "out/bundle") })
				} else if tc.want != foreign {
					after = d.listingOf("3")
				}
				d.wantListing(after)
				want := OccupiedError{Path: filepath.Clean(d.Path)}
				if tc.latest != "" {
					want.Latest = d.path("out/bundle/" + tc.latest)
				}
				occupied, ok := errors.AsType[*OccupiedError](err)
				if ok != (tc.want == foreign) || ok != (err != nil) || ok && *occupied != want {
					t.Errorf("error %+v, want %+v", err, want)
				}
			})
		}
	}
}

func TestWhatAppearsAtAnyTimeIsNeverDeleted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		unpack bool
		change string
		lost   int // how often it is lost: only if a page changes between its comparison and its deletion
	}{
		"in a directory":       {true, "put OLD/docs/mine", 0},
		"in another directory": {true, "rm out/bundle, put out/bundle/mine", 0},
		"instead of a page":    {true, "put OLD/index.html", 1},
		"instead of a file":    {false, "put out/bundle", 0},
		"as another file":      {false, "rm out/bundle, put out/bundle", 0},
	} {
		for _, removes := range []bool{false, true} {
			lost := 0
			whenAsked(t, func(ctx *countedContext) {
				d := newDisk(t, tc.unpack)
				must(t, d.put(t.Context(), siteOf(t, "1")))
				ctx.act = func() { d.change(tc.change) }
				err := d.putOrRemove(ctx, siteOf(t, "3"), removes)
				after := listing(t, d.root)
				if ctx.left < 0 && !slices.Contains(slices.Collect(maps.Values(after)), "mine 1") {
					lost++
				}
				maps.DeleteFunc(after, func(name, _ string) bool { return !strings.HasPrefix(name, "out/.docs") })
				if (len(after) > 0) != isA[*LeftError](err) {
					t.Errorf("%s, removes: %t: error %v, left %v", name, removes, err, after)
				}
			})
			if lost != tc.lost {
				t.Errorf("%s, removes: %t: lost %d times, want %d", name, removes, lost, tc.lost)
			}
		}
	}
}

func TestInterruptEndsEveryStep(t *testing.T) {
	t.Parallel()
	noise, interrupted := make([]byte, 128<<10), errors.New("interrupted")
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	update := gzipOf(t, tarOf(t, regular("noise", string(noise))))
	for _, removes := range []bool{false, true} {
		before, during := 0, 0
		whenAsked(t, func(ctx *countedContext) {
			d := newDisk(t, true)
			must(t, d.put(t.Context(), siteOf(t, "1")))
			was := listing(t, d.root)
			stopped, stop := context.WithCancelCause(ctx.Context)
			ctx.Context, ctx.act = stopped, func() { stop(interrupted) }
			err := d.putOrRemove(ctx, update, removes)
			switch left, ok := errors.AsType[*LeftError](err); {
			case errors.Is(err, interrupted):
				before++
				d.wantListing(was)
			case ok && errors.Is(left.Err, interrupted): // the rest was not deleted
				during++
			case ctx.left < 0 || err != nil:
				t.Errorf("removes: %t: error %v", removes, err)
			}
		})
		// To read two pages, a large archive, and to delete two pages and two directories.
		if before < 2 || !removes && before < 8 || during < 6 {
			t.Errorf("removes: %t: interrupted %d times before the deletion, and %d times in it", removes, before, during)
		}
	}
}

func TestOfATreeOnlyWhatIsTheSameIsRemoved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change string
		left   string
	}{
		"nothing":                        {"rm none", "out/"},
		"a missing directory":            {"rm out/bundle/docs", "out/"},
		"an added file":                  {"put out/bundle/docs/mine", "out/ out/bundle/ out/bundle/docs/ out/bundle/docs/mine"},
		"an edited page":                 {"put out/bundle/index.html", "out/ out/bundle/ out/bundle/index.html"},
		"a link in place of a page":      {"link out/bundle/index.html", "elsewhere out/ out/bundle/ out/bundle/index.html"},
		"a directory in place of a page": {"rm out/bundle/index.html, dir out/bundle/index.html", "out/ out/bundle/ out/bundle/index.html/"},
		"a link to a page that is in it": {"near out/bundle/index.html", "out/ out/bundle/ out/bundle/index.html out/bundle/moved"},
		"a link in place of a directory": {"link out/bundle/docs", "elsewhere/ elsewhere/guide.html out/ out/bundle/ out/bundle/docs"},
		"a file in place of a directory": {"rm out/bundle/docs, put out/bundle/docs", "out/ out/bundle/ out/bundle/docs"},
		"a link in place of the root":    {"link out/bundle", "elsewhere/ elsewhere/docs/ elsewhere/docs/guide.html elsewhere/index.html out/ out/bundle"},
	} {
		d := newDisk(t, true)
		must(t, d.put(t.Context(), siteOf(t, "1")))
		found, err := d.Inspect(t.Context(), d.owned)
		must(t, err)
		d.change(tc.change)
		err = found.tree.remove(t.Context(), filepath.Clean(d.Path))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: error %v", name, err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(listing(t, d.root))), " "); got != tc.left {
			t.Errorf("%s: left are %q, want %q", name, got, tc.left)
		}
	}
}

// The old resource of a replacement that creates first is removed after the new one has written the same content.
func TestRemoveLeavesWhatWasPlaced(t *testing.T) {
	t.Parallel()
	for _, unpack := range []bool{false, true} {
		d, data := newDisk(t, unpack), siteOf(t, "1")
		must(t, d.put(t.Context(), data))
		symlink(t, "out", d.path("alias"))
		through := Target{d.path("alias/bundle") + "/", unpack}
		must(t, through.Remove(t.Context(), &d.placed, d.owned))
		must(t, through.Remove(t.Context(), &d.placed, nil)) // of a resource that wrote something else
		must(t, os.Remove(d.path("alias")))
		d.wantListing(d.listingOf("1"))
		must(t, d.remove(t.Context()))
		d.wantListing(map[string]string{"out/": ""})
	}
}

func TestOfResourcesWithOnePathOnlyTheFirstIsPutInPlace(t *testing.T) {
	t.Parallel()
	d, start := newDisk(t, false), make(chan bool)
	var group sync.WaitGroup
	var first atomic.Int32
	for range 32 {
		staged, err := d.stage(t.Context(), siteOf(t, "1"))
		must(t, err)
		group.Go(func() {
			<-start
			if _, err := staged.Commit(&d.placed, Found{}, nil); err == nil {
				first.Add(1)
			} else if !isA[*OccupiedError](err) {
				t.Error(err)
			}
			_ = staged.Close(t.Context())
		})
	}
	close(start)
	if group.Wait(); first.Load() != 1 {
		t.Errorf("%d were put in place", first.Load())
	}
}

func TestPermissionsStay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a system with Unix modes")
	}
	for unpack, mode := range map[bool]fs.FileMode{false: 0o600, true: fs.ModeDir | 0o700} {
		d := newDisk(t, unpack)
		must(t, d.put(t.Context(), siteOf(t, "1")))
		must(t, os.Chmod(d.Path, mode))
		must(t, d.put(t.Context(), siteOf(t, "2")))
		info, err := os.Stat(d.Path)
		must(t, err)
		if info.Mode() != mode {
			t.Errorf("it has the mode %s, want %s", info.Mode(), mode)
		}
	}
}

func TestInspectReadsOnlyWhatMayBeOwned(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs a regular file that not even root can read")
	}
	unreadable := Target{Path: "/proc/self/mem"}
	if _, err := unreadable.Inspect(t.Context(), Owned{"other"}); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
	if _, err := unreadable.Inspect(t.Context(), nil); !isA[*OccupiedError](err) {
		t.Errorf("of nothing, error %v", err)
	}
	if _, err := (Target{Path: unreadable.Path + "/bundle"}).Inspect(t.Context(), nil); err != nil {
		t.Errorf("below a file, error %v", err)
	}
}

func TestFailureLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data  []byte
		spoil string // what the temporary directory loses before Commit
	}{
		"a hostile archive":        {tarOf(t, regular("index.html", "x"), regular("../evil", "x")), ""},
		"no site to put in place":  {siteOf(t, "2"), "directory"},
		"no place for the old one": {siteOf(t, "2"), "."},
	} {
		d := newDisk(t, true)
		must(t, d.put(t.Context(), siteOf(t, "1")))
		before := listing(t, d.root)
		err := d.put(t.Context(), tc.data, func(s *Staged) { must(t, os.RemoveAll(s.in(tc.spoil))) })
		if err == nil || isA[*LeftError](err) || isA[*ArchiveError](err) != (tc.spoil == "") {
			t.Errorf("%s: error %v", name, err)
		}
		d.wantListing(before)
	}
}

func needsModes(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("needs a system with Unix modes and a user other than root, whom no mode stops")
	}
}

func TestWhatMayNotBeReadIsNotOwned(t *testing.T) {
	t.Parallel()
	needsModes(t)
	d := newDisk(t, true)
	must(t, d.put(t.Context(), siteOf(t, "1")))
	theirs := d.path("out/bundle/theirs")
	must(t, os.Mkdir(theirs, 0))
	for _, removes := range []bool{false, true} {
		occupied, _ := errors.AsType[*OccupiedError](d.putOrRemove(t.Context(), siteOf(t, "3"), removes))
		if file, ok := errors.AsType[*fs.PathError](occupied.Err); !ok || file.Path != theirs {
			t.Errorf("removes: %t: error %v", removes, occupied.Err)
		}
	}
}

func TestWhatIsNotDeletedIsNamed(t *testing.T) {
	t.Parallel()
	needsModes(t)
	for readOnly, isNamed := range map[string]bool{"docs": true, ".": false, "..": false} { // what cannot be moved stays where it is
		for _, removes := range []bool{false, true} {
			d := newDisk(t, true)
			must(t, d.put(t.Context(), siteOf(t, "1")))
			must(t, os.Chmod(filepath.Join(d.Path, readOnly), 0o500))
			err := d.putOrRemove(t.Context(), siteOf(t, "3"), removes)
			must(t, filepath.WalkDir(d.root, func(name string, _ fs.DirEntry, _ error) error { return os.Chmod(name, 0o700) }))
			left, _ := filepath.Glob(d.path("out/.docs*/*")) // without the archive
			if named, ok := errors.AsType[*LeftError](err); err == nil || ok != isNamed || ok != slices.Equal(left, []string{d.path("OLD")}) {
				t.Errorf("%s, removes: %t: error %v, left %q, named %v", readOnly, removes, err, left, named)
			}
		}
	}
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
