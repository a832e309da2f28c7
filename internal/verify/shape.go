// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package verify

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"
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

// plain shows a value that matches a pattern, and masks any other.
func plain(value any, pattern string) string {
	if text := fmt.Sprint(value); regexp.MustCompile(pattern).MatchString(text) {
		return "`" + text + "`"
	}
	return mask(value)
}

// mask shows the format of a value: each digit is 9, and each letter is a, except for the
// T and the Z of a timestamp.
func mask(value any) string {
	masked := []rune(strings.Map(func(c rune) rune {
		switch {
		case unicode.IsNumber(c):
			return '9'
		case strings.ContainsRune("TZ :.,;=+-_", c):
			return c
		}
		return 'a'
	}, fmt.Sprint(value)))
	return "`" + string(masked[:min(len(masked), 40)]) + "`"
}

// missing returns the fields of a schema that have no value, or null, in all of the values.
func missing(prefix string, schema *openapi3.Schema, values []any) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		var found []any
		for _, value := range values {
			if object, isObject := value.(map[string]any); isObject && object[name] != nil {
				found = append(found, object[name])
			}
		}
		if len(found) > 0 {
			names = append(names, missing(prefix+name+".", schema.Properties[name].Value, found)...)
		} else {
			names = append(names, prefix+name)
		}
	}
	return names
}

// archiveOf describes a bundle on disk and the names of what was unpacked from it.
func archiveOf(file, directory string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	var names []string
	_ = fs.WalkDir(os.DirFS(directory), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	list := strings.Join(names, "\n") + "\n"
	return fmt.Sprintf("%s of %d bytes; files: %d; `.html` pages: %d; `index.html` at the top: %t; names outside ASCII: %t",
		http.DetectContentType(content), len(content), len(names), strings.Count(list, ".html\n"), slices.Contains(names, "index.html"),
		strings.ContainsFunc(list, func(c rune) bool { return c > unicode.MaxASCII }))
}
