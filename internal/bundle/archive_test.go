package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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
	// The digest of the site is the same however it is packed, and has the documented form.
	page, zeros := sha256.Sum256([]byte("home\n")), strings.Repeat("0", 64)
	digest := func(empty string) string {
		return sha256Of(fmt.Appendf(nil, "d %s docs\x00f %[2]x docs/guide.html\x00f %[2]x docs/über uns.html\x00%sf %[2]x index.html\x00", zeros, page, empty))
	}
	for want, files := range map[any]string{ // a digest or a fault
		digest("d " + zeros + " empty\x00"): `7zip.zip bsdtar.tar.gz bsdtar-padded.tar.gz bsdtar.zip busybox.tar.gz cpio-ustar.tar.gz gnutar-appended.tar.gz
			gnutar-gnu.tar.gz gnutar-mode-000.tar.gz gnutar-no-root.tar.gz gnutar-no-zero-block.tar.gz gnutar-oldgnu.tar.gz
			gnutar-one-zero-block.tar.gz gnutar-pax.tar.gz gnutar-two-zero-blocks.tar.gz gnutar-ustar.tar.gz gnutar-v7.tar.gz gzip-members.tar.gz
			infozip.zip infozip-stream.zip jar.zip node.tar.gz node.zip pigz.tar.gz python.tar.gz python.zip slash.tar.gz unicode-path.zip`,
		digest(""):  "git.tar.gz git.zip", // git has no empty directories
		SpecialFile: "symbolic-link.tar.gz symbolic-link.zip hard-link.tar.gz fifo.tar.gz",
		UnsafeName:  "latin-1.tar.gz latin-1.zip unicode-path-of-another-name.zip",
	} {
		for file := range strings.FieldsSeq(files) {
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				data, err := os.ReadFile(filepath.Join("testdata", file))
				must(t, err)
				directory := filepath.Join(t.TempDir(), "site")
				held, err := read(t, data, "")
				unpacked, unpackErr := read(t, data, directory)
				if fault, refused := want.(Fault); refused {
					if faultOf(err) != fault || faultOf(unpackErr) != fault {
						t.Errorf("errors %v and %v, want %v", err, unpackErr, fault)
					}
					return
				}
				onDisk, _, readErr := readTree(t.Context(), directory, maxEntries, maxBytes)
				must(t, errors.Join(err, unpackErr, readErr))
				if content := (Content{want.(string), 3}); held != content || unpacked != content || onDisk.content() != content {
					t.Errorf("read %v, unpacked %v, on disk %v, want %v", held, unpacked, onDisk.content(), content)
				}
			})
		}
	}
}

// faultOf returns the fault that an error reports, or "".
func faultOf(err error) Fault {
	if refused, ok := errors.AsType[*ArchiveError](err); ok {
		return refused.Fault
	}
	return ""
}

// read reads an archive, and unpacks it into the directory unless that is "".
func read(t testing.TB, data []byte, directory string) (Content, error) {
	t.Helper()
	return readUpTo(t, data, directory, maxEntries, maxBytes)
}

func readUpTo(t testing.TB, data []byte, directory string, entries int, size int64) (Content, error) {
	t.Helper()
	reader := archiveReader{entries: entries, left: size}
	if directory != "" {
		must(t, os.MkdirAll(directory, 0o755))
		root, err := os.OpenRoot(directory)
		must(t, err)
		defer func() { must(t, root.Close()) }()
		reader.root = root
	}
	return reader.unpack(t.Context(), bytes.NewReader(data), int64(len(data)))
}

func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	page, link := regular("index.html", "home"), tar.Header{Name: "latest", Typeflag: tar.TypeSymlink}
	good := tarOf(t, page, regular("next.html", strings.Repeat("next", 1000)))
	goodZip := zipOf(t, zipEntry{name: "index.html", body: "home"})
	linkedZip := zipOf(t, zipEntry{name: "link", mode: fs.ModeSymlink | 0o777}, zipEntry{name: "../a"}, zipEntry{name: "a", body: "a page of text"})
	dated := page
	dated.Format, dated.PAXRecords = tar.FormatPAX, map[string]string{"VENDOR.mtime": "9.2e+18"}
	for fault, files := range map[Fault]map[string][]byte{
		UnsafeName: {
			"an absolute path":              tarOf(t, page, regular("/etc/cron.d/evil", "x")),
			"a path that leads up and back": tarOf(t, page, regular("a/../evil", "x")),
			"a backslash":                   tarOf(t, page, regular(`..\evil`, "x")),
			"a control character":           tarOf(t, regular("a\x1b[2J", "x")),
			"a path that is too long":       tarOf(t, regular(strings.Repeat("a/", 512)+"x", "x")),
			"a file in place of the root":   tarOf(t, page, regular(".", "x")),
		},
		Duplicate: {
			"a file twice, with other bytes": tarOf(t, page, page, regular("./index.html", "house")),
			"a file inside a file":           tarOf(t, page, regular("index.html/b/c", "x")),
		},
		Unsupported: {
			"a zip of unknown compression": patch(goodZip, "PK\x01\x02", 10, 99),
			"an encrypted zip":             patch(goodZip, "PK\x01\x02", 8, 9),
		},
		SpecialFile: {
			"a link in a zip": linkedZip,
		},
		NotAnArchive: {
			"nothing at all":              nil,
			"a long text":                 bytes.Repeat([]byte("<html>no such bundle"), 1000),
			"a time that is not a number": gzipOf(t, bytes.Replace(tarOf(t, page, dated), []byte("VENDOR.mtime=9.2e+18"), []byte("mtime=9.2e+180000000"), 1)),
		},
		Empty: {
			"a tar with nothing but directories": tarOf(t, directory("./"), directory("a")),
			"a zip without entries":              zipOf(t),
		},
		Damaged: {
			"a header with a wrong checksum":       patch(good, "next.html", 0, 0xff),
			"a zip with a wrong checksum":          patch(goodZip, "PK\x01\x02", 16, 0xff),
			"a zip with a link, and damage behind": patch(linkedZip, "PK\x01\x02", -20, 1),
			"a zip that is only its first header":  goodZip[:30],
			"a tar cut within a file":              good[:512+512+512+2000],
			"a tar cut within a header":            good[:2*tarBlock+9],
			"a tar with half of its end":           shorter(good, tarBlock),
			"a tar with a link, but no end":        shorter(tarOf(t, link), 2*tarBlock),
			"a gzip tar without its last byte":     shorter(gzipOf(t, good), 1),
			"a gzip tar with a link, and so":       shorter(gzipOf(t, tarOf(t, link)), 1),
			"a gzip tar that was cut before":       gzipOf(t, good[:2*tarBlock+9]),
		},
	} {
		for name, data := range files {
			site := filepath.Join(t.TempDir(), "site")
			_, err := read(t, data, site)
			ofEntry := slices.Contains([]Fault{UnsafeName, Duplicate, Unsupported, SpecialFile}, fault)
			if refused, ok := errors.AsType[*ArchiveError](err); !ok || refused.Fault != fault || (refused.Entry != "") != ofEntry {
				t.Errorf("%s: error %+v, want %v", name, refused, fault)
			}
			checkInside(t, site)
			d := newDisk(t, false) // it may be kept as a file, unless it is damaged
			if err := d.put(t.Context(), data); faultOf(err) != map[bool]Fault{true: Damaged}[fault == Damaged] || err == nil && d.content != (Content{}) {
				t.Errorf("%s: kept as a file, error %v, content %v", name, err, d.content)
			}
		}
	}
}

func TestUnpackTolerates(t *testing.T) {
	t.Parallel()
	page := regular("index.html", "home")
	packed, err := os.ReadFile("testdata/infozip.zip")
	must(t, err)
	for name, data := range map[string][]byte{
		"a tar with more zeros, as of GNU tar":           append(tarOf(t, page), make([]byte, 8<<10)...),
		"text behind a gzip file":                        append(gzipOf(t, tarOf(t, page)), "and more"...),
		"a zip without the descriptor that it announces": patch(packed, "PK\x01\x02", 8, 8),
	} {
		if content, err := read(t, data, ""); err != nil || content.Files == 0 {
			t.Errorf("%s: %d files, error %v", name, content.Files, err)
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

func TestUnpackReportsErrorsOfTheSystem(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs a directory in which not even root can create a file")
	}
	_, err := read(t, siteOf(t, "1"), "/proc")
	if !isSystemError(err) || isA[*ArchiveError](err) {
		t.Errorf("error %v, want one of the system", err)
	}
}

func TestUnpackRefusesWhatTheSystemRefuses(t *testing.T) {
	t.Parallel()
	site := t.TempDir()
	write(t, filepath.Join(site, "a"), "x") // as after another entry, if the file system ignores case
	for name, want := range map[string]Fault{"a": Duplicate, "docs/" + strings.Repeat("x", 300) + "/index.html": UnsafeName} {
		if _, err := read(t, tarOf(t, regular(name, "x")), site); faultOf(err) != want && (want == Duplicate || runtime.GOOS != "windows") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestLimitsAreOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../templates/resources/bundle_download.md.tmpl")
	for _, limit := range []string{fmt.Sprintf("%d,000 files", maxEntries/1000), fmt.Sprintf("%d GiB", maxBytes>>30)} {
		if err != nil || !strings.Contains(string(page), limit) {
			t.Errorf("the page of docs_bundle_download does not say %q, and the provider may not: %v", limit, err)
		}
	}
}

func TestUnpackHasLimits(t *testing.T) {
	t.Parallel()
	pages := []tar.Header{regular("docs/a.html", "12345"), regular("docs/b.html", "12345")}
	// Headers that belong to no entry: the tar reader takes any number of them for one step.
	padded := regular("n", "")
	padded.Format, padded.PAXRecords = tar.FormatPAX, map[string]string{"VENDOR.x": strings.Repeat("x", 100_000)}
	many := slices.Repeat([]tar.Header{directory("d")}, 2500)
	for name, tc := range map[string]struct {
		data    []byte
		entries int
		bytes   int64
		fault   Fault // "" if the archive is unpacked
	}{
		"as much as is allowed, the folder counting":    {tarOf(t, pages...), 3, 10, ""},
		"bytes over the limit":                          {tarOf(t, pages...), 100, 9, TooLarge},
		"folders that one long path implies":            {tarOf(t, regular(strings.Repeat("d/", 20)+"f", "")), 20, 100, TooMany},
		"headers of many entries":                       {tarOf(t, append(many, regular("f", "x"))...), 2500, 1, ""},
		"headers without an entry":                      {append(bytes.Repeat(shorter(tarOf(t, padded), 512+1024), 30), make([]byte, 1024)...), 1, 1, TooLarge},
		"content of a zip, which its directory has not": {zipOf(t, zipEntry{name: "random", body: strings.Repeat("x", 2<<20)}), 1, 2 << 20, ""},
		"padding without end":                           {gzipOf(t, append(tarOf(t, pages...), make([]byte, 2<<20)...)), 4, 10, TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := readUpTo(t, tc.data, t.TempDir(), tc.entries, tc.bytes); faultOf(err) != tc.fault {
				t.Errorf("error %v, want %v", err, tc.fault)
			}
		})
	}
}

func TestDirectoryIsReadUpToTheLimits(t *testing.T) {
	t.Parallel()
	for files, want := range map[string]error{"a/b/c": TooMany, "nine char": nil, "nine_char": TooLarge} {
		directory := t.TempDir()
		for name := range strings.FieldsSeq(files) {
			write(t, filepath.Join(directory, name), name)
		}
		if _, _, err := readTree(t.Context(), directory, 2, 8); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", files, err, want)
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

// whenAsked calls a function with a context that acts when it is first asked, then with one that acts when it is asked
// again, and so on until one is not asked that often. It returns how often that one was asked.
func whenAsked(t *testing.T, call func(*countedContext)) (times int) {
	for ; ; times++ {
		ctx := &countedContext{Context: t.Context(), left: times}
		if call(ctx); ctx.left >= 0 {
			return times
		}
	}
}

// FuzzUnpack feeds any file at all: nothing changes outside the directory, the limits
// hold, and the digest is that of what is on disk.
func FuzzUnpack(f *testing.F) {
	page := regular("docs/index.html", "home")
	site := tarOf(f, directory("./"), page, page, tar.Header{Name: "latest", Typeflag: tar.TypeSymlink, Linkname: "docs"})
	for _, seed := range [][]byte{site, gzipOf(f, site), zipOf(f, zipEntry{name: "a", body: "a page"})} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		site := filepath.Join(t.TempDir(), "site")
		write(t, filepath.Join(filepath.Dir(site), "canary"), "alive")
		held, err := readUpTo(t, data, site, 64, 1<<16)
		checkInside(t, site)
		if err != nil {
			return
		}
		if onDisk, _, err := readTree(t.Context(), site, 64, 1<<16); err != nil || onDisk.content() != held {
			t.Errorf("on disk there is %v, in the archive %v; error %v", onDisk.content(), held, err)
		}
	})
}

// shorter returns data without its last n bytes.
func shorter(data []byte, n int) []byte { return data[:len(data)-n] }

// patch returns a copy of data with the bits of mask flipped in the byte offset
// bytes behind the first mark.
func patch(data []byte, mark string, offset int, mask byte) []byte {
	before, _, found := bytes.Cut(data, []byte(mark))
	if !found {
		panic("there is no " + mark)
	}
	data = slices.Clone(data)
	data[len(before)+offset] ^= mask
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

// zipEntry is one entry of a zip, which is stored without compression.
type zipEntry struct {
	name, body string
	mode       fs.FileMode
}

func zipOf(t testing.TB, entries ...zipEntry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name}
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

// listing returns what is below dir: the content of files, the targets of links, and nothing for directories.
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
		default:
			content, failed := os.ReadFile(path)
			found[name], err = string(content), failed
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
