// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	site := []tar.Header{
		regular("index.html", "home"), regular("docs/guide/start.html", "start"), directory("empty"),
		hardLink("docs/again.html", "index.html"), symlink("latest", "docs"),
	}
	write := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dst string) {
			must(t, os.MkdirAll(filepath.Join(dst, filepath.Dir(name)), 0o755))
			must(t, os.WriteFile(filepath.Join(dst, name), []byte("mine"), 0o600))
		}
	}
	for name, tc := range map[string]struct {
		change func(t *testing.T, dst string) // what happened since the archive was unpacked
		want   map[string]string              // nil: the target is gone
		left   []string
	}{
		"takes all that was unpacked, the target included": {
			change: func(*testing.T, string) {},
		},
		"does without what is gone already": {
			change: func(t *testing.T, dst string) { must(t, os.RemoveAll(filepath.Join(dst, "docs"))) },
		},
		"takes a file that was changed": {
			change: write("index.html"),
		},
		"leaves a file that is not of the archive": {
			change: write("docs/notes.txt"),
			want:   map[string]string{"docs/": "", "docs/notes.txt": "mine"},
			left:   []string{"docs/notes.txt"},
		},
		"leaves a directory that is not of the archive": {
			change: func(t *testing.T, dst string) { must(t, os.MkdirAll(filepath.Join(dst, "docs/mine/deep"), 0o755)) },
			want:   map[string]string{"docs/": "", "docs/mine/": "", "docs/mine/deep/": ""},
			left:   []string{"docs/mine/deep"},
		},
		"leaves a file in place of a directory": {
			change: func(t *testing.T, dst string) {
				must(t, os.Remove(filepath.Join(dst, "empty")))
				write("empty")(t, dst)
			},
			want: map[string]string{"empty": "mine"},
			left: []string{"empty"},
		},
		"leaves a directory in place of a file": {
			change: func(t *testing.T, dst string) {
				must(t, os.Remove(filepath.Join(dst, "index.html")))
				must(t, os.Mkdir(filepath.Join(dst, "index.html"), 0o755))
			},
			want: map[string]string{"index.html/": ""},
			left: []string{"index.html"},
		},
		"does not follow a link in place of a directory": {
			change: func(t *testing.T, dst string) {
				must(t, os.RemoveAll(filepath.Join(dst, "empty")))
				must(t, os.Mkdir(filepath.Join(dst, "real"), 0o755))
				must(t, os.Symlink("real", filepath.Join(dst, "empty")))
			},
			want: map[string]string{"empty": "-> real", "real/": ""},
			left: []string{"empty", "real"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, dst := place(t, gzipOf(t, tarOf(t, site...)))
			_, err := Extract(t.Context(), src, dst, Options{})
			must(t, err)
			tc.change(t, dst)
			left, err := Remove(t.Context(), src, dst, Limits{})
			must(t, err)
			if !slices.Equal(left, tc.left) {
				t.Errorf("it says that %q are left, want %q", left, tc.left)
			}
			if tc.want == nil {
				onlyHolds(t, filepath.Dir(dst), "archive")
			} else if got := tree(t, dst); !maps.Equal(got, tc.want) {
				t.Errorf("left are %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRemoveOfNothingIsNoError(t *testing.T) {
	t.Parallel()
	src, dst := place(t, tarOf(t, regular("index.html", "home")))
	if left, err := Remove(t.Context(), src, dst, Limits{}); left != nil || err != nil {
		t.Errorf("left %q, error %v", left, err)
	}
}

func TestRemoveDeletesNothingOnTheWordOf(t *testing.T) {
	t.Parallel()
	page := regular("old.html", "old")
	for name, tc := range map[string]struct {
		data []byte
		err  error
	}{
		"a damaged archive": {shorter(gzipOf(t, tarOf(t, page)), 1), ErrUnreadable},
		"a hostile archive": {tarOf(t, page, regular("../archive", "x")), ErrName},
		"no archive":        {[]byte("text"), ErrFormat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, dst := place(t, tc.data)
			oldSite(t, dst)
			if _, err := Remove(t.Context(), src, dst, Limits{}); !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			if got := tree(t, dst); got["old.html"] != "old" {
				t.Errorf("the target holds %q, want what it held before", got)
			}
			onlyHolds(t, filepath.Dir(dst), "archive", "site")
		})
	}
}

func TestRemoveStaysInsideWhereALinkLeadsOut(t *testing.T) {
	t.Parallel()
	src, dst := place(t, tarOf(t, regular("docs/old.html", "x"), regular("index.html", "x")))
	_, err := Extract(t.Context(), src, dst, Options{})
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(dst, "docs")))
	outside := filepath.Join(filepath.Dir(dst), "outside")
	oldSite(t, outside)
	must(t, os.Symlink(outside, filepath.Join(dst, "docs")))

	left, err := Remove(t.Context(), src, dst, Limits{})
	var entry *EntryError
	if !errors.As(err, &entry) || entry.Entry != "docs/old.html" {
		t.Errorf("error %v, want one of docs/old.html", err)
	}
	if !slices.Equal(left, []string{"docs"}) {
		t.Errorf("it says that %q are left, want the link alone", left)
	}
	if got := tree(t, outside); got["old.html"] != "old" {
		t.Errorf("outside there is %q", got)
	}
}

func TestRemoveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	src, dst := place(t, tarOf(t, regular("old.html", "x")))
	oldSite(t, dst)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Remove(ctx, src, dst, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(filepath.Join(dst, "old.html")); err != nil {
		t.Error(err)
	}
}

func TestRemoveNamesNoMoreThan100OfWhatIsLeft(t *testing.T) {
	t.Parallel()
	src, dst := place(t, tarOf(t, regular("old.html", "x")))
	oldSite(t, dst)
	for i := range 2 * maxLeft {
		must(t, os.WriteFile(filepath.Join(dst, fmt.Sprintf("mine-%03d", i)), nil, 0o600))
	}
	left, err := Remove(t.Context(), src, dst, Limits{})
	must(t, err)
	if len(left) != maxLeft || left[0] != "mine-000" {
		t.Errorf("it names %d, %q first", len(left), left[0])
	}
	if _, err := os.Stat(filepath.Join(dst, "old.html")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("old.html: %v, want it gone", err)
	}
}
