// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"net/url"
	"testing"
	"time"
)

func TestFieldIsReadFromAnyType(t *testing.T) {
	readers := map[string]func(*record) any{
		"text":    func(r *record) any { return r.text("x") },
		"texts":   func(r *record) any { return r.texts("x") },
		"number":  func(r *record) any { return r.number("x") },
		"count":   func(r *record) any { return r.count("x") },
		"instant": func(r *record) any { return r.instant("x") },
	}
	const noon = `"2026-03-01T12:00:00Z"`
	for _, test := range []struct {
		reader, raw, want string // want is empty if the field is ignored with a warning
	}{
		{"text", `"a"`, `"a"`},
		{"text", `12345678901234567890`, `"12345678901234567890"`},
		{"text", `true`, `"true"`},
		{"text", `null`, `null`},
		{"text", `{}`, ``},
		{"texts", `["a",1,true]`, `["a","1","true"]`},
		{"texts", `"a"`, ``},
		{"texts", `{"a":1}`, ``},
		{"number", `1.5`, `1.5`},
		{"number", `" 1.5 "`, `1.5`},
		{"number", `"1.5 %"`, `1.5`},
		{"number", `"half"`, ``},
		{"number", `"NaN"`, ``},
		{"number", `1e999`, ``},
		{"count", `-7`, ``},
		{"count", `" 7 "`, `7`},
		{"count", `7.0`, `7`},
		{"count", `7e3`, `7000`},
		{"count", `9007199254740993`, `9007199254740993`},
		{"count", `9.007199254740992e15`, `9007199254740992`},
		{"count", `1.8014398509481985e17`, ``},
		{"count", `9223372036854775808`, ``},
		{"count", `7.5`, ``},
		{"count", `0`, `0`},
		{"count", `"0 %"`, `0`},
		{"count", `-1e3`, ``},
		{"instant", noon, noon},
		{"instant", `1772366400`, noon},
		{"instant", `"soon"`, ``},
	} {
		ignored := false
		r := &record{fields: map[string]any{"x": decode(t, test.raw)}, ignored: func(string) { ignored = true }}
		got := show(readers[test.reader](r))
		if ignored != (test.want == "") || test.want != "" && got != test.want || ignored && got != "null" {
			t.Errorf("%s of %s is %s, ignored %t; want %q", test.reader, test.raw, got, ignored, test.want)
		}
	}
}

func TestInstantIsReadInEveryForm(t *testing.T) {
	for _, test := range []struct{ text, want string }{ // want is empty if it cannot be read
		{"2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"},
		{"2026-03-01T12:00:00.000000001Z", "2026-03-01T12:00:00.000000001Z"},
		{"2026-03-01t12:00:00z", "2026-03-01T12:00:00Z"},
		{"2026-03-01T13:30:00.5+01:30", "2026-03-01T12:00:00.5Z"},
		{"2026-03-01T10:00:00-0200", "2026-03-01T12:00:00Z"},
		{"2026-03-01 12:00:00", "2026-03-01T12:00:00Z"},
		{"2026-03-01 13:00:00+01:00", "2026-03-01T12:00:00Z"},
		{"2026-03-01T12:00Z", ""},
		{" 2026-03-01T12:00:00Z\n", "2026-03-01T12:00:00Z"},
		{"Sun, 01 Mar 2026 12:00:00 GMT", "2026-03-01T12:00:00Z"},
		{"1772366400", "2026-03-01T12:00:00Z"},
		{"1772366400250", "2026-03-01T12:00:00.25Z"},
		{"946684800000", "2000-01-01T00:00:00Z"},
		{"2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z"},
		{"2199-12-31T23:59:59Z", "2199-12-31T23:59:59Z"},
		{"1999-12-31T23:59:59Z", ""},
		{"2200-01-01T00:00:00Z", ""},
		{"3600", ""},
		{"1772366400000000000", ""},
		{"NaN", ""},
		{"2026-03-01", ""},
		{"2026-02-30T12:00:00Z", ""},
	} {
		got, ok := parseInstant(test.text)
		if ok != (test.want != "") || ok && got.Format(time.RFC3339Nano) != test.want {
			t.Errorf("%q is %s, %t; want %s", test.text, got, ok, test.want)
		}
	}
}

func TestExpiryIsReadFromThePresignedLink(t *testing.T) {
	for query, readable := range map[string]bool{
		"X-Amz-Algorithm=a&X-Amz-Date=20260301T115000Z&X-Amz-Expires=600&X-Amz-Signature=b": true,
		"X-Goog-Date=20260301T115000Z&X-Goog-Expires=600":                                   true,
		"X-Amz-Expires=600":                                    false,
		"X-Amz-Date=20260301T115000Z":                          false,
		"X-Amz-Date=20260301T115000Z&X-Amz-Expires=soon":       false,
		"X-Amz-Date=20260301T115000Z&X-Amz-Expires=9999999999": false,
		"X-Amz-Date=00010301T115000Z&X-Amz-Expires=600":        false,
		"X-Amz-Date=20260301T115000Z&X-Goog-Expires=600":       false,
		"": false,
	} {
		got, ok := linkExpiry(&url.URL{RawQuery: query})
		if ok != readable || ok && !got.Equal(time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %s, %t; want %t", query, got, ok, readable)
		}
	}
}
