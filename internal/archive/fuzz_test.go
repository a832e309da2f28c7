// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"archive/tar"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzExtract holds Extract and Remove to what they promise of any file at all: nothing changes outside the target,
// nothing within leads out of it, the limits hold, an error leaves nothing, and Remove undoes Extract.
func FuzzExtract(f *testing.F) {
	page := regular("docs/index.html", "home")
	for _, headers := range [][]tar.Header{
		{directory("./"), page, hardLink("again.html", "docs/index.html"), symlink("latest", "docs"), symlink("docs/up", "../latest/index.html")},
		{symlink("here", "."), symlink("here/out", "../.."), regular("here/out/evil", "x")},
		{regular("../evil", "x"), symlink("out", "/"), hardLink("canary", "../canary")},
		{page, page, directory("docs/index.html"), {Name: "dev", Typeflag: tar.TypeChar}},
		{{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"path": "../evil"}}, regular(strings.Repeat("d/", 99)+"f", "deep")},
	} {
		f.Add(tarOf(f, headers...))
		f.Add(gzipOf(f, tarOf(f, headers...)))
	}
	f.Add(sparseTar(f, 1<<16))
	f.Add(lyingZip(f))
	f.Add(zipOf(f, zipEntry{name: "docs/index.html", body: "home"}, zipEntry{name: "latest", body: "docs", mode: fs.ModeSymlink | 0o777}, zipEntry{name: "e/", mode: fs.ModeDir | 0o755}))
	f.Add(zipOf(f, zipEntry{name: "../evil", body: "x"}, zipEntry{name: `..\evil`}, zipEntry{name: "out", body: "../..", mode: fs.ModeSymlink}))

	limits := Limits{Entries: 64, Bytes: 1 << 16}
	f.Fuzz(func(t *testing.T, data []byte) {
		src, dst := place(t, data)
		must(t, os.WriteFile(filepath.Join(filepath.Dir(dst), "canary"), []byte("alive"), 0o600))
		before := tree(t, filepath.Dir(dst))

		result, err := Extract(t.Context(), src, dst, Options{Limits: limits})
		if err == nil {
			checkUnpacked(t, dst, result, limits)
			if left, err := Remove(t.Context(), src, dst, limits); err != nil || len(left) > 0 {
				t.Errorf("removing leaves %q, error %v", left, err)
			}
		} else if len(err.Error()) > 1000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		if after := tree(t, filepath.Dir(dst)); !maps.Equal(after, before) {
			t.Errorf("around the target there is %q, want %q", after, before)
		}
	})
}

func checkUnpacked(t *testing.T, dst string, result Result, limits Limits) {
	t.Helper()
	dst, err := filepath.EvalSymlinks(dst)
	must(t, err)
	entries, files := 0, 0
	var links []string
	must(t, filepath.WalkDir(dst, func(path string, entry fs.DirEntry, err error) error {
		must(t, err)
		if path == dst {
			return nil
		}
		entries++
		info, err := entry.Info()
		must(t, err)
		switch mode := info.Mode(); {
		case mode.IsDir():
			return nil
		case mode.Type() == fs.ModeSymlink:
			links = append(links, path)
		case !mode.IsRegular() || mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky|0o022) != 0:
			t.Errorf("%s has mode %s", path, mode)
		}
		files++
		return nil
	}))
	for _, link := range links {
		target, err := filepath.EvalSymlinks(link)
		if err != nil || (target != dst && !strings.HasPrefix(target, dst+string(filepath.Separator))) {
			t.Errorf("%s leads to %s, error %v", link, target, err)
		}
	}
	if entries > limits.Entries || files != result.Files || result.Bytes > limits.Bytes {
		t.Errorf("%d entries, %d files and a result of %+v", entries, files, result)
	}
}
