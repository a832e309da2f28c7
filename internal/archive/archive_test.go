// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestExtractUnpacks(t *testing.T) {
	t.Parallel()
	site := []tar.Header{
		directory("./"),
		regular("./index.html", "home"),
		regular("docs/guide/start.html", "start"),
		directory("docs"),
		directory("empty/"),
	}
	siteTree := map[string]string{
		"index.html": "home", "docs/": "", "docs/guide/": "", "docs/guide/start.html": "start", "empty/": "",
	}
	for name, tc := range map[string]struct {
		data []byte
		want map[string]string
	}{
		"a tar":             {tarOf(t, site...), siteTree},
		"a gzip tar":        {gzipOf(t, tarOf(t, site...)), siteTree},
		"a gzip tar padded": {gzipOf(t, append(tarOf(t, site...), make([]byte, 9000)...)), siteTree},
		"a zip": {
			zipOf(t, zipEntry{name: "./index.html", body: "home"}, zipEntry{name: "docs/guide/start.html", body: "start"},
				zipEntry{name: "empty/", mode: fs.ModeDir | 0o755}),
			siteTree,
		},
		"a tar with a header for all entries, as git archive writes it": {
			tarOf(t, tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "c0ffee"}},
				regular("index.html", "home")),
			map[string]string{"index.html": "home"},
		},
		"names of any script, with spaces and colons": {
			tarOf(t, regular("über uns/日本:語.html", "x")),
			map[string]string{"über uns/": "", "über uns/日本:語.html": "x"},
		},
		"a name of 255 bytes": {
			tarOf(t, regular(strings.Repeat("n", 255), "x")),
			map[string]string{strings.Repeat("n", 255): "x"},
		},
		"a hard link to an earlier file": {
			tarOf(t, regular("a/one.html", "1"), hardLink("two.html", "./a/one.html")),
			map[string]string{"a/": "", "a/one.html": "1", "two.html": "1"},
		},
		"symbolic links that stay inside": {
			tarOf(t, symlink("latest", "v2"), regular("v2/index.html", "2"), symlink("v2/deep", "../v2/index.html"), symlink("again", "latest/deep")),
			map[string]string{"latest": "-> v2", "v2/": "", "v2/index.html": "2", "v2/deep": "-> ../v2/index.html", "again": "-> latest/deep"},
		},
		"a symbolic link in a zip": {
			zipOf(t, zipEntry{name: "v2/index.html", body: "2"}, zipEntry{name: "latest", body: "v2", mode: fs.ModeSymlink | 0o777}),
			map[string]string{"latest": "-> v2", "v2/": "", "v2/index.html": "2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, dst := place(t, tc.data)
			result, err := Extract(t.Context(), src, dst, Options{})
			must(t, err)
			if got := tree(t, dst); !maps.Equal(got, tc.want) {
				t.Errorf("unpacked %q, want %q", got, tc.want)
			}
			var want Result
			for name, content := range tc.want {
				if !strings.HasSuffix(name, "/") {
					want.Files++
				}
				if info, err := os.Lstat(filepath.Join(dst, name)); err == nil && info.Mode().IsRegular() && name != "two.html" {
					want.Bytes += int64(len(content))
				}
			}
			if result != want {
				t.Errorf("result %+v, want %+v", result, want)
			}
			onlyHolds(t, filepath.Dir(dst), "archive", "site")
		})
	}
}

func TestExtractKeepsNothingOfTheModeButTheExecuteBit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	headers := []tar.Header{regular("page", "x"), regular("script", "x"), regular("wide", "x"), directory("dir")}
	for i, mode := range []int64{0o600, 0o4710, 0o2666, 0o7000} {
		headers[i].Mode = mode
	}
	zipped := []zipEntry{
		{name: "page", mode: 0o600},
		{name: "script", mode: fs.ModeSetuid | 0o710},
		{name: "wide", mode: fs.ModeSticky | 0o666},
		{name: "dir/", mode: fs.ModeDir | 0o500},
	}
	for name, data := range map[string][]byte{"in a tar": tarOf(t, headers...), "in a zip": zipOf(t, zipped...)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, dst := place(t, data)
			_, err := Extract(t.Context(), src, dst, Options{})
			must(t, err)
			// Compared with new files of this process, for its umask.
			plain, program, dir := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "p"), filepath.Join(t.TempDir(), "d")
			must(t, os.WriteFile(plain, nil, 0o644))
			must(t, os.WriteFile(program, nil, 0o755))
			must(t, os.Mkdir(dir, 0o755))
			for name, like := range map[string]string{"page": plain, "script": program, "wide": plain, "dir": dir, ".": dir} {
				got, err := os.Stat(filepath.Join(dst, name))
				must(t, err)
				want, err := os.Stat(like)
				must(t, err)
				if got.Mode() != want.Mode() {
					t.Errorf("%s has mode %s, want %s", name, got.Mode(), want.Mode())
				}
			}
		})
	}
}

func TestExtractTarget(t *testing.T) {
	t.Parallel()
	data := gzipOf(t, tarOf(t, regular("new.html", "new")))
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, dst string)
		replace bool
		want    map[string]string // of the target; with an error, what it held before
		err     error
	}{
		"is made with its parents": {
			prepare: func(*testing.T, string) {},
			want:    map[string]string{"new.html": "new"},
		},
		"may be an empty directory": {
			prepare: func(t *testing.T, dst string) { must(t, os.MkdirAll(dst, 0o755)) },
			want:    map[string]string{"new.html": "new"},
		},
		"keeps its content unless told otherwise": {
			prepare: oldSite,
			want:    map[string]string{"old.html": "old"},
			err:     ErrTarget,
		},
		"is replaced whole where told so": {
			prepare: oldSite,
			replace: true,
			want:    map[string]string{"new.html": "new"},
		},
		"is not replaced where it is a file": {
			prepare: func(t *testing.T, dst string) {
				must(t, os.MkdirAll(filepath.Dir(dst), 0o755))
				must(t, os.WriteFile(dst, []byte("file"), 0o600))
			},
			replace: true,
			err:     ErrTarget,
		},
		"is not replaced where it is a link": {
			prepare: func(t *testing.T, dst string) {
				oldSite(t, dst+"-real")
				must(t, os.Symlink(dst+"-real", dst))
			},
			replace: true,
			err:     ErrTarget,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, dst := place(t, data)
			dst = filepath.Join(dst, "deep", "er")
			tc.prepare(t, dst)
			_, err := Extract(t.Context(), src, dst, Options{Replace: tc.replace})
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if got := tree(t, dst); tc.want != nil && !maps.Equal(got, tc.want) {
				t.Errorf("the target holds %q, want %q", got, tc.want)
			}
			beside, err := filepath.Glob(filepath.Join(filepath.Dir(dst), ".*"))
			if err != nil || len(beside) > 0 {
				t.Errorf("beside the target: %q, %v", beside, err)
			}
		})
	}
}

func TestExtractRefusesToSwapOutItsOwnArchive(t *testing.T) {
	t.Parallel()
	src, _ := place(t, tarOf(t, regular("index.html", "x")))
	for _, dst := range []string{filepath.Dir(src), filepath.Dir(filepath.Dir(src))} {
		if _, err := Extract(t.Context(), src, dst, Options{Replace: true}); !errors.Is(err, ErrTarget) {
			t.Errorf("into %s: error %v, want %v", dst, err, ErrTarget)
		}
	}
	if _, err := os.Stat(src); err != nil {
		t.Error(err)
	}
}

func TestSwapPutsTheOldBackWhereTheNewCannotCome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dst := filepath.Join(dir, "site")
	oldSite(t, dst)
	if err := swap(filepath.Join(dir, "missing"), dst, filepath.Join(dir, "aside")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
	if got := tree(t, dst); got["old.html"] != "old" {
		t.Errorf("the target holds %q, want what it held before", got)
	}
}

func TestExtractCleansUpAfterAFullDisk(t *testing.T) {
	t.Parallel()
	src, dst := place(t, tarOf(t, regular("a.html", "fits"), regular("b.html", "does not")))
	oldSite(t, dst)
	files := 0
	full := func(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error) {
		files++
		file, err := createFile(root, name, mode)
		if files == 2 {
			return fullDisk{file}, err
		}
		return file, err
	}
	_, err := extract(t.Context(), src, dst, Options{Replace: true}, full)
	var entry *EntryError
	if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &entry) || entry.Entry != "b.html" {
		t.Errorf("error %v, want one of b.html and %v", err, syscall.ENOSPC)
	}
	if got := tree(t, dst); !maps.Equal(got, map[string]string{"old.html": "old"}) {
		t.Errorf("the target holds %q, want what it held before", got)
	}
	onlyHolds(t, filepath.Dir(dst), "archive", "site")
}

// fullDisk takes half of what is written.
type fullDisk struct{ io.WriteCloser }

func (d fullDisk) Write(p []byte) (int, error) {
	n, _ := d.WriteCloser.Write(p[:len(p)/2])
	return n, &fs.PathError{Op: "write", Path: "/tmp/secret", Err: syscall.ENOSPC}
}

func TestExtractEndsWithItsContext(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	for name, data := range map[string][]byte{
		"in a tar":      tarOf(t, regular("big", big), regular("next", "x")),
		"in a gzip tar": gzipOf(t, tarOf(t, regular("big", big), regular("next", "x"))),
		"in a zip":      zipOf(t, zipEntry{name: "big", body: big}, zipEntry{name: "next", body: "x"}),
	} {
		for when, written := range map[string]int{"before the first entry": 0, "within a file": 1, "between two entries": len(big)} {
			t.Run(when+" "+name, func(t *testing.T) {
				t.Parallel()
				src, dst := place(t, data)
				cause := errors.New("interrupted")
				ctx, cancel := context.WithCancelCause(t.Context())
				if written == 0 {
					cancel(cause)
				}
				var counts []*tap
				_, err := extract(ctx, src, dst, Options{}, func(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error) {
					file, err := createFile(root, name, mode)
					counting := &tap{WriteCloser: file, limit: written, cancel: func() { cancel(cause) }}
					counts = append(counts, counting)
					return counting, err
				})
				if !errors.Is(err, cause) {
					t.Errorf("error %v, want %v", err, cause)
				}
				if len(counts) > 1 {
					t.Errorf("%d files were begun, want at most 1", len(counts))
				}
				if written == 1 && counts[0].written >= len(big) {
					t.Error("the file was written to its end")
				}
				onlyHolds(t, filepath.Dir(dst), "archive")
			})
		}
	}
}

func TestExtractEndsWithItsContextWhereThereIsNothingToRead(t *testing.T) {
	t.Parallel()
	src, dst := place(t, zipOf(t, zipEntry{name: "docs/", mode: fs.ModeDir | 0o755}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Extract(ctx, src, dst, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// tap counts what is written and calls cancel once that comes to limit.
type tap struct {
	io.WriteCloser
	limit, written int
	cancel         func()
}

func (c *tap) Write(p []byte) (int, error) {
	n, err := c.WriteCloser.Write(p)
	if c.written += n; c.written >= c.limit {
		c.cancel()
	}
	return n, err
}

// oldSite makes the directory dst with one page.
func oldSite(t *testing.T, dst string) {
	t.Helper()
	must(t, os.MkdirAll(dst, 0o755))
	must(t, os.WriteFile(filepath.Join(dst, "old.html"), []byte("old"), 0o600))
}

// onlyHolds fails the test where the directory holds anything else than names, hidden files included.
func onlyHolds(t *testing.T, dir string, names ...string) {
	t.Helper()
	content, err := os.ReadDir(dir)
	must(t, err)
	var found []string
	for _, entry := range content {
		found = append(found, entry.Name())
	}
	if strings.Join(found, " ") != strings.Join(names, " ") {
		t.Errorf("the directory holds %q, want %q", found, names)
	}
}
