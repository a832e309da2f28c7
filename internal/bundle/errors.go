// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"errors"
	"fmt"
)

// ChecksumError reports a bundle whose SHA-256 checksum is not the expected one. Both are
// in lowercase hexadecimal.
type ChecksumError struct{ Want, Got string }

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("the bundle's SHA-256 checksum is %s, not %s", e.Got, e.Want)
}

// ContentError reports a bundle whose content digest is not the expected one.
type ContentError struct{ Want, Got string }

func (e *ContentError) Error() string {
	return fmt.Sprintf("the digest of the bundle's content is %s, not %s", e.Got, e.Want)
}

// SizeError reports a bundle that does not have the announced number of bytes.
type SizeError struct{ Want, Got int64 }

func (e *SizeError) Error() string {
	return fmt.Sprintf("the bundle has %d bytes, but the service announced %d", e.Got, e.Want)
}

// OccupiedError reports a target that is already in use or cannot be replaced.
type OccupiedError struct {
	Name      string
	Directory bool   // Name is the directory to unpack into, not the file
	Claimed   bool   // another resource of the same run writes Name
	Problem   string // what is wrong with Name, such as "already exists"
}

func (e *OccupiedError) Error() string { return e.Name + " " + e.Problem }

// ArchiveError reports an archive that cannot be read or is not safe to unpack.
type ArchiveError struct {
	// Entry is the name of the invalid entry, exactly as in the archive: up to 1 MiB
	// of arbitrary bytes. It is empty if the archive as a whole is invalid.
	Entry string
	Err   error
}

// Error escapes the name of the entry and shows at most 100 characters of it.
func (e *ArchiveError) Error() string {
	if e.Entry == "" {
		return "archive: " + e.Err.Error()
	}
	return fmt.Sprintf("archive entry %.100q: %v", e.Entry, e.Err)
}

func (e *ArchiveError) Unwrap() error { return e.Err }

// Causes of an ArchiveError, besides the errors of decoders.
var (
	errFormat   = errors.New("it is not a tar, gzip-compressed tar or zip archive")
	errEmpty    = errors.New("it holds no files")
	errName     = errors.New("unsafe name")
	errLink     = errors.New("unsafe link")
	errKind     = errors.New("not a file, a directory or a link")
	errConflict = errors.New("two entries for one path")
	errTooMany  = errors.New("more than 100,000 entries")
	errTooLarge = errors.New("more than 4 GiB when unpacked")
)

// errIrregular reports something on disk that is never opened as a file: a directory, a
// link, a pipe, a socket, or a device.
var errIrregular = errors.New("not a regular file")
