// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shape describes the types of JSON values without the values.
func shape(values ...any) string {
	types := map[string]bool{}
	fields, objects := map[string][]any{}, 0
	for _, value := range values {
		switch value := value.(type) {
		case nil:
			types["null"] = true
		case bool:
			types["boolean"] = true
		case string:
			types["string"] = true
		case json.Number:
			types["number"] = true
		case []any:
			types["["+shape(value...)+"]"] = true
		case map[string]any:
			objects++
			for name, item := range value {
				fields[fieldName(name)] = append(fields[fieldName(name)], item)
			}
		}
	}
	if objects > 0 {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			optional := ""
			if len(fields[name]) < objects {
				optional = "?"
			}
			parts = append(parts, name+optional+": "+shape(fields[name]...))
		}
		types["{"+strings.Join(parts, ", ")+"}"] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(types)), " or ")
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z_-]*[0-9]{0,3}[A-Za-z_-]{0,20}$`)

// fieldName returns the name of a field or header, or a placeholder if it looks like a
// value: an object can be keyed by IDs or hosts.
func fieldName(name string) string {
	if plainName.MatchString(name) && len(name) <= 40 {
		return name
	}
	return "NAME"
}

// fieldNames adds the paths of all fields in a value.
func fieldNames(names map[string]bool, prefix string, value any) {
	object, _ := value.(map[string]any)
	for name, item := range object {
		names[prefix+name] = true
		fieldNames(names, prefix+name+".", item)
	}
}

var (
	letter   = regexp.MustCompile(`\pL`)
	digit    = regexp.MustCompile(`\pN`)
	fraction = regexp.MustCompile(`\.[0-9]+`)
)

// timeFormat describes the format of a timestamp.
func timeFormat(value any) string {
	kind, text := shape(value), fmt.Sprint(value)
	if kind != "string" && kind != "number" {
		return kind
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		if number < 1e11 {
			return kind + " of seconds since 1970"
		}
		return kind + " of milliseconds since 1970"
	}
	if _, err := http.ParseTime(text); err == nil {
		return "HTTP date"
	}
	digits := ""
	if found := fraction.FindString(text); found != "" {
		digits = fmt.Sprintf(", %d decimals", len(found)-1)
	}
	if _, err := time.Parse(time.RFC3339, text); err == nil && strings.HasSuffix(text, "Z") {
		return "RFC 3339 in UTC" + digits
	} else if err == nil {
		return "RFC 3339 with an offset" + digits
	}
	if _, err := time.Parse("2006-01-02T15:04:05", strings.Replace(text, " ", "T", 1)); err == nil {
		return "date and time without an offset" + digits
	}
	mask := []rune(letter.ReplaceAllString(digit.ReplaceAllString(text, "9"), "a"))
	return "other: `" + string(mask[:min(len(mask), 40)]) + "`"
}

// distinct joins what describe says of each value, without repetition.
func distinct(values []any, describe func(any) string) string {
	var said []string
	for _, value := range values {
		if text := describe(value); !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	return cmp.Or(strings.Join(said, " or "), "never present")
}

// archiveOf describes a bundle on disk and the names of what was unpacked from it.
func archiveOf(file, directory string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	format := "tar"
	if bytes := string(content); strings.HasPrefix(bytes, "PK") {
		format = "zip"
	} else if strings.HasPrefix(bytes, "\x1f\x8b") {
		format = "gzip-compressed tar"
	}
	files, pages, other := 0, 0, 0
	_ = filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		if strings.HasSuffix(path, ".html") {
			pages++
		}
		if strings.ContainsFunc(path[len(directory):], func(c rune) bool { return c > 127 }) {
			other++
		}
		return nil
	})
	top, _ := os.ReadDir(directory)
	_, err = os.Stat(filepath.Join(directory, "index.html"))
	return fmt.Sprintf("%s of %d bytes; files: %d; `.html` pages: %d; names at the top: %d, `index.html` among them: %t; names outside ASCII: %d",
		format, len(content), files, pages, len(top), err == nil, other)
}
