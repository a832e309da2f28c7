package bundle

import (
	"errors"
	"syscall"
)

// The limits of what an archive may unpack to, and of what is read of a directory.
const (
	maxEntries = 100_000 // files and directories, including parents without an entry
	maxBytes   = 4 << 30 // total size of all files, as read and not as declared
)

// Fault is the reason why an archive cannot be unpacked.
type Fault string

// Faults of an archive as a whole, and from UnsafeName on, of an entry.
const (
	Damaged      Fault = "damaged archive" // or one that was cut off
	NotAnArchive Fault = "not an archive"  // that can be read
	Empty        Fault = "no files"
	TooMany      Fault = "too many entries"
	TooLarge     Fault = "too large"
	UnsafeName   Fault = "unsafe name"             // see archiveReader.add
	Duplicate    Fault = "duplicate path"          // of another content or in another case, or inside a file
	SpecialFile  Fault = "special file"            // a link, a device, or anything else
	Unsupported  Fault = "unsupported compression" // or encryption
)

func (f Fault) Error() string { return string(f) }

// ArchiveError reports an archive that cannot be read or is not safe to unpack.
type ArchiveError struct {
	Fault
	Entry string // by its name in the archive: up to 1 MiB of any bytes; "" if the archive as a whole is at fault
	Err   error  // what is wrong with the bytes of a damaged archive; otherwise, the fault
}

// Unwrap returns the fault, unless the archive is damaged.
func (e *ArchiveError) Unwrap() error { return e.Err }

// isSystemError reports whether the system, not the archive, caused the error, for example because the disk is full.
func isSystemError(err error) bool {
	_, found := errors.AsType[syscall.Errno](err)
	return found
}
