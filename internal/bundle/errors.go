// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import "fmt"

// OccupiedError reports something at a target that the resource did not write.
type OccupiedError struct {
	Name      string
	Directory bool   // Name is the directory to unpack into, not the file
	Problem   string // what is there, such as "is a symbolic link"
}

func (e *OccupiedError) Error() string { return e.Name + " " + e.Problem }

// LostError reports what could not be put back after a failure. It is at Now.
type LostError struct {
	Name, Now string
	Err       error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("what was at %s is now at %s: %v", e.Name, e.Now, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

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

// refusal says why an intact file is not unpacked.
type refusal string

func (r refusal) Error() string { return string(r) }

const (
	errFormat   refusal = "not a tar, gzip-compressed tar, or zip archive"
	errEmpty    refusal = "it contains no files"
	errName     refusal = "unsafe name"
	errSystem   refusal = "the operating system does not allow this name"
	errMethod   refusal = "unsupported compression method"
	errKind     refusal = "only files and directories are supported, not links or devices"
	errConflict refusal = "two entries for one path"
	errTooMany  refusal = "more than 100,000 entries"
	errTooLarge refusal = "more than 4 GiB unpacked"
)
