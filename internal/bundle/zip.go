// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/zip"
	"os"
)

func (a *archive) zip(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r, err := zip.NewReader(file, info.Size())
	if err != nil {
		return err
	}
	for _, f := range r.File {
		if err := a.zipEntry(f); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) zipEntry(f *zip.File) error {
	mode := f.Mode()
	e := entry{directory: mode.IsDir(), executable: mode&0o111 != 0}
	switch {
	case e.directory:
		return a.add(f.Name, e)
	case !mode.IsRegular():
		return &ArchiveError{f.Name, errKind}
	}
	body, err := f.Open()
	if err != nil {
		return &ArchiveError{f.Name, err}
	}
	defer func() { _ = body.Close() }()
	e.body = body
	return a.add(f.Name, e)
}
