// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/tar"
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
	"strings"
	"syscall"
	"testing"
)

func TestUnpackWritesWhatTheArchiveHolds(t *testing.T) {
	t.Parallel()
	site := []tar.Header{
		directory("./"), regular("./index.html", "home"), regular("docs/guide/start.html", "start"), directory("docs"), directory("empty/"),
	}
	siteTree := map[string]string{"index.html": "home", "docs/": "", "docs/guide/": "", "docs/guide/start.html": "start", "empty/": ""}
	for name, tc := range map[string]struct {
		data []byte
		want map[string]string
	}{
		"a tar":                {tarOf(t, site...), siteTree},
		"a gzip tar":           {gzipOf(t, tarOf(t, site...)), siteTree},
		"a gzip tar, padded":   {gzipOf(t, append(tarOf(t, site...), make([]byte, 9000)...)), siteTree},
		"a tar in other order": {tarOf(t, site[4], site[3], site[2], site[1]), siteTree},
		"a zip": {
			zipOf(t, zipEntry{name: "./index.html", body: "home"}, zipEntry{name: "docs/guide/start.html", body: "start"},
				zipEntry{name: "empty/", mode: fs.ModeDir | 0o755}),
			siteTree,
		},
		"a tar from git archive": {
			tarOf(t, tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "c0ffee"}}, regular("index.html", "home")),
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
		"a stored zip that looks like thousands of zip records": {
			zipOf(t, zipEntry{name: "a", body: strings.Repeat("PK\x01\x02", 110_000), stored: true}),
			map[string]string{"a": strings.Repeat("PK\x01\x02", 110_000)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, site := place(t, tc.data)
			held, digest, err := unpack(t.Context(), archive, site, defaultLimits, createFile)
			must(t, err)
			if got := listing(t, site); !maps.Equal(got, tc.want) {
				t.Errorf("unpacked %q, want %q", got, tc.want)
			}
			onDisk, err := readTree(t.Context(), site, defaultLimits)
			must(t, err)
			if !maps.Equal(onDisk, held) || digest != onDisk.digest() {
				t.Errorf("on disk there is %v with digest %s, in the archive %v with digest %s", onDisk, onDisk.digest(), held, digest)
			}
		})
	}
}

func TestContentDigestHasTheDocumentedForm(t *testing.T) {
	t.Parallel()
	archive, _ := place(t, tarOf(t, regular("b/index.html", "home"), symlink("b/link", "index.html"), directory("a"), hardLink("b.html", "b/index.html")))
	found, err := Describe(t.Context(), archive)
	must(t, err)
	records := fmt.Sprintf("d %[3]s a\x00d %[3]s b\x00f %[1]x b.html\x00f %[1]x b/index.html\x00l %[2]x b/link\x00",
		sha256.Sum256([]byte("home")), sha256.Sum256([]byte("index.html")), strings.Repeat("0", 64))
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(records))); found.ContentSHA256 != want || found.FileCount != 3 {
		t.Errorf("it is %s of %d files, want %s of 3", found.ContentSHA256, found.FileCount, want)
	}
	// State holds digests, so another form would break it.
	if want := "cc02c21ae0ba1914af1df3428f32e026011042c96619f53e26f981c3b6fbdefa"; found.ContentSHA256 != want {
		t.Errorf("it is %s, want %s", found.ContentSHA256, want)
	}
}

func TestUnpackKeepsOnlyTheExecuteBit(t *testing.T) {
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
			archive, site := place(t, data)
			_, _, err := unpack(t.Context(), archive, site, defaultLimits, createFile)
			must(t, err)
			// Compared with new files of this process, for its umask.
			like := t.TempDir()
			must(t, os.WriteFile(filepath.Join(like, "page"), nil, 0o644))
			must(t, os.WriteFile(filepath.Join(like, "script"), nil, 0o755))
			must(t, os.WriteFile(filepath.Join(like, "wide"), nil, 0o644))
			must(t, os.Mkdir(filepath.Join(like, "dir"), 0o755))
			for _, name := range []string{"page", "script", "wide", "dir"} {
				if got, want := modeOf(t, filepath.Join(site, name)), modeOf(t, filepath.Join(like, name)); got != want {
					t.Errorf("%s has mode %s, want %s", name, got, want)
				}
			}
		})
	}
}

func modeOf(t *testing.T, name string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(name)
	must(t, err)
	return info.Mode()
}

func TestCleanNameAllowsTheLongestPath(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("n/", 511) + "nn"
	if name, err := cleanName(longest); err != nil || name != longest {
		t.Errorf("error %v", err)
	}
}

func TestUnpackReportsAFullDisk(t *testing.T) {
	t.Parallel()
	archive, site := place(t, tarOf(t, regular("a.html", "fits"), regular("b.html", "does not")))
	full := func(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error) {
		file, err := createFile(root, name, mode)
		if name == "b.html" {
			return fullDisk{file}, err
		}
		return file, err
	}
	_, _, err := unpack(t.Context(), archive, site, defaultLimits, full)
	var fault *ArchiveError
	if !errors.Is(err, syscall.ENOSPC) || errors.As(err, &fault) {
		t.Errorf("error %v, want %v and no fault of the archive", err, syscall.ENOSPC)
	}
}

type fullDisk struct{ io.WriteCloser }

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestUnpackEndsWithItsContext(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	for name, data := range map[string][]byte{
		"in a tar":      tarOf(t, regular("big", big), regular("next", "x")),
		"in a gzip tar": gzipOf(t, tarOf(t, regular("big", big), regular("next", "x"))),
		"in a zip":      zipOf(t, zipEntry{name: "big", body: big}, zipEntry{name: "next/", mode: fs.ModeDir | 0o755}),
	} {
		for when, limit := range map[string]int{"before the first entry": 0, "within a file": 1, "between two entries": len(big)} {
			t.Run(when+" "+name, func(t *testing.T) {
				t.Parallel()
				archive, site := place(t, data)
				cause := errors.New("interrupted")
				ctx, cancel := context.WithCancelCause(t.Context())
				if limit == 0 {
					cancel(cause)
				}
				_, _, err := unpack(ctx, archive, site, defaultLimits, func(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error) {
					file, err := createFile(root, name, mode)
					return &tap{file, limit, func() { cancel(cause) }}, err
				})
				if err == nil || err.Error() != cause.Error() {
					t.Errorf("error %v, want %v", err, cause)
				}
				if written := len(listing(t, site)["big"]); written > limit+64<<10 || len(listing(t, site)) > 1 {
					t.Errorf("it wrote %d bytes and %d files after the end", written-limit, len(listing(t, site))-1)
				}
			})
		}
	}
}

// tap calls end once limit bytes are written.
type tap struct {
	io.WriteCloser
	limit int
	end   func()
}

func (t *tap) Write(p []byte) (int, error) {
	n, err := t.WriteCloser.Write(p)
	if t.limit -= n; t.limit <= 0 {
		t.end()
	}
	return n, err
}

func TestUnpackWhereTheFileSystemIgnoresCase(t *testing.T) {
	t.Parallel()
	// What such a file system has at the second path after the first, this puts there.
	create := func(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error) {
		switch name {
		case "API/index.html":
			must(t, root.Mkdir("api", 0o755))
		case "api/INDEX.html":
			must(t, root.WriteFile(name, nil, mode))
		}
		return createFile(root, name, mode)
	}
	archive, site := place(t, tarOf(t, regular("API/index.html", "1"), regular("api/other.html", "2")))
	_, digest, err := unpack(t.Context(), archive, site, defaultLimits, create)
	must(t, err)
	if found, err := readTree(t.Context(), site, defaultLimits); err != nil || digest != found.digest() {
		t.Errorf("two directories that are one have digest %s, want that of what is on disk; error %v", digest, err)
	}
	archive, site = place(t, tarOf(t, regular("API/index.html", "1"), regular("api/INDEX.html", "3")))
	_, _, err = unpack(t.Context(), archive, site, defaultLimits, create)
	var entry *ArchiveError
	if !errors.Is(err, errConflict) || !errors.As(err, &entry) || entry.Entry != "api/INDEX.html" {
		t.Errorf("two files that are one: error %v, want %v of api/INDEX.html", err, errConflict)
	}
}
