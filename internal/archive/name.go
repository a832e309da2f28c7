// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of common file systems, applied everywhere, so that an archive unpacks on every system or on none.
const (
	maxName    = 1024
	maxElement = 255
)

// cleanName returns the slash-separated path, relative to the target, that an entry's name stands for: "." for the
// target itself. The rules are the same on every system, so that a Windows path is refused on Linux too.
func cleanName(raw string) (string, error) {
	if flaw := pathFlaw(raw); flaw != "" {
		return "", fmt.Errorf("%w: %s", ErrName, flaw)
	}
	elements := strings.Split(raw, "/")
	if slices.Contains(elements, "..") {
		return "", fmt.Errorf("%w: it has a \"..\" element", ErrName)
	}
	if slices.ContainsFunc(elements, func(e string) bool { return len(e) > maxElement }) {
		return "", fmt.Errorf("%w: an element is longer than %d bytes", ErrName, maxElement)
	}
	name := path.Clean(raw)
	if _, err := filepath.Localize(name); err != nil {
		return "", fmt.Errorf("%w: no file can be called that on this system", ErrName)
	}
	return name, nil
}

// checkSymlink fails where target, as a symbolic link called name has it, leads out by its text alone. That it does
// not by way of other links is for the unpacked tree to show.
func checkSymlink(name, target string) error {
	if flaw := pathFlaw(target); flaw != "" {
		return fmt.Errorf("%w: its target is unsafe: %s", ErrLink, flaw)
	}
	if !filepath.IsLocal(path.Join(path.Dir(name), target)) {
		return fmt.Errorf("%w: its target is outside the archive", ErrLink)
	}
	return nil
}

// pathFlaw says what keeps raw from being a relative, slash-separated path; empty if nothing does.
func pathFlaw(raw string) string {
	switch {
	case raw == "":
		return "it is empty"
	case len(raw) > maxName:
		return fmt.Sprintf("it is longer than %d bytes", maxName)
	case !utf8.ValidString(raw):
		return "it is not UTF-8"
	case strings.ContainsFunc(raw, unicode.IsControl):
		return "it has a control character"
	case strings.Contains(raw, `\`):
		return "it has a backslash"
	case raw[0] == '/':
		return "it is absolute"
	case len(raw) > 1 && raw[1] == ':' && unicode.IsLetter(rune(raw[0])):
		return "it has a drive letter"
	}
	return ""
}
