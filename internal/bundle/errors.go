// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"errors"
	"fmt"
	"syscall"
)

// refusal says why an intact archive is not unpacked. It has no subject.
type refusal struct {
	ofEntry bool // the subject is an entry, not the archive
	text    string
}

func (r *refusal) Error() string { return r.text }

var (
	errName     = &refusal{true, "has a name that is unsafe or too long"}
	errSystem   = &refusal{true, "has a name that the operating system does not allow"}
	errMethod   = &refusal{true, "uses an unsupported compression method"}
	errKind     = &refusal{true, "is neither a file nor a directory"}
	errConflict = &refusal{true, "has the same path as another entry"}

	errFormat   = &refusal{false, "is not a tar, gzip-compressed tar, or zip archive"}
	errEmpty    = &refusal{false, "contains no files"}
	errTooMany  = &refusal{false, "has more than 100,000 entries"}
	errTooLarge = &refusal{false, "unpacks to more than 4 GiB"}
	errListing  = &refusal{false, "has more than 100,000 entries, or 50 MB of names"}
)

// ArchiveError reports an archive that cannot be read or is not safe to unpack.
type ArchiveError struct {
	// Entry is the name of the invalid entry, exactly as in the archive: up to 1 MiB
	// of arbitrary bytes. It is empty if the archive as a whole is invalid.
	Entry string
	Err   error
	// Damaged means that the file is corrupt, not just unsupported.
	Damaged bool
}

// Error returns the reason, in words that can follow "because". It escapes the name of the
// entry, and shows at most 100 characters of it.
func (e *ArchiveError) Error() string {
	refused, intact := errors.AsType[*refusal](e.Err)
	switch {
	case intact && refused.ofEntry:
		return fmt.Sprintf("its entry %.100q %v", e.Entry, e.Err)
	case intact:
		return "it " + e.Err.Error()
	case e.Entry != "":
		return fmt.Sprintf("%v in the entry %.100q", e.Err, e.Entry)
	}
	return e.Err.Error()
}

func (e *ArchiveError) Unwrap() error { return e.Err }

// isSystemError reports whether the system caused the error, for example because the
// disk is full, and not the archive.
func isSystemError(err error) bool {
	_, found := errors.AsType[syscall.Errno](err)
	return found
}
