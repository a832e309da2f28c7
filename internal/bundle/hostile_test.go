// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	page := regular("index.html", "home")
	good := tarOf(t, page, regular("next.html", strings.Repeat("next", 1000)))
	goodZip := zipOf(t, zipEntry{name: "index.html", body: "home"})
	for name, tc := range map[string]struct {
		data  []byte
		err   error
		entry string // at fault, if there is one
	}{
		"an absolute path":                     {tarOf(t, page, regular("/etc/cron.d/evil", "x")), errName, "/etc/cron.d/evil"},
		"an absolute path in a zip":            {zipOf(t, zipEntry{name: "/etc/evil"}), errName, "/etc/evil"},
		"a path that leads up":                 {tarOf(t, page, regular("../evil", "x")), errName, "../evil"},
		"a path that leads up in a zip":        {zipOf(t, zipEntry{name: "../evil"}), errName, "../evil"},
		"a path that leads up and down again":  {tarOf(t, page, regular("a/../b", "x")), errName, "a/../b"},
		"a directory that leads up":            {tarOf(t, page, directory("../site2/")), errName, "../site2/"},
		"a drive letter":                       {tarOf(t, page, regular("C:evil", "x")), errName, "C:evil"},
		"a backslash":                          {tarOf(t, page, regular(`..\evil`, "x")), errName, `..\evil`},
		"a NUL in a name":                      {zipOf(t, zipEntry{name: "a\x00.html"}), errName, "a\x00.html"},
		"a control character in a name":        {tarOf(t, regular("a\x1b[2J", "x")), errName, "a\x1b[2J"},
		"a name that is not UTF-8":             {zipOf(t, zipEntry{name: "caf\xe9"}), errName, "caf\xe9"},
		"an empty name":                        {zipOf(t, zipEntry{name: ""}), errName, ""},
		"a name of 256 bytes":                  {tarOf(t, regular(strings.Repeat("n", 256), "x")), errName, strings.Repeat("n", 256)},
		"a path of 1025 bytes":                 {tarOf(t, regular(strings.Repeat("n/", 512)+"n", "x")), errName, strings.Repeat("n/", 512) + "n"},
		"a file in place of the root":          {tarOf(t, page, regular(".", "x")), errName, "."},
		"a symbolic link in place of the root": {tarOf(t, page, symlink("./", "a")), errName, "./"},

		"a symbolic link up":                     {tarOf(t, page, symlink("out", "../..")), errLink, "out"},
		"a symbolic link up in a zip":            {zipOf(t, zipEntry{name: "out", body: "../..", mode: fs.ModeSymlink}), errLink, "out"},
		"a symbolic link to an absolute path":    {tarOf(t, page, symlink("out", "/etc")), errLink, "out"},
		"a symbolic link with a backslash":       {tarOf(t, page, symlink("out", `..\..`)), errLink, "out"},
		"a symbolic link without a target":       {zipOf(t, zipEntry{name: "out", mode: fs.ModeSymlink}), errLink, "out"},
		"a symbolic link of great length":        {zipOf(t, zipEntry{name: "out", body: strings.Repeat("./", 1<<20), mode: fs.ModeSymlink}), errLink, "out"},
		"a symbolic link that leads nowhere":     {tarOf(t, page, symlink("out", "missing")), errLink, "out"},
		"a symbolic link to itself":              {tarOf(t, page, symlink("out", "out")), errLink, "out"},
		"a symbolic link out through another":    {tarOf(t, page, symlink("here", "."), symlink("out", "here/here/../..")), errLink, "out"},
		"a file through a symbolic link":         {tarOf(t, page, directory("d"), symlink("l", "d"), regular("l/evil", "x")), errConflict, "l/evil"},
		"a symbolic link in place of a folder":   {tarOf(t, page, regular("l/evil", "x"), symlink("l", "d")), errConflict, "l"},
		"a hard link up":                         {tarOf(t, page, hardLink("out", "../archive")), errLink, "out"},
		"a hard link to a later file":            {tarOf(t, hardLink("out", "index.html"), page), errLink, "out"},
		"a hard link to a symbolic link":         {tarOf(t, page, symlink("l", "index.html"), hardLink("out", "l")), errLink, "out"},
		"a hard link to a directory":             {tarOf(t, page, directory("d"), hardLink("out", "d")), errLink, "out"},
		"a character device":                     {tarOf(t, page, tar.Header{Name: "dev", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}), errKind, "dev"},
		"a pipe":                                 {tarOf(t, page, tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}), errKind, "pipe"},
		"a device in a zip":                      {zipOf(t, zipEntry{name: "dev", mode: fs.ModeDevice | fs.ModeCharDevice | 0o600}), errKind, "dev"},
		"a file twice":                           {tarOf(t, page, page), errConflict, "index.html"},
		"a file twice in a zip":                  {zipOf(t, zipEntry{name: "a"}, zipEntry{name: "a"}), errConflict, "a"},
		"a file twice under two spellings":       {tarOf(t, page, regular("./index.html", "x")), errConflict, "./index.html"},
		"a directory in place of a file":         {tarOf(t, page, directory("index.html")), errConflict, "index.html"},
		"a file in place of a directory":         {tarOf(t, regular("a/b", "x"), regular("a", "x")), errConflict, "a"},
		"a file inside a file":                   {tarOf(t, page, regular("index.html/b/c", "x")), errConflict, "index.html/b/c"},
		"a sparse file of a tebibyte":            {sparseTar(t, 1<<40), errTooLarge, "sparse"},
		"a zip whose header lies about the size": {lyingZip(t), zip.ErrFormat, "lie"},
		"an encrypted zip":                       {patch(goodZip, "PK\x01\x02", 8, 1), nil, "index.html"},
		"a zip of unknown compression":           {patch(goodZip, "PK\x01\x02", 10, 99), zip.ErrAlgorithm, "index.html"},
		"a zip with a wrong checksum":            {patch(goodZip, "PK\x01\x02", 16, 0xff), zip.ErrChecksum, "index.html"},

		"nothing at all":                      {nil, errFormat, ""},
		"a short text":                        {[]byte("<html>no such bundle"), errFormat, ""},
		"a long text":                         {bytes.Repeat([]byte("<html>no such bundle"), 1000), errFormat, ""},
		"a gzip of a long text":               {gzipOf(t, bytes.Repeat([]byte("no tar"), 1000)), errFormat, ""},
		"a tar without entries":               {tarOf(t), errEmpty, ""},
		"a tar with nothing but its root":     {tarOf(t, directory("./")), errEmpty, ""},
		"a zip without entries":               {zipOf(t), errEmpty, ""},
		"a tar cut within a file":             {good[:512+512+512+2000], io.ErrUnexpectedEOF, "next.html"},
		"a tar cut within a header":           {good[:512+512+100], io.ErrUnexpectedEOF, ""},
		"a tar cut between two entries":       {good[:512+512], io.ErrUnexpectedEOF, ""},
		"a gzip tar without its last byte":    {shorter(gzipOf(t, good), 1), io.ErrUnexpectedEOF, ""},
		"a gzip tar with a wrong checksum":    {patch(gzipOf(t, good), "", len(gzipOf(t, good))-8, 0xff), gzip.ErrChecksum, ""},
		"a gzip header alone":                 {gzipOf(t, good)[:6], io.ErrUnexpectedEOF, ""},
		"a zip that is only its first header": {goodZip[:30], zip.ErrFormat, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, site := place(t, tc.data)
			_, _, err := unpack(t.Context(), archive, site, defaultLimits, createFile)
			var refusal *ArchiveError
			if !errors.As(err, &refusal) || refusal.Entry != tc.entry || tc.err != nil && !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v of the entry %q", err, tc.err, tc.entry)
			}
			if around := listing(t, filepath.Dir(site)); around["archive"] != string(tc.data) {
				t.Error("the archive changed")
			} else {
				checkInside(t, site, around)
			}
		})
	}
}

// checkInside fails the test if anything but the archive and the site is around.
func checkInside(t *testing.T, site string, around map[string]string) {
	t.Helper()
	for name := range maps.Keys(around) {
		if name != "archive" && name != "canary" && !strings.HasPrefix(name, filepath.Base(site)+"/") {
			t.Errorf("there is %q outside the site", name)
		}
	}
}

func TestUnpackHasLimits(t *testing.T) {
	t.Parallel()
	pages := []tar.Header{regular("docs/a.html", "12345"), regular("docs/b.html", "12345"), hardLink("docs/c.html", "docs/a.html")}
	// Headers that belong to no entry: the tar reader takes any number of them for one step.
	padded := regular("n", "")
	padded.Format, padded.PAXRecords = tar.FormatPAX, map[string]string{"VENDOR.x": strings.Repeat("x", 100_000)}
	for name, tc := range map[string]struct {
		data   []byte
		limits limits
		err    error
	}{
		"bytes at the limit":                        {tarOf(t, pages...), limits{100, 15}, nil},
		"bytes over the limit":                      {tarOf(t, pages[:2]...), limits{100, 9}, errTooLarge},
		"bytes of a hard link over the limit":       {tarOf(t, pages...), limits{100, 14}, errTooLarge},
		"bytes over the limit in a zip":             {zipOf(t, zipEntry{name: "a", body: "12345"}, zipEntry{name: "b", body: "12345"}), limits{100, 9}, errTooLarge},
		"entries at the limit, the folder counting": {tarOf(t, pages...), limits{4, 100}, nil},
		"entries over the limit":                    {tarOf(t, pages...), limits{3, 100}, errTooMany},
		"entries over the limit in a zip":           {zipOf(t, zipEntry{name: "a"}, zipEntry{name: "b"}), limits{1, 100}, errTooMany},
		"folders that one long path implies":        {tarOf(t, regular(strings.Repeat("d/", 20)+"f", "")), limits{20, 100}, errTooMany},
		"one folder again and again":                {tarOf(t, slices.Repeat([]tar.Header{directory("d")}, 20)...), limits{19, 100}, errTooMany},
		"headers of many entries":                   {tarOf(t, slices.Repeat([]tar.Header{directory("d")}, 2500)...), limits{2500, 1}, nil},
		"headers without an entry":                  {bytes.Repeat(shorter(tarOf(t, padded), 512+1024), 30), limits{1, 1}, errTooLarge},
		"padding without end":                       {gzipOf(t, append(tarOf(t, pages...), make([]byte, 2<<20)...)), limits{4, 10}, errTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, site := place(t, tc.data)
			_, _, err := unpack(t.Context(), archive, site, tc.limits, createFile)
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if err == nil {
				if _, err := readTree(t.Context(), site, tc.limits); err != nil {
					t.Errorf("reading it back: %v", err)
				}
			}
		})
	}
}

func TestUnpackStopsABombBeforeItFillsTheDisk(t *testing.T) {
	t.Parallel()
	var headers []tar.Header
	for i := range 32 {
		headers = append(headers, regular(fmt.Sprint(i), strings.Repeat("\x00", 1<<20)))
	}
	bomb := gzipOf(t, tarOf(t, headers...))
	const limit = 4<<20 + 1
	archive, site := place(t, bomb)
	_, _, err := unpack(t.Context(), archive, site, limits{100, limit}, createFile)
	var entry *ArchiveError
	if !errors.Is(err, errTooLarge) || !errors.As(err, &entry) || entry.Entry != "4" {
		t.Errorf("error %v, want %v of the fifth entry", err, errTooLarge)
	}
	written := 0
	for _, content := range listing(t, site) {
		written += len(content)
	}
	if written > limit || len(bomb) > limit/16 {
		t.Errorf("%d bytes unpacked to %d, over the limit of %d", len(bomb), written, limit)
	}
}

func TestReadArchiveHoldsNoZipDirectoryBeyondTheLimit(t *testing.T) { //nolint:paralleltest // it counts allocations
	// One record, repeated: the count in the trailer has 16 bits and proves nothing.
	one := zipOf(t, zipEntry{name: "a"})
	start, end := bytes.Index(one, []byte("PK\x01\x02")), bytes.Index(one, []byte("PK\x05\x06"))
	const records = 1 << 16
	many := slices.Concat(one[:start], bytes.Repeat(one[start:end], records), one[end:])
	binary.LittleEndian.PutUint32(many[len(many)-22+12:], uint32(records*(end-start)))
	archive, _ := place(t, many)
	allocated := testing.AllocsPerRun(1, func() {
		if _, err := readArchive(t.Context(), archive, limits{10, 10}, nil); !errors.Is(err, errTooMany) {
			t.Errorf("error %v, want %v", err, errTooMany)
		}
	})
	if allocated > records {
		t.Errorf("%.0f allocations, want fewer than there are records", allocated)
	}
}

func TestArchiveErrorIsShortAndPrintable(t *testing.T) {
	t.Parallel()
	err := &ArchiveError{"\x1b]0;evil\a\u202e" + strings.Repeat("x", 5000), errName}
	if text := err.Error(); len(text) > 200 || strings.ContainsAny(text, "\x1b\a\u202e") || !strings.Contains(text, `\x1b]0;evil`) {
		t.Errorf("it reads %q", text)
	}
}

// FuzzUnpack feeds any file at all: nothing changes outside the directory, nothing
// in it leads out, the limits hold, and the digest is that of what is on disk.
func FuzzUnpack(f *testing.F) {
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

	f.Fuzz(func(t *testing.T, data []byte) {
		archive, site := place(t, data)
		write(t, filepath.Join(filepath.Dir(site), "canary"), "alive")
		small := limits{entries: 64, bytes: 1 << 16}
		held, digest, err := unpack(t.Context(), archive, site, small, createFile)
		around := listing(t, filepath.Dir(site))
		checkInside(t, site, around)
		if around["canary"] != "alive" || around["archive"] != string(data) {
			t.Error("a file outside the site changed")
		}
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		onDisk, err := readTree(t.Context(), site, small)
		if err != nil || !maps.Equal(onDisk, held) || digest != held.digest() {
			t.Errorf("on disk there is %v, in the archive %v; error %v", onDisk, held, err)
		}
		checkModesAndLinks(t, site)
	})
}

func checkModesAndLinks(t *testing.T, site string) {
	t.Helper()
	site, err := filepath.EvalSymlinks(site)
	must(t, err)
	must(t, filepath.WalkDir(site, func(path string, entry fs.DirEntry, err error) error {
		must(t, err)
		info, err := entry.Info()
		must(t, err)
		target, err := filepath.EvalSymlinks(path)
		if err != nil || target != site && !strings.HasPrefix(target, site+string(filepath.Separator)) {
			t.Errorf("%s leads to %s, error %v", path, target, err)
		}
		if mode := info.Mode(); mode.Type() == 0 && mode&(os.ModeSetuid|os.ModeSetgid|os.ModeSticky|0o022) != 0 {
			t.Errorf("%s has mode %s", path, mode)
		}
		return nil
	}))
}

// shorter returns data without its last n bytes.
func shorter(data []byte, n int) []byte { return data[:len(data)-n] }

// patch returns a copy of data with the bits of mask flipped in the byte offset
// bytes behind the first mark.
func patch(data []byte, mark string, offset int, mask byte) []byte {
	data = slices.Clone(data)
	data[bytes.Index(data, []byte(mark))+offset] ^= mask
	return data
}

// lyingZip is a zip whose one file, of a mebibyte, is declared to have one byte.
func lyingZip(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	body, err := w.CreateHeader(&zip.FileHeader{Name: "lie", Method: zip.Deflate})
	must(t, err)
	_, err = body.Write(make([]byte, 1<<20))
	must(t, err)
	must(t, w.Close())
	data := out.Bytes()
	binary.LittleEndian.PutUint32(data[bytes.Index(data, []byte("PK\x01\x02"))+24:], 1)
	return data
}

// sparseTar is a tar of one file that is all hole.
func sparseTar(t testing.TB, size int64) []byte {
	t.Helper()
	header := regular("sparse", "0\n"+strings.Repeat("\x00", 510)) // a map of no data
	header.Format = tar.FormatPAX
	header.PAXRecords = map[string]string{"XNU.sparse.major": "1", "XNU.sparse.minor": "0", "XNU.sparse.name": "sparse", "XNU.sparse.realsize": fmt.Sprint(size)}
	// The writer refuses the keys that make a file sparse, so they are written under others of the same length.
	return bytes.ReplaceAll(tarOf(t, header), []byte("XNU.sparse"), []byte("GNU.sparse"))
}
