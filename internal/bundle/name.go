// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// cleanName returns the slash-separated path of an entry, relative to the root of
// the archive, which is ".". On every system, it refuses names that lead out of the
// archive, and backslashes, which separate directories on Windows only.
func cleanName(raw string) (string, error) {
	name := path.Clean(raw)
	if raw == "" || !fs.ValidPath(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
		return "", errName
	}
	_, err := filepath.Localize(name)
	if err != nil || runtime.GOOS == "windows" && slices.ContainsFunc(strings.Split(name, "/"), changedByWindows) {
		return "", errSystem
	}
	return name, nil
}

// changedByWindows reports whether Windows refuses or changes a name that Localize
// accepts.
func changedByWindows(element string) bool {
	return strings.ContainsAny(element, `<>"|?*`) || element != "." && strings.TrimRight(element, ". ") != element
}
