package bundle

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// The limits of what an archive may unpack to, and of what is read of a directory.
const (
	MaxEntries = 100_000 // files and directories, including parents without an entry
	MaxBytes   = 4 << 30 // total size of all files, as read and not as declared
)

// limits are in force. Tests lower them.
var limits = struct {
	entries int
	bytes   int64
}{MaxEntries, MaxBytes}

// Fault is the reason why an archive cannot be unpacked.
type Fault string

// Faults of an archive as a whole, and from NotUTF8 on, of an entry.
const (
	Damaged      Fault = "damaged archive"
	Incomplete   Fault = "no end marker" // of a tar that may have been cut off between two entries
	NotAnArchive Fault = "not an archive"
	Empty        Fault = "no files"
	TooMany      Fault = "too many entries"
	TooLarge     Fault = "too large"
	NotUTF8      Fault = "name not in UTF-8"
	UnsafeName   Fault = "unsafe name"    // see archiveReader.add
	LongName     Fault = "long name"      // more than 1024 bytes, or 255 between slashes
	Duplicate    Fault = "duplicate path" // of another content or in another case, or inside a file
	SymbolicLink Fault = "symbolic link"
	HardLink     Fault = "hard link"
	SpecialFile  Fault = "special file"
	Encrypted    Fault = "encrypted"
	Compression  Fault = "unsupported compression method"
)

func (f Fault) Error() string { return string(f) }

// ArchiveError reports an archive that cannot be read or is not safe to unpack.
type ArchiveError struct {
	Fault Fault
	Entry string // by its name in the archive: up to 1 MiB of any bytes; "" if the archive as a whole is at fault
	Err   error  // Fault, or if the archive is damaged, what is wrong with its bytes
}

func (e *ArchiveError) Error() string { return fmt.Sprintf("entry %.100q: %v", e.Entry, e.Err) }
func (e *ArchiveError) Unwrap() error { return e.Err }

// isSystemError reports whether the system, not the archive, caused the error, for example because the disk is full.
func isSystemError(err error) bool {
	_, found := errors.AsType[syscall.Errno](err)
	return found
}

// readArchive reads an archive to its end, unpacks it into root unless that is nil, and returns its content. Files
// get mode 0644 and directories 0755, less the umask. Unless the file is known to be complete, a tar must have its end
// marker. Errors are *ArchiveError, those of the system, and context.Cause(ctx). After an error, root may hold a part
// of the archive.
func readArchive(
	ctx context.Context, file *io.SectionReader, complete bool, root *os.Root,
) (content Content, err error) {
	a := &archiveReader{ctx: ctx, complete: complete, root: root, tree: tree{}, left: limits.bytes}
	err = a.read(file)
	if content = a.tree.content(); err == nil && content.Files == 0 {
		err = Empty
	}
	fault, intact := errors.AsType[Fault](err)
	switch {
	case ctx.Err() != nil:
		return Content{}, context.Cause(ctx)
	case err == nil || isSystemError(err):
		return content, err
	case !intact:
		fault = Damaged
	case slices.Contains([]Fault{Incomplete, NotAnArchive, Empty, TooMany, TooLarge}, fault):
		a.current = ""
	}
	return Content{}, &ArchiveError{fault, a.current, err}
}

// archiveReader is one pass over an archive.
type archiveReader struct {
	ctx      context.Context
	complete bool
	root     *os.Root // where it is unpacked to; nil if it is only read
	current  string   // name of the entry that is read, as in the archive; "" between entries
	tree     tree     // every path named or implied so far
	left     int64    // bytes that files may still unpack to
}

func (a *archiveReader) read(file *io.SectionReader) error {
	source := bufio.NewReader(&meter{a.ctx, file, new(int64(math.MaxInt64))})
	magic, err := source.Peek(4)
	// The last of these is the marker of a split zip, which also one of a single part has.
	zips := []string{"PK\x03\x04", "PK\x05\x06", "PK\x07\x08"}
	switch begin := string(magic); {
	case err != nil && err != io.EOF:
		return err
	case slices.Contains(zips, begin):
		return a.zip(file)
	case strings.HasPrefix(begin, "\x1f\x8b"):
		unzipped := &gzipReader{source: source}
		if err := unzipped.nextMember(); err != nil {
			return err
		}
		return a.tar(unzipped)
	}
	fault := a.tar(source)
	switch {
	case errors.Is(fault, NotAnArchive):
		// A zip is found from its end. Anything may precede it, such as a program that unpacks it.
		if _, other := zip.NewReader(file, file.Size()); other == nil {
			return a.zip(file)
		}
	case !a.complete && !isSystemError(fault) && !endsInZeros(file):
		return Incomplete
	}
	return fault
}

// endsInZeros reports whether a file ends with the end marker of a tar: two blocks of zeros.
func endsInZeros(file *io.SectionReader) bool {
	var end, zeros [2 * tarBlock]byte
	n, _ := file.ReadAt(end[:], file.Size()-int64(len(end)))
	return n == len(end) && end == zeros
}

// gzipReader reads the members of a gzip file (RFC 1952, section 2.2), and drops zeros after one: BSD tar pads what
// it writes to a pipe.
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
		next, err := r.source.ReadByte()
		for err == nil && next == 0 {
			next, err = r.source.ReadByte()
		}
		if err == nil {
			err = errors.Join(r.source.UnreadByte(), r.nextMember())
		}
		if err != nil {
			return 0, err
		}
	}
}

const (
	tarBlock = 512

	// Types of entries that GNU tar writes (GNU tar manual, "Basic Tar Format").
	gnuDumpDirectory = 'D' // of an incremental dump; the body lists the names in the directory
	gnuVolumeLabel   = 'V'
)

func (a *archiveReader) tar(source io.Reader) error {
	left := limits.bytes + int64(limits.entries)*4<<10 + 1<<20 // with headers and padding
	stream := bufio.NewReader(&meter{a.ctx, source, &left})
	if _, err := stream.Peek(tarBlock); err == io.EOF {
		return NotAnArchive // shorter than one block
	}
	r := tar.NewReader(stream)
	for {
		a.current = ""
		header, err := r.Next()
		switch {
		case err == io.EOF:
			_, err := io.Copy(io.Discard, stream) // a gzip file ends with its checksum, after any padding of the tar
			return err
		case errors.Is(err, tar.ErrHeader) && len(a.tree) == 0:
			_, err := io.Copy(io.Discard, stream) // to the checksum of a gzip file
			return cmp.Or(err, error(NotAnArchive))
		case err != nil:
			return err
		}
		a.current = header.Name
		var body io.Reader = r
		switch header.Typeflag {
		case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
			if strings.HasSuffix(header.Name, "/") {
				body = nil // a directory, as GNU tar and BSD tar read it
			} else if header.Size > a.left {
				return TooLarge // before a sparse file fills the disk
			}
		case tar.TypeDir, gnuDumpDirectory:
			body = nil
		case tar.TypeXGlobalHeader, gnuVolumeLabel:
			continue // not files; git archive writes the first
		case tar.TypeSymlink:
			return SymbolicLink
		case tar.TypeLink:
			return HardLink
		default:
			return SpecialFile
		}
		if err := a.add(body); err != nil {
			return err
		}
	}
}

func (a *archiveReader) zip(file *io.SectionReader) error {
	r, err := zip.NewReader(file, file.Size())
	if err != nil {
		return err
	}
	for _, f := range r.File {
		a.current = zipName(f)
		if err := a.zipEntry(f); err != nil {
			return err
		}
	}
	return nil
}

func (a *archiveReader) zipEntry(f *zip.File) error {
	switch mode := f.Mode(); {
	case f.Flags&1 != 0: // APPNOTE 4.4.4
		return Encrypted
	case mode.IsDir():
		return a.add(nil)
	case mode.Type() == fs.ModeSymlink:
		return SymbolicLink
	case !mode.IsRegular():
		return SpecialFile
	}
	body, err := f.Open()
	switch {
	case errors.Is(err, zip.ErrAlgorithm):
		return Compression
	case err != nil:
		return err
	}
	defer func() { _ = body.Close() }()
	return a.add(body)
}

// zipName returns the name of an entry. Extra fields have a little-endian ID and size (APPNOTE 4.5.1). That of a
// Unicode path (4.6.9) has the version 1, the CRC-32 of the name in the header, which may be in any code page, and
// the name in UTF-8.
func zipName(f *zip.File) string {
	for rest := f.Extra; len(rest) >= 4; {
		id, size := binary.LittleEndian.Uint16(rest), 4+int(binary.LittleEndian.Uint16(rest[2:]))
		field := rest[4:min(size, len(rest))]
		if id == 0x7075 && len(field) > 5 && field[0] == 1 {
			if binary.LittleEndian.Uint32(field[1:]) == crc32.ChecksumIEEE([]byte(f.Name)) {
				return string(field[5:])
			}
		}
		rest = rest[min(size, len(rest)):]
	}
	return f.Name
}

// add adds the current entry, after its parents. A directory has no body. It refuses names that are absolute, have an
// element "..", a backslash, or a control character, are reserved by the system, or are too long for common file
// systems.
func (a *archiveReader) add(body io.Reader) error {
	name := path.Clean(a.current)
	_, err := filepath.Localize(name)
	long := func(element string) bool { return len(element) > 255 }
	unsafe := func(r rune) bool { return r == '\\' || unicode.IsControl(r) }
	switch {
	case !utf8.ValidString(name):
		return NotUTF8
	case len(name) > 1024, slices.ContainsFunc(strings.Split(name, "/"), long):
		return LongName
	case err != nil, slices.Contains(strings.Split(a.current, "/"), ".."),
		name == "." && body != nil, strings.ContainsFunc(name, unsafe):
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
	if len(a.tree) == limits.entries {
		return TooMany
	}
	sum, err := a.write(a.root, name, body)
	if errors.Is(err, fs.ErrExist) {
		return Duplicate // the file system ignores case
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
	body = &meter{a.ctx, body, &a.left}
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

// sumOf reads source to its end.
func sumOf(source io.Reader) (checksum, error) {
	hash := sha256.New()
	_, err := io.Copy(hash, source)
	return checksum(hash.Sum(nil)), err
}

// meter reads from source. It fails when ctx has ended, or when more than *left bytes have been read.
type meter struct {
	ctx    context.Context
	source io.Reader
	left   *int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.ctx.Err() != nil {
		return 0, context.Cause(m.ctx)
	}
	n, err := m.source.Read(p)
	if *m.left -= int64(n); *m.left < 0 {
		return 0, TooLarge
	}
	return n, err
}
