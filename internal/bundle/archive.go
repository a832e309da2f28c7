package bundle

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
)

// archiveReader is one pass over an archive.
type archiveReader struct {
	root    *os.Root // where it is unpacked to; nil if it is only read
	entries int      // how many files and directories it may have
	left    int64    // bytes that files may still unpack to

	current string // name of the entry that is read, as in the archive; "" between entries
	tree    tree   // every path named or implied so far
}

// unpack reads an archive to its end, unpacks it, and returns its content. Files get mode 0644 and directories 0755,
// less the umask. An archive is [Damaged] if it has no end or a wrong checksum; otherwise, its fault is what keeps it
// from being unpacked. Errors are *ArchiveError, those of the system, and context.Cause(ctx). After an error, root may
// hold a part of the archive.
func (a *archiveReader) unpack(ctx context.Context, file io.ReaderAt, size int64) (content Content, err error) {
	a.tree = tree{}
	err = a.read(interruptible(ctx, file, size))
	if content = a.tree.content(); err == nil && content.Files == 0 {
		err = Empty
	}
	if ctx.Err() != nil {
		return Content{}, context.Cause(ctx)
	}
	if err == nil || isSystemError(err) {
		return content, err
	}
	fault, intact := errors.AsType[Fault](err)
	if !intact {
		fault = Damaged
	}
	if slices.Contains([]Fault{Damaged, TooMany, TooLarge}, fault) { // not that of the entry
		a.current = ""
	}
	return Content{}, &ArchiveError{fault, a.current, err}
}

func (a *archiveReader) read(file *io.SectionReader) error {
	source := bufio.NewReader(file)
	begin, _ := source.Peek(4) // an error comes again
	switch {
	case string(begin) == "PK\x03\x04", string(begin) == "PK\x05\x06":
		return a.zip(file)
	case strings.HasPrefix(string(begin), gzipMagic):
		unzipped := &gzipReader{source: source}
		if err := unzipped.nextMember(); err != nil {
			return err
		}
		return a.tar(unzipped)
	}
	err := a.tar(source)
	switch refused := errors.Is(err, NotAnArchive); {
	case refused && len(a.tree) > 0: // no checksum shows that the header is only of a kind that is not known
		return errors.New("it has an unreadable header")
	case !refused && !endsInZeros(file):
		return errors.New("it does not end like a tar archive")
	}
	return err
}

// endsInZeros reports whether a file ends with the end marker of a tar: two blocks of zeros.
func endsInZeros(file *io.SectionReader) bool {
	var end, zeros [2 * tarBlock]byte
	n, _ := file.ReadAt(end[:], file.Size()-int64(len(end)))
	return n == len(end) && end == zeros
}

const (
	gzipMagic = "\x1f\x8b"
	tarBlock  = 512
)

// gzipReader reads the members of a gzip file (RFC 1952, section 2.2) and, as gzip does, drops what follows them: BSD
// tar pads what it writes to a pipe with zeros.
type gzipReader struct {
	gzip.Reader
	source *bufio.Reader
}

func (r *gzipReader) nextMember() error {
	err := r.Reset(r.source)
	r.Multistream(false)
	return err
}

func (r *gzipReader) Read(p []byte) (int, error) {
	for {
		n, err := r.Reader.Read(p)
		if n > 0 {
			return n, nil // the next call returns the error again
		}
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		if begin, err := r.source.Peek(len(gzipMagic)); string(begin) != gzipMagic {
			return 0, cmp.Or(err, io.EOF)
		}
		if err := r.nextMember(); err != nil {
			return 0, err
		}
	}
}

func (a *archiveReader) tar(source io.Reader) error {
	left := a.left + int64(a.entries)*4<<10 + 1<<20 // with headers and padding
	stream := bufio.NewReader(&meter{source, &left})
	if _, err := stream.Peek(tarBlock); err == io.EOF {
		return NotAnArchive // shorter than one block
	}
	err := a.tarEntries(tar.NewReader(stream))
	if _, intact := errors.AsType[Fault](err); intact || err == nil {
		// Only the rest shows whether it is damaged: a gzip file ends with its checksum, after any padding of the tar.
		_, damaged := io.Copy(io.Discard, stream)
		err = cmp.Or(damaged, err)
	}
	return err
}

func (a *archiveReader) tarEntries(r *tar.Reader) error {
	for {
		a.current = ""
		header, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return err
		case err != nil: // a header of another kind, unless the rest is damaged too
			return NotAnArchive
		}
		a.current = header.Name
		switch isFile := header.Typeflag == tar.TypeReg; {
		case header.Typeflag == tar.TypeDir, isFile && strings.HasSuffix(header.Name, "/"):
			err = a.add(nil) // GNU tar and BSD tar read both as directories
		case isFile:
			err = a.add(r)
		case header.Typeflag != tar.TypeXGlobalHeader: // which is not a file; git archive writes one
			err = SpecialFile
		}
		if err != nil {
			return err
		}
	}
}

func (a *archiveReader) zip(file *io.SectionReader) error {
	r, err := zip.NewReader(file, file.Size())
	if err != nil {
		return err
	}
	var fault error
	var refused string
	for _, f := range r.File { // to the end, because only the rest shows whether it is damaged
		a.current = zipName(f)
		err := a.zipEntry(f)
		if _, intact := errors.AsType[Fault](err); err != nil && !intact {
			return err
		}
		if fault == nil && err != nil {
			fault, refused, a.root = err, a.current, nil
		}
	}
	a.current = refused
	return fault
}

func (a *archiveReader) zipEntry(f *zip.File) error {
	switch mode := f.Mode(); {
	case mode.IsDir():
		return a.add(nil)
	case !mode.IsRegular():
		return SpecialFile
	}
	body, err := openZip(f)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return a.add(body)
}

// openZip opens an entry of a zip. It returns [Unsupported] if the entry is encrypted, or not stored or deflated.
func openZip(f *zip.File) (io.ReadCloser, error) {
	if f.Flags&1 != 0 { // APPNOTE 4.4.4
		return nil, Unsupported
	}
	f.Flags &^= 8 // not all tools that announce a data descriptor write it; the directory has the same values
	body, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, Unsupported
	}
	return body, err
}

// zipName returns the name of an entry. Extra fields have a little-endian ID and size (APPNOTE 4.5.1). That of a
// Unicode path (4.6.9) has the version 1, the CRC-32 of the name in the header, which may be in any code page, and
// the name in UTF-8.
func zipName(f *zip.File) string {
	for rest := f.Extra; len(rest) >= 4; {
		id, size := binary.LittleEndian.Uint16(rest), min(4+int(binary.LittleEndian.Uint16(rest[2:])), len(rest))
		field := rest[4:size]
		if id == 0x7075 && len(field) > 5 && field[0] == 1 &&
			binary.LittleEndian.Uint32(field[1:]) == crc32.ChecksumIEEE([]byte(f.Name)) {
			return string(field[5:])
		}
		rest = rest[size:]
	}
	return f.Name
}

// add adds the current entry, after its parents. A directory has no body. It refuses names that are not UTF-8, are
// absolute, have an element "..", a backslash, or a control character, are reserved by the system, or take too much
// memory. Those that the system refuses as too long are refused by enter.
func (a *archiveReader) add(body io.Reader) error {
	name := path.Clean(a.current)
	_, err := filepath.Localize(name)
	unsafe := func(r rune) bool { return r == '\\' || unicode.IsControl(r) }
	switch {
	case err != nil, len(name) > 1024, strings.ContainsFunc(name, unsafe),
		slices.Contains(strings.Split(a.current, "/"), ".."), name == "." && body != nil:
		return UnsafeName
	case name == ".":
		return nil
	}
	return a.enter(name, body)
}

// enter adds one slash-separated path to the tree. A path may be entered again with the same content, as after tar -r.
func (a *archiveReader) enter(name string, body io.Reader) error {
	if known, again := a.tree[name]; again {
		sum, err := a.write(nil, name, body)
		if err == nil && sum != known {
			return Duplicate
		}
		return err
	}
	if parent := path.Dir(name); parent != "." {
		if err := a.enter(parent, nil); err != nil {
			return err
		}
	}
	if len(a.tree) == a.entries {
		return TooMany
	}
	sum, err := a.write(a.root, name, body)
	switch {
	case errors.Is(err, fs.ErrExist):
		return Duplicate // the file system ignores case
	case errors.Is(err, syscall.ENAMETOOLONG):
		return UnsafeName
	}
	a.tree[name] = sum
	return err
}

// write writes a file or a directory below root, unless that is nil, and returns its checksum.
func (a *archiveReader) write(root *os.Root, name string, body io.Reader) (sum checksum, err error) {
	if body == nil {
		if root != nil {
			err = root.Mkdir(name, 0o755)
		}
		return ofDirectory, err
	}
	body = &meter{body, &a.left}
	if root == nil {
		return sumOf(body)
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return sum, err
	}
	sum, err = sumOf(io.TeeReader(body, file))
	return sum, errors.Join(err, file.Close()) // a network file system may report a full disk only now
}
