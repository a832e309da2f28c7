package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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
		"names of any script, with spaces and dots": {
			tarOf(t, regular("über uns/日本 語..html", "x")),
			map[string]string{"über uns/": "", "über uns/日本 語..html": "x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, site := archiveOf(t, tc.data)
			held, err := unpack(t, archive, site)
			must(t, err)
			if got := listing(t, site); !maps.Equal(got, tc.want) {
				t.Errorf("unpacked %q, want %q", got, tc.want)
			}
			onDisk, err := readTree(t.Context(), site)
			if err != nil || !maps.Equal(onDisk, held) {
				t.Errorf("on disk there is %v, in the archive %v; error %v", onDisk, held, err)
			}
		})
	}
}

// unpack creates the site, and unpacks the archive into it.
func unpack(t testing.TB, archive, site string) (tree, error) {
	t.Helper()
	must(t, os.MkdirAll(site, 0o755))
	root, err := os.OpenRoot(site)
	must(t, err)
	defer func() { must(t, root.Close()) }()
	return readArchive(t.Context(), archive, root)
}

func TestContentDigestHasTheDocumentedForm(t *testing.T) {
	t.Parallel()
	archive, _ := archiveOf(t, tarOf(t, regular("b/index.html", "home"), directory("a"), regular("b.html", "home")))
	found, err := readArchive(t.Context(), archive, nil)
	must(t, err)
	records := fmt.Sprintf("d %[2]s a\x00d %[2]s b\x00f %[1]x b.html\x00f %[1]x b/index.html\x00", sha256.Sum256([]byte("home")), strings.Repeat("0", 64))
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(records))); found.content() != (Content{want, 2}) {
		t.Errorf("it is %+v, want %s of 2 files", found.content(), want)
	}
}

func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	page := regular("index.html", "home")
	good := tarOf(t, page, regular("next.html", strings.Repeat("next", 1000)))
	goodZip := zipOf(t, zipEntry{name: "index.html", body: "home"})
	link := tar.Header{Name: "latest", Typeflag: tar.TypeSymlink, Linkname: "index.html"}
	for name, tc := range map[string]struct {
		data  []byte
		err   error
		entry string // at fault, if there is one
	}{
		"an absolute path":               {tarOf(t, page, regular("/etc/cron.d/evil", "x")), errName, "/etc/cron.d/evil"},
		"a path that leads up":           {tarOf(t, page, regular("../evil", "x")), errName, "../evil"},
		"a backslash":                    {tarOf(t, page, regular(`..\evil`, "x")), errName, `..\evil`},
		"a control character in a name":  {tarOf(t, regular("a\x1b[2J", "x")), errName, "a\x1b[2J"},
		"a name that is not UTF-8":       {zipOf(t, zipEntry{name: "caf\xe9"}), errName, "caf\xe9"},
		"a path that is too long":        {tarOf(t, regular(strings.Repeat("a/", 512)+"x", "x")), errName, strings.Repeat("a/", 512) + "x"},
		"a name that is too long":        {tarOf(t, regular("a/"+strings.Repeat("x", 256), "x")), errName, "a/" + strings.Repeat("x", 256)},
		"an empty name":                  {zipOf(t, zipEntry{name: ""}), errName, ""},
		"a file in place of the root":    {tarOf(t, page, regular(".", "x")), errName, "."},
		"a symbolic link":                {tarOf(t, page, link), errKind, "latest"},
		"a symbolic link in a zip":       {zipOf(t, zipEntry{name: "latest", body: "a", mode: fs.ModeSymlink | 0o777}), errKind, "latest"},
		"a file twice":                   {tarOf(t, page, page), errConflict, "index.html"},
		"a directory in place of a file": {tarOf(t, page, directory("index.html")), errConflict, "index.html"},
		"a file in place of a directory": {tarOf(t, regular("a/b", "x"), regular("a", "x")), errConflict, "a"},
		"a file inside a file":           {tarOf(t, page, regular("index.html/b/c", "x")), errConflict, "index.html/b/c"},
		"a zip that lies about a size":   {lyingZip(t), zip.ErrFormat, "lie"},
		"a zip of unknown compression":   {patch(goodZip, "PK\x01\x02", 10, 99), errMethod, "index.html"},
		"an encrypted zip":               {patch(goodZip, "PK\x01\x02", 8, 9), errEncrypted, "index.html"},

		"nothing at all":                      {nil, errFormat, ""},
		"a long text":                         {bytes.Repeat([]byte("<html>no such bundle"), 1000), errFormat, ""},
		"a tar with nothing but its root":     {tarOf(t, directory("./")), errEmpty, ""},
		"a tar with nothing but directories":  {tarOf(t, directory("./"), directory("a")), errEmpty, ""},
		"a zip with nothing but its root":     {zipOf(t, zipEntry{name: "./", mode: fs.ModeDir | 0o755}), errEmpty, ""},
		"a tar with a broken header":          {patch(good, "next.html", 0, 0xff), tar.ErrHeader, ""},
		"a zip without entries":               {zipOf(t), errEmpty, ""},
		"a tar cut within a file":             {good[:512+512+512+2000], io.ErrUnexpectedEOF, "next.html"},
		"a gzip tar without its last byte":    {shorter(gzipOf(t, good), 1), io.ErrUnexpectedEOF, ""},
		"a gzip tar with a wrong checksum":    {patch(gzipOf(t, good), "", len(gzipOf(t, good))-8, 0xff), gzip.ErrChecksum, ""},
		"a gzip header alone":                 {gzipOf(t, good)[:6], io.ErrUnexpectedEOF, ""},
		"a zip that is only its first header": {goodZip[:30], zip.ErrFormat, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, site := archiveOf(t, tc.data)
			_, err := unpack(t, archive, site)
			refused, ok := errors.AsType[*ArchiveError](err)
			if !ok || refused.Entry != tc.entry || !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v of the entry %q", err, tc.err, tc.entry)
			} else if _, intact := tc.err.(*refusal); refused.Damaged == intact { //nolint:errorlint // of the table
				t.Errorf("damaged: %t", refused.Damaged)
			} else if strings.Count(err.Error(), fmt.Sprintf("%.100q", tc.entry)) > 1 {
				t.Errorf("%v: the name of the entry is repeated", err)
			}
			checkInside(t, site)
		})
	}
}

// checkInside fails the test if anything but the archive, a canary, and the site is
// around.
func checkInside(t *testing.T, site string) {
	t.Helper()
	for name, content := range listing(t, filepath.Dir(site)) {
		if name != "archive" && (name != "canary" || content != "alive") && !strings.HasPrefix(name, filepath.Base(site)+"/") {
			t.Errorf("there is %q outside the site", name)
		}
	}
}

func TestUnpackIntoADirectoryThatIsNotEmpty(t *testing.T) {
	t.Parallel()
	// What a file system that ignores case has at the second path after the first, this puts there.
	for _, name := range []string{"a", "a/b"} {
		archive, site := archiveOf(t, tarOf(t, regular(name, "x")))
		write(t, filepath.Join(site, filepath.FromSlash(name)), "x")
		if _, err := unpack(t, archive, site); !errors.Is(err, errConflict) {
			t.Errorf("%s: error %v, want %v", name, err, errConflict)
		}
	}
}

func TestUnpackIntoADirectoryThatIsGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the system deletes no directory that is open")
	}
	archive, site := archiveOf(t, tarOf(t, regular("a.html", "x")))
	must(t, os.Mkdir(site, 0o755))
	root, err := os.OpenRoot(site)
	must(t, err)
	must(t, os.Remove(site))
	if _, err = readArchive(t.Context(), archive, root); !errors.Is(err, fs.ErrNotExist) || isA[*ArchiveError](err) {
		t.Errorf("error %v, want %v and no fault of the archive", err, fs.ErrNotExist)
	}
	must(t, root.Close())
}

// lower lowers the limits. No test runs in parallel with it.
func lower(t testing.TB, entries int, size int64) {
	t.Helper()
	was := limits
	t.Cleanup(func() { limits = was })
	limits.entries, limits.bytes = entries, size
}

func TestUnpackHasLimits(t *testing.T) {
	pages := []tar.Header{regular("docs/a.html", "12345"), regular("docs/b.html", "12345")}
	// Headers that belong to no entry: the tar reader takes any number of them for one step.
	padded := regular("n", "")
	padded.Format, padded.PAXRecords = tar.FormatPAX, map[string]string{"VENDOR.x": strings.Repeat("x", 100_000)}
	for name, tc := range map[string]struct {
		data    []byte
		entries int
		bytes   int64
		err     error
	}{
		"bytes at the limit":                            {tarOf(t, pages...), 100, 10, nil},
		"bytes over the limit":                          {tarOf(t, pages...), 100, 9, errTooLarge},
		"bytes of a bomb":                               {gzipOf(t, tarOf(t, regular("zeros", strings.Repeat("\x00", 32<<20)))), 100, 1 << 20, errTooLarge},
		"bytes of a sparse file":                        {sparseTar(t, 1<<40), 100, 1 << 20, errTooLarge},
		"entries at the limit, the folder counting":     {tarOf(t, pages...), 3, 100, nil},
		"entries over the limit":                        {tarOf(t, pages...), 2, 100, errTooMany},
		"folders that one long path implies":            {tarOf(t, regular(strings.Repeat("d/", 20)+"f", "")), 20, 100, errTooMany},
		"headers of many entries":                       {tarOf(t, append(slices.Repeat([]tar.Header{directory("d")}, 2500), regular("f", "x"))...), 2500, 1, nil},
		"headers without an entry":                      {bytes.Repeat(shorter(tarOf(t, padded), 512+1024), 30), 1, 1, errTooLarge},
		"content of a zip, which its directory has not": {zipOf(t, zipEntry{name: "random", body: strings.Repeat("x", 2<<20)}), 1, 2 << 20, nil},
		"names of a zip":                                {zipOf(t, slices.Repeat([]zipEntry{{name: strings.Repeat("a", 60_000)}}, 30)...), 100, 1, errListing},
		"padding without end":                           {gzipOf(t, append(tarOf(t, pages...), make([]byte, 2<<20)...)), 4, 10, errTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			lower(t, tc.entries, tc.bytes)
			archive, site := archiveOf(t, tc.data)
			_, err := unpack(t, archive, site)
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			written := 0
			for _, content := range listing(t, site) {
				written += len(content)
			}
			if int64(written) > tc.bytes {
				t.Errorf("it wrote %d bytes, over the limit", written)
			}
		})
	}
}

func TestDirectoryIsReadUpToTheLimits(t *testing.T) {
	lower(t, 2, 8)
	for files, want := range map[string]error{"a b": nil, "a b c": errTooMany, "a/b/c": errTooMany} {
		d := newDisk(t)
		for name := range strings.FieldsSeq(files) {
			write(t, filepath.Join(d.Directory, name), "mine")
		}
		if _, err := stampOf(d.Directory); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", files, err, want)
		}
		if _, err := readTree(t.Context(), d.Directory); errors.Is(err, errTooLarge) != (files == "a b c") {
			t.Errorf("%s: error %v", files, err)
		}
	}
}

func TestReadArchiveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	big, cause := strings.Repeat("x", 1<<20), errors.New("interrupted")
	for kind, data := range map[string][]byte{
		"a tar":      tarOf(t, regular("big", big), regular("next", "x")),
		"a gzip tar": gzipOf(t, tarOf(t, regular("big", big), regular("next", "x"))),
		"a zip":      zipOf(t, zipEntry{name: "big", body: big}, zipEntry{name: "next/", mode: fs.ModeDir | 0o755}),
	} {
		archive, _ := archiveOf(t, data)
		for asked := 0; ; asked++ {
			ctx, cancel := context.WithCancelCause(t.Context())
			counting := &countedContext{Context: ctx, left: asked, act: func() { cancel(cause) }}
			_, err := readArchive(counting, archive, nil)
			if counting.left >= 0 {
				if err != nil || asked < 32 {
					t.Errorf("%s: it asked %d times in a mebibyte, error %v", kind, asked, err)
				}
				break
			}
			if !errors.Is(err, cause) || isA[*ArchiveError](err) {
				t.Fatalf("%s, interrupted at question %d: error %v, want %v", kind, asked, err, cause)
			}
		}
	}
}

func TestArchiveErrorFollowsBecause(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]*ArchiveError{
		`its entry "a/b" is neither a file nor a directory`: {Entry: "a/b", Err: errKind},
		"it contains no files":                              {Err: errEmpty},
		`unexpected EOF in the entry "a/b"`:                 {Entry: "a/b", Err: io.ErrUnexpectedEOF, Damaged: true},
		"unexpected EOF":                                    {Err: io.ErrUnexpectedEOF, Damaged: true},
		// 100 characters of the name, and nothing that a terminal interprets.
		`its entry "\x1b]0;evil\a\u202e` + strings.Repeat("x", 90) + `" has a name that is unsafe or too long`: {Entry: "\x1b]0;evil\a\u202e" + strings.Repeat("x", 5000), Err: errName},
	} {
		if err.Error() != want {
			t.Errorf("it reads %s, want %s", err, want)
		}
	}
}

// FuzzUnpack feeds any file at all: nothing changes outside the directory, the limits
// hold, and the digest is that of what is on disk.
func FuzzUnpack(f *testing.F) {
	page := regular("docs/index.html", "home")
	for _, headers := range [][]tar.Header{
		{directory("./"), page, {Name: "latest", Typeflag: tar.TypeSymlink, Linkname: "docs"}},
		{page, page, directory("docs/index.html"), {Name: "dev", Typeflag: tar.TypeChar}},
		{{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"path": "../evil"}}, regular(strings.Repeat("d/", 63)+"f", "deep")},
	} {
		f.Add(tarOf(f, headers...))
		f.Add(gzipOf(f, tarOf(f, headers...)))
	}
	f.Add(sparseTar(f, 1<<16))
	f.Add(lyingZip(f))
	f.Add(zipOf(f, zipEntry{name: "docs/index.html", body: "home"}, zipEntry{name: "e/", mode: fs.ModeDir | 0o755}))

	lower(f, 64, 1<<16)
	f.Fuzz(func(t *testing.T, data []byte) {
		archive, site := archiveOf(t, data)
		write(t, filepath.Join(filepath.Dir(site), "canary"), "alive")
		held, err := unpack(t, archive, site)
		checkInside(t, site)
		if err != nil {
			return
		}
		if onDisk, err := readTree(t.Context(), site); err != nil || !maps.Equal(onDisk, held) {
			t.Errorf("on disk there is %v, in the archive %v; error %v", onDisk, held, err)
		}
	})
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
	data := zipOf(t, zipEntry{name: "lie", body: strings.Repeat("\x00", 1<<20)})
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

func regular(name, body string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(body)), Linkname: body}
}

func directory(name string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o755}
}

// tarOf writes a tar. The content of a regular file is in Linkname, which a tar
// does not use there.
func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		var body string
		if h.Typeflag == tar.TypeReg {
			body, h.Linkname = h.Linkname, ""
		}
		must(t, w.WriteHeader(&h))
		_, err := w.Write([]byte(body))
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

func gzipOf(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	must(t, err)
	_, err = w.Write(data)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

// zipEntry is one entry of a zip. A mode of zero is 0644.
type zipEntry struct {
	name, body string
	mode       fs.FileMode
}

func zipOf(t testing.TB, entries ...zipEntry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.body == "" || len(e.body) > 1<<20 { // of that size on disk too
			header.Method = zip.Store
		}
		if e.mode == 0 {
			e.mode = 0o644
		}
		header.SetMode(e.mode)
		body, err := w.CreateHeader(header)
		must(t, err)
		_, err = body.Write([]byte(e.body))
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

// archiveOf writes data to a file and returns its path and that of a directory beside
// it that does not exist.
func archiveOf(t testing.TB, data []byte) (archive, site string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "archive"), string(data))
	return filepath.Join(dir, "archive"), filepath.Join(dir, "site")
}

// write writes a file, with the directories above it.
func write(t testing.TB, name, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(content), 0o600))
}

// symlink creates a symbolic link, or skips the test if the system has none.
func symlink(t testing.TB, target, name string) {
	t.Helper()
	err := os.Symlink(target, name)
	if made, failed := os.Readlink(name); err != nil || failed != nil || made == "" {
		t.Skipf("no symbolic links here: %v", errors.Join(err, failed))
	}
}

// listing returns what is below dir: the content of files, the targets of links
// after "-> ", and nothing for directories.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		must(t, err)
		name = filepath.ToSlash(name)
		switch entry.Type() {
		case fs.ModeDir:
			found[name+"/"] = ""
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			must(t, err)
			found[name] = "-> " + target
		case 0:
			content, err := os.ReadFile(path)
			must(t, err)
			found[name] = string(content)
		default:
			found[name] = entry.Type().String()
		}
		return nil
	}))
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
