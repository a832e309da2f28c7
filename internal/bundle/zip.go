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
	switch mode := f.Mode(); {
	case mode.IsDir():
		return a.add(f.Name, entry{directory: true})
	case !mode.IsRegular():
		return &ArchiveError{f.Name, errKind}
	}
	body, err := f.Open()
	if err != nil {
		return &ArchiveError{f.Name, err}
	}
	defer func() { _ = body.Close() }()
	return a.add(f.Name, entry{body: body})
}
