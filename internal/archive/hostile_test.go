// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestExtractRefuses(t *testing.T) {
	t.Parallel()
	page := regular("index.html", "home")
	good := tarOf(t, page, regular("next.html", strings.Repeat("next", 1000)))
	goodZip := zipOf(t, zipEntry{name: "index.html", body: "home"})
	sparse := sparseTar(t, 1<<40)
	for name, tc := range map[string]struct {
		data  []byte
		err   error
		entry string // of the EntryError, where there is one
	}{
		"an absolute path":                    {tarOf(t, page, regular("/etc/cron.d/evil", "x")), ErrName, "/etc/cron.d/evil"},
		"an absolute path in a zip":           {zipOf(t, zipEntry{name: "/etc/evil"}), ErrName, "/etc/evil"},
		"a path that leads up":                {tarOf(t, page, regular("../evil", "x")), ErrName, "../evil"},
		"a path that leads up in a zip":       {zipOf(t, zipEntry{name: "../evil"}), ErrName, "../evil"},
		"a path that leads up from below":     {tarOf(t, page, regular("a/../../evil", "x")), ErrName, "a/../../evil"},
		"a path that leads up and down again": {tarOf(t, page, regular("a/../b", "x")), ErrName, "a/../b"},
		"a directory that leads up":           {tarOf(t, page, directory("../site2/")), ErrName, "../site2/"},
		"a drive letter":                      {tarOf(t, page, regular("C:evil", "x")), ErrName, "C:evil"},
		"a backslash":                         {tarOf(t, page, regular(`..\evil`, "x")), ErrName, `..\evil`},
		"a backslash in a zip":                {zipOf(t, zipEntry{name: `a\evil`}), ErrName, `a\evil`},
		"a NUL in a name":                     {zipOf(t, zipEntry{name: "a\x00.html"}), ErrName, "a\x00.html"},
		"a control character in a name":       {tarOf(t, regular("a\x1b[2J", "x")), ErrName, "a\x1b[2J"},
		"a name that is not UTF-8":            {zipOf(t, zipEntry{name: "caf\xe9"}), ErrName, "caf\xe9"},
		"an empty name":                       {zipOf(t, zipEntry{name: ""}), ErrName, ""},
		"a name of 256 bytes":                 {tarOf(t, regular(strings.Repeat("n", 256), "x")), ErrName, strings.Repeat("n", 256)},
		"a path of 1025 bytes":                {tarOf(t, regular(strings.Repeat("n/", 512)+"n", "x")), ErrName, strings.Repeat("n/", 512) + "n"},
		"a file for the target itself":        {tarOf(t, page, regular(".", "x")), ErrName, "."},
		"a symbolic link for the target":      {tarOf(t, page, symlink("./", "a")), ErrName, "./"},

		"a symbolic link up":                     {tarOf(t, page, symlink("out", "../..")), ErrLink, "out"},
		"a symbolic link up in a zip":            {zipOf(t, zipEntry{name: "out", body: "../..", mode: fs.ModeSymlink}), ErrLink, "out"},
		"a symbolic link to an absolute path":    {tarOf(t, page, symlink("out", "/etc")), ErrLink, "out"},
		"a symbolic link with a backslash":       {tarOf(t, page, symlink("out", `..\..`)), ErrLink, "out"},
		"a symbolic link without a target":       {zipOf(t, zipEntry{name: "out", mode: fs.ModeSymlink}), ErrLink, "out"},
		"a symbolic link of endless length":      {zipOf(t, zipEntry{name: "out", body: strings.Repeat("a/", 1<<20), mode: fs.ModeSymlink}), ErrLink, "out"},
		"a symbolic link that leads nowhere":     {tarOf(t, page, symlink("out", "missing")), ErrLink, "out"},
		"a symbolic link to itself":              {tarOf(t, page, symlink("out", "out")), ErrLink, "out"},
		"a symbolic link out by way of another":  {tarOf(t, page, symlink("here", "."), symlink("out", "here/here/../..")), ErrLink, "out"},
		"a file through a symbolic link":         {tarOf(t, page, directory("d"), symlink("l", "d"), regular("l/evil", "x")), ErrConflict, "l/evil"},
		"a file before the symbolic link to it":  {tarOf(t, page, regular("l/evil", "x"), symlink("l", "../..")), ErrLink, "l"},
		"a symbolic link in place of a folder":   {tarOf(t, page, regular("l/evil", "x"), symlink("l", "d")), ErrConflict, "l"},
		"a hard link up":                         {tarOf(t, page, hardLink("out", "../archive")), ErrLink, "out"},
		"a hard link to an absolute path":        {tarOf(t, page, hardLink("out", "/etc/passwd")), ErrLink, "out"},
		"a hard link to a later file":            {tarOf(t, hardLink("out", "index.html"), page), ErrLink, "out"},
		"a hard link to a symbolic link":         {tarOf(t, page, symlink("l", "index.html"), hardLink("out", "l")), ErrLink, "out"},
		"a hard link to a directory":             {tarOf(t, page, directory("d"), hardLink("out", "d")), ErrLink, "out"},
		"a hard link to the target itself":       {tarOf(t, page, directory("./"), hardLink("out", ".")), ErrLink, "out"},
		"a character device":                     {tarOf(t, page, tar.Header{Name: "dev", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}), ErrKind, "dev"},
		"a block device":                         {tarOf(t, page, tar.Header{Name: "dev", Typeflag: tar.TypeBlock}), ErrKind, "dev"},
		"a pipe":                                 {tarOf(t, page, tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}), ErrKind, "pipe"},
		"a device in a zip":                      {zipOf(t, zipEntry{name: "dev", mode: fs.ModeDevice | fs.ModeCharDevice | 0o600}), ErrKind, "dev"},
		"a pipe in a zip":                        {zipOf(t, zipEntry{name: "pipe", mode: fs.ModeNamedPipe | 0o600}), ErrKind, "pipe"},
		"a file twice":                           {tarOf(t, page, page), ErrConflict, "index.html"},
		"a file twice in a zip":                  {zipOf(t, zipEntry{name: "a"}, zipEntry{name: "a"}), ErrConflict, "a"},
		"a file twice under two spellings":       {tarOf(t, page, regular("./index.html", "x")), ErrConflict, "./index.html"},
		"a directory in place of a file":         {tarOf(t, page, directory("index.html")), ErrConflict, "index.html"},
		"a file in place of a directory":         {tarOf(t, regular("a/b", "x"), regular("a", "x")), ErrConflict, "a"},
		"a file within a file":                   {tarOf(t, page, regular("index.html/b/c", "x")), ErrConflict, "index.html/b/c"},
		"a link in place of a file":              {tarOf(t, page, symlink("index.html", ".")), ErrConflict, "index.html"},
		"a sparse file of a tebibyte":            {sparse, ErrTooLarge, "sparse"},
		"a zip whose header lies about the size": {lyingZip(t), ErrUnreadable, "lie"},
		"an encrypted zip":                       {patch(goodZip, "PK\x01\x02", 8, 1), ErrUnreadable, "index.html"},
		"a zip of unknown compression":           {patch(goodZip, "PK\x01\x02", 10, 99), ErrUnreadable, "index.html"},
		"a zip with a wrong checksum":            {patch(goodZip, "PK\x01\x02", 16, 0xff), ErrUnreadable, "index.html"},

		"nothing at all":                      {nil, ErrFormat, ""},
		"a short text":                        {[]byte("<html>no such bundle"), ErrFormat, ""},
		"a long text":                         {bytes.Repeat([]byte("<html>no such bundle"), 1000), ErrFormat, ""},
		"a gzip of a long text":               {gzipOf(t, bytes.Repeat([]byte("no tar"), 1000)), ErrFormat, ""},
		"a tar without entries":               {tarOf(t), ErrEmpty, ""},
		"a tar with no more than the target":  {tarOf(t, directory("./")), ErrEmpty, ""},
		"a gzip tar without entries":          {gzipOf(t, tarOf(t)), ErrEmpty, ""},
		"a zip without entries":               {zipOf(t), ErrEmpty, ""},
		"a tar cut within a file":             {good[:512+512+512+2000], ErrUnreadable, "next.html"},
		"a tar cut within a header":           {good[:512+512+100], ErrUnreadable, ""},
		"a tar cut between two entries":       {good[:512+512], ErrUnreadable, ""},
		"a gzip tar cut short":                {shorter(gzipOf(t, good), 30), ErrUnreadable, ""},
		"a gzip tar without its last byte":    {shorter(gzipOf(t, good), 1), ErrUnreadable, ""},
		"a gzip tar with a wrong checksum":    {patch(gzipOf(t, good), "", len(gzipOf(t, good))-8, 0xff), ErrUnreadable, ""},
		"a gzip header alone":                 {gzipOf(t, good)[:6], ErrUnreadable, ""},
		"a zip cut short":                     {shorter(goodZip, 10), ErrUnreadable, ""},
		"a zip that is only its first header": {goodZip[:30], ErrUnreadable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, dst := place(t, tc.data)
			oldSite(t, dst)
			before := tree(t, filepath.Dir(dst))
			_, err := Extract(t.Context(), src, dst, Options{Replace: true})
			if !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			var entry *EntryError
			if errors.As(err, &entry); tc.entry != "" && (entry == nil || entry.Entry != tc.entry) {
				t.Errorf("error %v, want one of the entry %q", err, tc.entry)
			}
			if after := tree(t, filepath.Dir(dst)); !maps.Equal(after, before) {
				t.Errorf("afterwards there is %q, want %q", after, before)
			}
		})
	}
}

func TestExtractLimits(t *testing.T) {
	t.Parallel()
	twoPages := []tar.Header{regular("docs/a.html", "12345"), regular("docs/b.html", "12345"), hardLink("docs/c.html", "docs/a.html")}
	chain := tarOf(t, regular(strings.Repeat("d/", 20)+"f", ""))
	var repeated []tar.Header
	for range 20 {
		repeated = append(repeated, directory("d"))
	}
	// Headers that belong to no entry: the reader of a tar takes any number of them for one step.
	padded := regular("n", "")
	padded.Format, padded.PAXRecords = tar.FormatPAX, map[string]string{"VENDOR.x": strings.Repeat("x", 100_000)}
	noise := bytes.Repeat(shorter(tarOf(t, padded), 512+1024), 30)
	for name, tc := range map[string]struct {
		data   []byte
		limits Limits
		err    error
	}{
		"bytes at the limit":                        {tarOf(t, twoPages...), Limits{Bytes: 10}, nil},
		"bytes over the limit":                      {tarOf(t, twoPages...), Limits{Bytes: 9}, ErrTooLarge},
		"bytes over the limit in a gzip tar":        {gzipOf(t, tarOf(t, twoPages...)), Limits{Bytes: 9}, ErrTooLarge},
		"bytes over the limit in a zip":             {zipOf(t, zipEntry{name: "a", body: "12345"}, zipEntry{name: "b", body: "12345"}), Limits{Bytes: 9}, ErrTooLarge},
		"entries at the limit, the folder counting": {tarOf(t, twoPages...), Limits{Entries: 4}, nil},
		"entries over the limit":                    {tarOf(t, twoPages...), Limits{Entries: 3}, ErrTooMany},
		"entries over the limit in a zip":           {zipOf(t, zipEntry{name: "a"}, zipEntry{name: "b"}), Limits{Entries: 1}, ErrTooMany},
		"folders that one long path implies":        {chain, Limits{Entries: 20}, ErrTooMany},
		"one folder again and again":                {tarOf(t, repeated...), Limits{Entries: 19}, ErrTooMany},
		"headers without an entry":                  {noise, Limits{Bytes: 1, Entries: 1}, ErrTooLarge},
		"padding without end":                       {gzipOf(t, append(tarOf(t, twoPages...), make([]byte, 2<<20)...)), Limits{Bytes: 10, Entries: 4}, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, dst := place(t, tc.data)
			_, err := Extract(t.Context(), src, dst, Options{Limits: tc.limits})
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if err == nil {
				return
			}
			if limit := fmt.Sprintf("(the limit is %d", max(tc.limits.Bytes, int64(tc.limits.Entries))); tc.limits.Bytes*int64(tc.limits.Entries) == 0 && !strings.Contains(err.Error(), limit) {
				t.Errorf("error %q does not say %q", err, limit)
			}
			onlyHolds(t, filepath.Dir(dst), "archive")
		})
	}
}

func TestExtractGivesUpOnABombBeforeItFillsTheDisk(t *testing.T) {
	t.Parallel()
	var headers []tar.Header
	for i := range 32 {
		headers = append(headers, regular(fmt.Sprint(i), strings.Repeat("\x00", 1<<20)))
	}
	bomb := gzipOf(t, tarOf(t, headers...))
	const limit = 4<<20 + 1
	if len(bomb) > limit/16 {
		t.Fatalf("the bomb is %d bytes packed, which is none", len(bomb))
	}
	src, dst := place(t, bomb)
	var files []*tap
	_, err := extract(t.Context(), src, dst, Options{Limits: Limits{Bytes: limit}}, func(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error) {
		file, err := createFile(root, name, mode)
		files = append(files, &tap{WriteCloser: file, limit: math.MaxInt})
		return files[len(files)-1], err
	})
	var entry *EntryError
	if !errors.Is(err, ErrTooLarge) || !errors.As(err, &entry) || entry.Entry != "4" {
		t.Errorf("error %v, want %v of the fifth entry", err, ErrTooLarge)
	}
	written := 0
	for _, file := range files {
		written += file.written
	}
	if written > limit {
		t.Errorf("%d bytes were written, over the limit of %d", written, limit)
	}
	onlyHolds(t, filepath.Dir(dst), "archive")
}

func TestExtractWritesNothingOfAFileThatDeclaresTooMuch(t *testing.T) {
	t.Parallel()
	src, dst := place(t, sparseTar(t, 1<<40))
	_, err := extract(t.Context(), src, dst, Options{}, func(_ *os.Root, name string, _ fs.FileMode) (io.WriteCloser, error) {
		t.Errorf("%s was begun", name)
		return nil, fs.ErrPermission
	})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
}

func TestWalkReads100000EntriesAtOnce(t *testing.T) {
	t.Parallel()
	const entries = DefaultEntries + 1
	headers, zipped := make([]tar.Header, entries), make([]zipEntry, entries)
	for i := range entries {
		name := fmt.Sprintf("page-%d.html", i)
		headers[i], zipped[i] = regular(name, ""), zipEntry{name: name}
	}
	tarred := tarOf(t, headers...)
	for name, data := range map[string][]byte{"a tar": tarred, "a gzip tar": gzipOf(t, tarred), "a zip": zipOf(t, zipped...)} {
		for within, want := range map[int]error{0: ErrTooMany, entries: nil} {
			t.Run(fmt.Sprintf("%s, limit %d", name, within), func(t *testing.T) {
				src, _ := place(t, data)
				began := time.Now()
				// Read and checked as Extract does, but not written: how long that takes is for the disk to say.
				err := walk(t.Context(), src, Limits{Entries: within}.withDefaults(), func(entry) error { return nil })
				if !errors.Is(err, want) {
					t.Errorf("error %v, want %v", err, want)
				}
				t.Logf("%d bytes in %s", len(data), time.Since(began))
			})
		}
	}
}

func TestExtractHoldsNoZipDirectoryBeyondTheLimit(t *testing.T) { //nolint:paralleltest // it counts allocations
	// One record, repeated: the count in the trailer is of 16 bits and proves nothing.
	one := zipOf(t, zipEntry{name: "a"})
	start, end := bytes.Index(one, []byte("PK\x01\x02")), bytes.Index(one, []byte("PK\x05\x06"))
	const records = 1 << 16
	many := slices.Concat(one[:start], bytes.Repeat(one[start:end], records), one[end:])
	trailer := many[len(many)-22:]
	binary.LittleEndian.PutUint32(trailer[12:], uint32(records*(end-start)))
	src, dst := place(t, many)
	allocated := testing.AllocsPerRun(1, func() {
		if _, err := Extract(t.Context(), src, dst, Options{Limits: Limits{Entries: 10}}); !errors.Is(err, ErrTooMany) {
			t.Errorf("error %v, want %v", err, ErrTooMany)
		}
	})
	if allocated > records {
		t.Errorf("%.0f allocations, want fewer than there are records", allocated)
	}
}

func TestExtractWhereTheFileSystemTakesTwoNamesForOne(t *testing.T) {
	t.Parallel()
	src, dst := place(t, tarOf(t, regular("API/index.html", "1"), regular("api/other.html", "2"), regular("api/INDEX.html", "3")))
	// What a case-insensitive file system has on the second path after the first, this puts there.
	_, err := extract(t.Context(), src, dst, Options{}, func(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error) {
		switch name {
		case "API/index.html":
			must(t, root.Mkdir("api", 0o755))
		case "api/INDEX.html":
			must(t, root.WriteFile(name, nil, mode))
		}
		return createFile(root, name, mode)
	})
	var entry *EntryError
	if !errors.Is(err, ErrConflict) || !errors.As(err, &entry) || entry.Entry != "api/INDEX.html" {
		t.Errorf("error %v, want %v of api/INDEX.html, the folders being one", err, ErrConflict)
	}
}

func TestExtractTakesPagesForZipDirectoriesOnlyInTheDirectory(t *testing.T) {
	t.Parallel()
	src, dst := place(t, zipOf(t, zipEntry{name: "nested.zip", body: strings.Repeat("PK\x01\x02", 2*directorySlack), stored: true}))
	if _, err := Extract(t.Context(), src, dst, Options{Limits: Limits{Entries: 1}}); err != nil {
		t.Error(err)
	}
}

func TestNameErrorsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                        "it is empty",
		"/index.html":             "it is absolute",
		"c:index.html":            "it has a drive letter",
		`docs\index.html`:         "it has a backslash",
		"docs/../index.html":      `it has a ".." element`,
		"caf\xe9":                 "it is not UTF-8",
		"a\x00":                   "it has a control character",
		strings.Repeat("n", 256):  "an element is longer than 255 bytes",
		strings.Repeat("n/", 600): "it is longer than 1024 bytes",
	} {
		if _, err := cleanName(name); err == nil || err.Error() != "unsafe name: "+want {
			t.Errorf("%.20q: error %v, want %q", name, err, want)
		}
	}
}

func TestEntryErrorIsShortAndPrintable(t *testing.T) {
	t.Parallel()
	err := &EntryError{"\x1b]0;evil\a\u202e" + strings.Repeat("x", 5000), ErrName}
	if text := err.Error(); len(text) > 200 || strings.ContainsAny(text, "\x1b\a\u202e") || !strings.Contains(text, `\x1b]0;evil`) {
		t.Errorf("it reads %q", text)
	}
}

// shorter returns data without its last n bytes.
func shorter(data []byte, n int) []byte { return data[:len(data)-n] }

// patch returns a copy of data with the bits of mask flipped in the byte offset bytes behind the first mark.
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
