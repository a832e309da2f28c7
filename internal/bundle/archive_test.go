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
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestArchivesOfRealTools reads what testdata/make.sh has made.
func TestArchivesOfRealTools(t *testing.T) {
	t.Parallel()
	const ( // as the tools list them
		site      = "docs/ docs/guide.html docs/über_uns.html empty/ index.html"
		committed = "docs/ docs/guide.html docs/über_uns.html index.html" // git has no empty directories
		sparse    = "index.html sparse"
	)
	// The digest of the site is the same however it is packed, and has the documented form.
	page, zeros := sha256.Sum256([]byte("home\n")), strings.Repeat("0", 64)
	siteDigest := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "d %[2]s docs\x00f %[1]x docs/guide.html\x00f %[1]x docs/über uns.html\x00"+
		"d %[2]s empty\x00f %[1]x index.html\x00", page, zeros)))
	wanted := map[string]any{} // a listing or a fault, by the name of the file
	for want, files := range map[any]string{
		site: `7zip.zip bsdtar.tar.gz bsdtar-padded.tar.gz bsdtar.zip busybox.tar.gz cpio-ustar.tar.gz gnutar-gnu.tar.gz gnutar-mode-000.tar.gz
			gnutar-no-root.tar.gz gnutar-no-zero-block.tar.gz gnutar-oldgnu.tar.gz gnutar-one-zero-block.tar.gz gnutar-pax.tar.gz
			gnutar-two-zero-blocks.tar.gz gnutar-ustar.tar.gz gnutar-v7.tar.gz gzip-members.tar.gz infozip.zip infozip-stream.zip jar.zip
			node.tar.gz node.zip pigz.tar.gz python.tar.gz python.zip slash.tar.gz unicode-path.zip gnutar-appended.tar.gz
			gnutar-incremental.tar.gz gnutar-label.tar.gz infozip-script.zip infozip-split.zip`,
		committed:    "git.tar.gz git.zip",
		sparse:       "gnutar-sparse.tar.gz gnutar-sparse-pax.tar.gz",
		SymbolicLink: "symbolic-link.tar.gz symbolic-link.zip",
		HardLink:     "hard-link.tar.gz",
		SpecialFile:  "fifo.tar.gz",
		NotUTF8:      "latin-1.tar.gz latin-1.zip unicode-path-of-another-name.zip",
	} {
		for file := range strings.FieldsSeq(files) {
			wanted[file] = want
		}
	}
	for file, want := range wanted {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", file))
			must(t, err)
			directory := filepath.Join(t.TempDir(), "site")
			held, err := read(t, data, "")
			unpacked, unpackErr := read(t, data, directory)
			if fault, refused := want.(Fault); refused {
				if !errors.Is(err, fault) || !errors.Is(unpackErr, fault) {
					t.Errorf("errors %v and %v, want %v", err, unpackErr, fault)
				}
				return
			}
			must(t, errors.Join(err, unpackErr))
			var names []string
			for name, content := range listing(t, directory) {
				names = append(names, strings.ReplaceAll(name, " ", "_"))
				data := make([]byte, 1<<20)
				copy(data[500_000:], "end")
				if !strings.HasSuffix(name, "/") && content != "home\n" && (name != "sparse" || content != string(data)) {
					t.Errorf("%s has %.20q", name, content)
				}
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != want {
				t.Errorf("unpacked %s, want %s", got, want)
			}
			onDisk, err := digestOf(t.Context(), directory, true)
			files := len(names) - strings.Count(want.(string), "/ ")
			if err != nil || held != (Content{onDisk, int64(files)}) || unpacked != held || (onDisk == siteDigest) != (want == site) {
				t.Errorf("read %v, unpacked %v, on disk %s; error %v", held, unpacked, onDisk, err)
			}
		})
	}
}

// read reads an archive, and unpacks it into the directory unless that is "".
func read(t testing.TB, data []byte, directory string) (Content, error) {
	t.Helper()
	if directory == "" {
		return readArchive(t.Context(), section(data), true, nil)
	}
	must(t, os.MkdirAll(directory, 0o755))
	root, err := os.OpenRoot(directory)
	must(t, err)
	defer func() { must(t, root.Close()) }()
	return readArchive(t.Context(), section(data), true, root)
}

func section(data []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data)))
}

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
		"an absolute path":               {tarOf(t, page, regular("/etc/cron.d/evil", "x")), UnsafeName, "/etc/cron.d/evil"},
		"a path that leads up":           {tarOf(t, page, regular("../evil", "x")), UnsafeName, "../evil"},
		"a path that leads up and back":  {tarOf(t, page, regular("a/../evil", "x")), UnsafeName, "a/../evil"},
		"a backslash":                    {tarOf(t, page, regular(`..\evil`, "x")), UnsafeName, `..\evil`},
		"a control character in a name":  {tarOf(t, regular("a\x1b[2J", "x")), UnsafeName, "a\x1b[2J"},
		"a path that is too long":        {tarOf(t, regular(strings.Repeat("a/", 512)+"x", "x")), LongName, strings.Repeat("a/", 512) + "x"},
		"a name that is too long":        {tarOf(t, regular("a/"+strings.Repeat("x", 256), "x")), LongName, "a/" + strings.Repeat("x", 256)},
		"an empty name":                  {zipOf(t, zipEntry{name: ""}), UnsafeName, ""},
		"a file in place of the root":    {tarOf(t, page, regular(".", "x")), UnsafeName, "."},
		"a file twice, with other bytes": {tarOf(t, page, page, regular("./index.html", "house")), Duplicate, "./index.html"},
		"a directory in place of a file": {tarOf(t, page, directory("index.html")), Duplicate, "index.html"},
		"a file in place of a directory": {tarOf(t, regular("a/b", "x"), regular("a", "x")), Duplicate, "a"},
		"a file inside a file":           {tarOf(t, page, regular("index.html/b/c", "x")), Duplicate, "index.html/b/c"},
		"a zip that lies about a size":   {lyingZip(t), zip.ErrFormat, "lie"},
		"a zip of unknown compression":   {patch(goodZip, "PK\x01\x02", 10, 99), Compression, "index.html"},
		"an encrypted zip":               {patch(goodZip, "PK\x01\x02", 8, 9), Encrypted, "index.html"},
		"a device in a zip":              {zipOf(t, zipEntry{name: "dev", mode: fs.ModeDevice | 0o644}), SpecialFile, "dev"},

		"nothing at all":                      {nil, NotAnArchive, ""},
		"a long text":                         {bytes.Repeat([]byte("<html>no such bundle"), 1000), NotAnArchive, ""},
		"zeros":                               {make([]byte, 2*tarBlock), Empty, ""},
		"a tar with nothing but directories":  {tarOf(t, directory("./"), directory("a")), Empty, ""},
		"a zip without entries":               {zipOf(t), Empty, ""},
		"a tar with a broken header":          {patch(good, "next.html", 0, 0xff), tar.ErrHeader, ""},
		"a tar cut within a file":             {good[:512+512+512+2000], io.ErrUnexpectedEOF, "next.html"},
		"a gzip tar without its last byte":    {shorter(gzipOf(t, good), 1), io.ErrUnexpectedEOF, ""},
		"a gzip tar with a wrong checksum":    {patch(gzipOf(t, good), "", len(gzipOf(t, good))-8, 0xff), gzip.ErrChecksum, ""},
		"a gzip tar with text after zeros":    {append(append(gzipOf(t, good), make([]byte, 600)...), "no more pages"...), gzip.ErrHeader, ""},
		"a gzip header alone":                 {gzipOf(t, good)[:6], io.ErrUnexpectedEOF, ""},
		"a zip that is only its first header": {goodZip[:30], zip.ErrFormat, ""},
		"the first part of a split zip":       {append([]byte("PK\x07\x08"), goodZip[:30]...), zip.ErrFormat, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := filepath.Join(t.TempDir(), "site")
			_, err := read(t, tc.data, site)
			refused, ok := errors.AsType[*ArchiveError](err)
			if !ok || refused.Entry != tc.entry || !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v of the entry %q", err, tc.err, tc.entry)
			}
			if _, intact := tc.err.(Fault); (refused.Fault == Damaged) == intact { //nolint:errorlint // of the table
				t.Errorf("the fault is %q", refused.Fault)
			}
			checkInside(t, site)
		})
	}
}

// Of a file that came without its length, only what it ends with shows that nothing is missing.
func TestFileThatMayBeCutOffMustHaveAnEnd(t *testing.T) {
	t.Parallel()
	whole := tarOf(t, regular("a.html", "home"), regular("b.html", "home"))
	for name, tc := range map[string]struct {
		data []byte
		want error
	}{
		"a tar":                                {whole, nil},
		"a tar with more zeros, as of GNU tar": {append(slices.Clone(whole), make([]byte, 8<<10)...), nil},
		"a tar with one block of its marker":   {shorter(whole, tarBlock), Incomplete},
		"a tar without its marker":             {shorter(whole, 2*tarBlock), Incomplete},
		"a tar that is cut between two files":  {whole[:2*tarBlock], Incomplete},
		"a tar that is cut within a header":    {whole[:2*tarBlock+9], Incomplete},
		"a gzip tar without a marker":          {gzipOf(t, shorter(whole, 2*tarBlock)), nil},
		"a zip":                                {zipOf(t, zipEntry{name: "a.html", body: "home"}), nil},
		"no archive":                           {bytes.Repeat([]byte("text"), 1000), NotAnArchive},
	} {
		if _, err := readArchive(t.Context(), section(tc.data), false, nil); !errors.Is(err, tc.want) {
			t.Errorf("%s: error %v, want %v", name, err, tc.want)
		}
		_, err := readArchive(t.Context(), section(tc.data), true, nil)
		if want := strings.HasSuffix(name, "within a header") || name == "no archive"; (err != nil) != want {
			t.Errorf("%s, known to be complete: error %v", name, err)
		}
	}
}

// checkInside fails the test if anything but a canary and the site is around.
func checkInside(t *testing.T, site string) {
	t.Helper()
	for name, content := range listing(t, filepath.Dir(site)) {
		if (name != "canary" || content != "alive") && !strings.HasPrefix(name, filepath.Base(site)+"/") {
			t.Errorf("there is %q outside the site", name)
		}
	}
}

func TestZipMayFollowAnything(t *testing.T) {
	t.Parallel()
	data := zipOf(t, zipEntry{name: "index.html", body: strings.Repeat("home", 1000)})
	for _, before := range []string{"PK00", "PK\x07\x08", "#!/bin/sh\n", strings.Repeat("MZ", 1000)} { // PK00 is another marker of a split zip
		if content, err := read(t, append([]byte(before), data...), ""); err != nil || content.Files != 1 {
			t.Errorf("after %.10q: %v, error %v", before, content, err)
		}
	}
}

func TestUnpackIntoADirectoryThatIsNotEmpty(t *testing.T) {
	t.Parallel()
	// What a file system that ignores case has at the second path after the first, this puts there.
	for _, name := range []string{"a", "a/b"} {
		site := t.TempDir()
		write(t, filepath.Join(site, filepath.FromSlash(name)), "x")
		if _, err := read(t, tarOf(t, regular(name, "x")), site); !errors.Is(err, Duplicate) {
			t.Errorf("%s: error %v, want %v", name, err, Duplicate)
		}
	}
}

func TestUnpackIntoADirectoryThatIsGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the system deletes no directory that is open")
	}
	site := filepath.Join(t.TempDir(), "site")
	must(t, os.Mkdir(site, 0o755))
	root, err := os.OpenRoot(site)
	must(t, err)
	must(t, os.Remove(site))
	_, err = readArchive(t.Context(), section(tarOf(t, regular("a.html", "x"))), true, root)
	if !errors.Is(err, fs.ErrNotExist) || isA[*ArchiveError](err) {
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
	many := slices.Repeat([]tar.Header{directory("d")}, 2500)
	sparse, err := os.ReadFile("testdata/gnutar-sparse.tar.gz") // a mebibyte
	must(t, err)
	for name, tc := range map[string]struct {
		data    []byte
		entries int
		bytes   int64
		err     error // nil if the archive is unpacked
	}{
		"bytes at the limit":                            {tarOf(t, pages...), 100, 10, nil},
		"bytes over the limit":                          {tarOf(t, pages...), 100, 9, TooLarge},
		"bytes of a bomb":                               {gzipOf(t, tarOf(t, regular("zeros", strings.Repeat("\x00", 32<<20)))), 100, 1 << 20, TooLarge},
		"bytes of a sparse file":                        {sparse, 100, 1 << 19, TooLarge},
		"entries at the limit, the folder counting":     {tarOf(t, pages...), 3, 100, nil},
		"entries over the limit":                        {tarOf(t, pages...), 2, 100, TooMany},
		"folders that one long path implies":            {tarOf(t, regular(strings.Repeat("d/", 20)+"f", "")), 20, 100, TooMany},
		"headers of many entries":                       {tarOf(t, append(many, regular("f", "x"))...), 2500, 1, nil},
		"headers without an entry":                      {bytes.Repeat(shorter(tarOf(t, padded), 512+1024), 30), 1, 1, TooLarge},
		"content of a zip, which its directory has not": {zipOf(t, zipEntry{name: "random", body: strings.Repeat("x", 2<<20)}), 1, 2 << 20, nil},
		"padding without end":                           {gzipOf(t, append(tarOf(t, pages...), make([]byte, 2<<20)...)), 4, 10, TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			lower(t, tc.entries, tc.bytes)
			site := filepath.Join(t.TempDir(), "site")
			_, err := read(t, tc.data, site)
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			written := 0
			for _, content := range listing(t, site) {
				written += len(content)
			}
			if int64(written) > tc.bytes || name == "bytes of a sparse file" && written > len("home\n") {
				t.Errorf("it wrote %d bytes, over the limit", written)
			}
		})
	}
}

func TestDirectoryIsReadUpToTheLimits(t *testing.T) {
	lower(t, 2, 8)
	for files, want := range map[string]error{"a": nil, "a b": nil, "a b c": TooMany, "a/b/c": TooMany, "long": TooLarge} {
		directory := t.TempDir()
		for name := range strings.FieldsSeq(files) {
			write(t, filepath.Join(directory, name), map[bool]string{false: "mine", true: "nine char"}[name == "long"])
		}
		if _, err := digestOf(t.Context(), directory, true); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", files, err, want)
		}
	}
}

func TestInterruptsAreReported(t *testing.T) {
	t.Parallel()
	big, cause := strings.Repeat("x", 1<<20), errors.New("interrupted")
	d := newDisk(t, true)
	must(t, d.put(siteOf(t, "1")))
	readAll := func(data []byte) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := readArchive(ctx, section(data), true, nil)
			return err
		}
	}
	inspect := func(target Target) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := target.Inspect(ctx, d.owned)
			return err
		}
	}
	for name, tc := range map[string]struct {
		call  func(context.Context) error
		atAll int // how often it must ask
	}{
		"of a gzip tar":        {readAll(gzipOf(t, tarOf(t, regular("big", big), regular("next", "x")))), 32},
		"of a zip":             {readAll(zipOf(t, zipEntry{name: "big", body: big}, zipEntry{name: "next/", mode: fs.ModeDir | 0o755})), 32},
		"of a directory":       {inspect(d.Target), 4},
		"of a missing one too": {inspect(Target{Path: d.path("missing")}), 1},
	} {
		for asked := 0; ; asked++ {
			ctx, cancel := context.WithCancelCause(t.Context())
			counting := &countedContext{Context: ctx, left: asked, act: func() { cancel(cause) }}
			err := tc.call(counting)
			if counting.left >= 0 {
				if err != nil || asked < tc.atAll {
					t.Errorf("%s: it asked %d times, error %v", name, asked, err)
				}
				break
			}
			if !errors.Is(err, cause) || isA[*ArchiveError](err) {
				t.Fatalf("%s, interrupted at question %d: error %v, want %v", name, asked, err, cause)
			}
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
	for _, name := range []string{"gnutar-sparse.tar.gz", "bsdtar-padded.tar.gz", "unicode-path.zip"} {
		data, err := os.ReadFile("testdata/" + name)
		must(f, err)
		f.Add(data)
	}
	f.Add(lyingZip(f))
	f.Add(zipOf(f, zipEntry{name: "docs/index.html", body: "home"}, zipEntry{name: "e/", mode: fs.ModeDir | 0o755}))

	lower(f, 64, 1<<16)
	f.Fuzz(func(t *testing.T, data []byte) {
		site := filepath.Join(t.TempDir(), "site")
		write(t, filepath.Join(filepath.Dir(site), "canary"), "alive")
		held, err := read(t, data, site)
		checkInside(t, site)
		if err != nil {
			return
		}
		if onDisk, err := digestOf(t.Context(), site, true); err != nil || onDisk != held.Digest {
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

// listing returns what is below dir: the content of files, the targets of links after "-> ", and nothing for directories.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch path := filepath.Join(dir, name); {
		case err != nil || name == ".":
		case entry.IsDir():
			found[name+"/"] = ""
		case entry.Type() == fs.ModeSymlink:
			found[name], err = os.Readlink(path)
			found[name] = "-> " + found[name]
		default:
			var content []byte
			content, err = os.ReadFile(path)
			found[name] = string(content)
		}
		return err
	}))
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
