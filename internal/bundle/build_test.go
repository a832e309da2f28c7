// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

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
		if e.body == "" {
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

// archiveOf writes data to a file and returns its path and that of a directory beside
// it that does not exist.
func archiveOf(t testing.TB, data []byte) (archive, site string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "archive"), string(data))
	return filepath.Join(dir, "archive"), filepath.Join(dir, "site")
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

// listing returns what is below dir: the content of files, the targets of links
// after "-> ", and nothing for directories.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		must(t, err)
		name = filepath.ToSlash(name)
		switch entry.Type() {
		case fs.ModeDir:
			found[name+"/"] = ""
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			must(t, err)
			found[name] = "-> " + target
		case 0:
			content, err := os.ReadFile(path)
			must(t, err)
			found[name] = string(content)
		default:
			found[name] = entry.Type().String()
		}
		return nil
	}))
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
