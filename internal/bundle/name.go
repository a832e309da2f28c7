// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of common file systems. They apply on every system, so that an archive
// unpacks on all of them or on none.
const (
	maxName    = 1024
	maxElement = 255
)

// cleanName returns the slash-separated path of an entry, relative to the root of
// the archive, which is ".". The rules are the same on every system: a Windows
// path is refused on Linux too.
func cleanName(raw string) (string, error) {
	elements := strings.Split(raw, "/")
	if !isPlain(raw) || slices.Contains(elements, "..") ||
		slices.ContainsFunc(elements, func(e string) bool { return len(e) > maxElement }) {
		return "", errName
	}
	name := path.Clean(raw)
	if _, err := filepath.Localize(name); err != nil {
		return "", errName // a name that this system reserves
	}
	return name, nil
}

// staysInside reports whether the target of the symbolic link name stays inside the
// archive, judged by its text alone. Only the unpacked tree shows whether it leads out
// through other links.
func staysInside(name, target string) bool {
	return isPlain(target) && filepath.IsLocal(path.Join(path.Dir(name), target))
}

// isPlain reports whether raw is a relative, slash-separated path without
// anything that a system or a terminal might interpret.
func isPlain(raw string) bool {
	hasDrive := len(raw) > 1 && raw[1] == ':' && unicode.IsLetter(rune(raw[0]))
	return raw != "" && raw[0] != '/' && !hasDrive && len(raw) <= maxName && utf8.ValidString(raw) &&
		!strings.Contains(raw, `\`) && !strings.ContainsFunc(raw, unicode.IsControl)
}
