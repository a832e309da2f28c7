package client

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// Each kind of field is read from one response.
func TestFieldIsReadFromAnyType(t *testing.T) {
	const noon = `"2026-03-01T12:00:00Z"`
	for _, test := range []struct {
		field, raw, want string // want is empty if the field is ignored with a warning
	}{
		{"logs", `["a",1,true]`, `["a","1","true"]`}, {"logs", `"a"`, ``}, {"progress", `"1.5 %"`, `1.5`}, {"progress", `"half"`, ``},
		{"progress", `"NaN"`, ``}, {"progress", `"Inf"`, ``}, {"progress", `{}`, ``}, {"pageCount", `-7`, ``}, {"pageCount", `" 7 "`, `7`},
		{"pageCount", `7e3`, `7000`}, {"pageCount", `9007199254740993`, `9007199254740993`},
		{"pageCount", `9.007199254740992e15`, `9007199254740992`}, {"pageCount", `1.8014398509481985e17`, ``}, {"pageCount", `7.5`, ``},
		{"pageCount", `"many"`, ``}, {"pageCount", `0`, `0`}, {"pageCount", `"12 %"`, ``}, {"pageCount", `true`, ``}, {"pageCount", `-1e3`, ``},
		{"createdAt", `1772366400`, noon}, {"createdAt", `"soon"`, ``},
	} {
		call, want := "job", `{"ID":"se_1","Status":"x"`
		if test.field == "logs" {
			call, want = "update", `{"Status":"x"`
		}
		if test.want != "" {
			want += `,"` + strings.ToUpper(test.field[:1]) + test.field[1:] + `":` + test.want
		}
		log := &logbook{}
		got, err := calls[call](bounded(t, time.Hour), receiving(t, `{"status":"x","`+test.field+`":`+test.raw+`}`, log))
		if err != nil || show(got) != want+"}" || (len(log.above()) > 0) != (test.want == "") {
			t.Errorf("%s of %s: got %s, %v, logged %q; want %s}", test.field, test.raw, show(got), err, log.above(), want)
		}
	}
}

func TestInstantIsReadInEveryForm(t *testing.T) {
	for _, test := range []struct{ text, want string }{ // want is empty if it cannot be read
		{"2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"}, {"2026-03-01t12:00:00z", "2026-03-01T12:00:00Z"},
		{"2026-03-01T13:30:00.5+01:30", "2026-03-01T12:00:00.5Z"}, {"2026-03-01T10:00:00-0200", "2026-03-01T12:00:00Z"},
		{"2026-03-01 12:00:00", "2026-03-01T12:00:00Z"},
		{"2026-03-01 12:00:00+00", "2026-03-01T12:00:00Z"},            // PostgreSQL
		{"2026-03-01 17:30:00.125+05:30", "2026-03-01T12:00:00.125Z"}, // PostgreSQL
		{"2026-03-01T12:00Z[UTC]", "2026-03-01T12:00:00Z"},            // Java
		{"2026-03-01T13:00:00.5+01:00[Europe/Paris]", "2026-03-01T12:00:00.5Z"}, {"2026-03-01T12:00", "2026-03-01T12:00:00Z"},
		{"2026-03-01 12:00:00.123 +0000 UTC", "2026-03-01T12:00:00.123Z"}, // Go
		{"2026-03-01 13:00:00 +0100 CET m=+0.1", "2026-03-01T12:00:00Z"},  // Go
		{"2026-03-01 12:00:00 UTC", "2026-03-01T12:00:00Z"},               // Ruby
		{"2026-03-01", "2026-03-01T00:00:00Z"}, {"2026-03-01 12:00:00 CET", ""}, {" 2026-03-01T12:00:00Z\n", "2026-03-01T12:00:00Z"},
		{"Sun, 01 Mar 2026 12:00:00 GMT", "2026-03-01T12:00:00Z"}, {"1772366400", "2026-03-01T12:00:00Z"},
		{"1772366400250", "2026-03-01T12:00:00.25Z"}, {"946684800000", "2000-01-01T00:00:00Z"}, {"1999-12-31T23:59:59Z", ""},
		{"2200-01-01T00:00:00Z", ""}, {"3600", ""}, {"1772366400000000000", ""}, {"NaN", ""}, {"2026-02-30T12:00:00Z", ""},
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
		"Expires=1772366400&Signature=a%2Fb&Key-Pair-Id=c":                                  true, // CloudFront, S3, and GCS
		"sv=2024-11-04&se=2026-03-01T12%3A00%3A00Z&sr=b&sig=c":                              true, // Azure
		"se=2026-03-01T12:00Z&sig=c":                                                        true,
		"Expires=600":                                                                       false,
		"X-Amz-Date=20260301T115000Z&X-Amz-Expires=9999999999":                              false,
		"X-Amz-Date=00010301T115000Z&X-Amz-Expires=600":                                     false,
		"X-Amz-Date=20260301T115000Z&X-Goog-Expires=600":                                    false,
	} {
		got := linkExpiry(&url.URL{RawQuery: query})
		if got.IsZero() == readable || readable && !got.Equal(time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %s, want one: %t", query, got, readable)
		}
	}
}
