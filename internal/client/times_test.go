package client

import (
	"net/http"
	"net/url"
	"testing"
	"time"
)

func TestInstantIsReadInEveryForm(t *testing.T) {
	for want, texts := range map[string][]string{ // the key is empty for what cannot be read
		"": {
			"1999-12-31T23:59:59Z", "2200-01-01T00:00:00Z", "3600", "1772366400000000000", "NaN", "2026-02-30T12:00:00Z",
			"2026-03-01 12:00:00 CET", "Sun, 01 Mar 2026 12:00:00 CET",
		},
		"2026-03-01T12:00:00Z": {
			"2026-03-01T12:00:00Z", "2026-03-01t12:00:00z", "2026-03-01T10:00:00-0200", "2026-03-01 12:00:00", " 2026-03-01T12:00:00Z\n", "2026-03-01T12:00",
			"2026-03-01T13:00+01:00", "Sun, 01 Mar 2026 12:00:00 GMT", "1772366400",
			"Sun, 1 Mar 2026 13:00:00 +0100", // mail
			"2026-03-01 12:00:00+00",         // PostgreSQL
			"2026-03-01 14:00:00 +0200",      // Ruby
		},
		"2026-03-01T12:00:00.5Z": {"2026-03-01T13:30:00.5+01:30", "1772366400500", "2026-03-01 17:30:00.5+05:30"},
		"2000-01-01T00:00:00Z":   {"946684800000", "2000-01-01"},
	} {
		for _, text := range texts {
			got, ok := parseInstant(text)
			if ok != (want != "") || ok && got.Format(time.RFC3339Nano) != want {
				t.Errorf("%q is %s, %t; want %s", text, got, ok, want)
			}
		}
	}
}

func TestExpiryIsReadFromThePresignedLink(t *testing.T) {
	for query, readable := range map[string]bool{
		"X-Amz-Algorithm=a&X-Amz-Date=20260301T115000Z&X-Amz-Expires=600&X-Amz-Signature=b":                        true,
		"X-Goog-Date=20260301T115000Z&X-Goog-Expires=600":                                                          true,
		"Expires=1772366400&Signature=a%2Fb&Key-Pair-Id=c":                                                         true, // CloudFront, S3, and GCS
		"sv=2024-11-04&se=2026-03-01T12%3A00%3A00Z&sr=b&sig=c":                                                     true, // Azure
		"se=2026-03-01T12:00Z&sig=c":                                                                               true,
		"x-oss-signature-version=OSS4-HMAC-SHA256&x-oss-date=20260301T115000Z&x-oss-expires=600&x-oss-signature=b": true,
		"temp_url_sig=a&temp_url_expires=1772366400":                                                               true, // OpenStack Swift
		"temp_url_sig=a&temp_url_expires=2026-03-01T12:00:00Z":                                                     true,
		"token=a&expires=1772366400":                                                                               true,  // Bunny CDN
		"token=eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3NzIzNjY0MDB9.c2ln":                                                 false, // a JWT
		"Expires=600": false,
		"X-Amz-Date=20260301T115000Z&X-Amz-Expires=9999999999": false,
		"X-Amz-Date=00010301T115000Z&X-Amz-Expires=600":        false,
		"X-Amz-Date=20260301T115000Z&X-Goog-Expires=600":       false,
	} {
		got := linkExpiry(&url.URL{RawQuery: query})
		if got.IsZero() == readable || readable && !got.Equal(time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %s, want one: %t", query, got, readable)
		}
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		value string
		date  string // of the response
		want  time.Duration
	}{
		"a date of another clock": {value: "Sun, 01 Mar 2026 15:00:30 GMT", date: "Sun, 01 Mar 2026 15:00:00 GMT", want: 30 * second},
		"seconds":                 {value: "30", want: 30 * second},
		"a fraction of a second":  {value: "0.5"},
		"a date":                  {value: "Sun, 01 Mar 2026 12:00:30 GMT", want: 30 * second},
		"a date in the past":      {value: "Sun, 01 Mar 2026 11:59:59 GMT"},
		"centuries":               {value: "99999999999", want: (1<<31 - 1) * second},
		"a negative number":       {value: "-1"},
		"nothing":                 {},
	} {
		if got := parseRetryAfter(http.Header{"Retry-After": {test.value}, "Date": {test.date}}, now); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
