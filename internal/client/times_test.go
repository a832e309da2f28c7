// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestInstantIsReadInEveryForm(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		text string
		want time.Time // zero: it cannot be read
	}{
		"RFC 3339":                           {"2026-03-01T12:00:00Z", noon},
		"with a fraction":                    {"2026-03-01T12:00:00.25Z", noon.Add(250 * time.Millisecond)},
		"with nanoseconds":                   {"2026-03-01T12:00:00.000000001Z", noon.Add(1)},
		"in lower case":                      {"2026-03-01t12:00:00z", noon},
		"with an offset":                     {"2026-03-01T13:30:00+01:30", noon},
		"with an offset and a fraction":      {"2026-03-01T13:30:00.5+01:30", noon.Add(500 * time.Millisecond)},
		"with an offset without a colon":     {"2026-03-01T10:00:00-0200", noon},
		"without an offset":                  {"2026-03-01T12:00:00", noon},
		"without an offset, with a fraction": {"2026-03-01T12:00:00.123", noon.Add(123 * time.Millisecond)},
		"with a space":                       {"2026-03-01 12:00:00", noon},
		"with a space and an offset":         {"2026-03-01 13:00:00+01:00", noon},
		"without seconds":                    {"2026-03-01T12:00Z", noon},
		"with white space around":            {" 2026-03-01T12:00:00Z\n", noon},
		"an HTTP date":                       {"Sun, 01 Mar 2026 12:00:00 GMT", noon},
		"an HTTP date of RFC 850":            {"Sunday, 01-Mar-26 12:00:00 GMT", noon},
		"an HTTP date of asctime":            {"Sun Mar  1 12:00:00 2026", noon},
		"epoch seconds":                      {"1772366400", noon},
		"epoch seconds with a fraction":      {"1772366400.5", noon.Add(500 * time.Millisecond)},
		"epoch seconds with an exponent":     {"1.7723664e9", noon},
		"epoch milliseconds":                 {"1772366400250", noon.Add(250 * time.Millisecond)},
		"the least year":                     {"2000-01-01T00:00:00Z", time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"the greatest year":                  {"2199-12-31T23:59:59Z", time.Date(2199, 12, 31, 23, 59, 59, 0, time.UTC)},
		"a year before":                      {"1999-12-31T23:59:59Z", time.Time{}},
		"a year after":                       {"2200-01-01T00:00:00Z", time.Time{}},
		"the zero time":                      {"0001-01-01T00:00:00Z", time.Time{}},
		"the end of time":                    {"9999-12-31T23:59:59Z", time.Time{}},
		"a number of seconds to live":        {"3600", time.Time{}},
		"0":                                  {"0", time.Time{}},
		"a number below 0":                   {"-1772366400", time.Time{}},
		"epoch nanoseconds":                  {"1772366400000000000", time.Time{}},
		"NaN":                                {"NaN", time.Time{}},
		"infinity":                           {"Inf", time.Time{}},
		"a date":                             {"2026-03-01", time.Time{}},
		"a day that there is not":            {"2026-02-30T12:00:00Z", time.Time{}},
		"words":                              {"tomorrow", time.Time{}},
		"nothing":                            {"", time.Time{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := parseInstant(test.text)
			if ok != !test.want.IsZero() || ok && (!got.Equal(test.want) || got.Location() != time.UTC) {
				t.Errorf("got %s, %v; want %s", got, ok, test.want)
			}
		})
	}
}

// policy is a custom policy as CloudFront has it in its links.
func policy(document string) string {
	return strings.NewReplacer("+", "-", "=", "_", "/", "~").Replace(base64.StdEncoding.EncodeToString([]byte(document)))
}

func TestExpiryIsReadFromThePresignedLink(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		query string
		want  time.Time // zero: it does not say
	}{
		"S3":                                  {"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20260301T115000Z&X-Amz-Expires=600&X-Amz-Signature=a", noon},
		"S3 in lower case":                    {"x-amz-date=20260301T115000Z&x-amz-expires=600", noon},
		"S3 as it was":                        {"AWSAccessKeyId=a&Expires=1772366400&Signature=b%2Bc", noon},
		"Google":                              {"X-Goog-Date=20260301T115000Z&X-Goog-Expires=600&X-Goog-Signature=a", noon},
		"Google as it was":                    {"GoogleAccessId=a&Expires=1772366400&Signature=b", noon},
		"Azure":                               {"sv=2024-01-01&se=2026-03-01T12%3A00%3A00Z&sig=a", noon},
		"Azure without seconds":               {"se=2026-03-01T12:00Z&sig=a", noon},
		"Azure with a date only":              {"se=2026-03-01&sig=a", noon.Add(-12 * time.Hour)},
		"CloudFront":                          {"Expires=1772366400&Signature=a&Key-Pair-Id=b", noon},
		"CloudFront with a policy of its own": {"Policy=" + policy(`{"Statement":[{"Resource":"https://h/?>*","Condition":{"DateLessThan":{"AWS:EpochTime":1772366400}}}]}`) + "&Signature=a", noon},
		"CloudFront without padding":          {"Policy=" + policy(`{"Statement":[{"Condition":{"DateLessThan":{"AWS:EpochTime":1772366400}}}]}`), noon},
		"CloudFront with much padding":        {"Policy=" + policy(`{"Statement":[{"Condition":{"DateLessThan":{"AWS:EpochTime":1772366400}}}]} `), noon},
		"CloudFront with padding":             {"Policy=" + policy(`{"Statement":[{"Condition":{"DateLessThan":{"AWS:EpochTime":1772366400}}}]}  `), noon},
		"the first of the same":               {"Expires=1772366400&Expires=1", noon},
		"S3 without a date":                   {"X-Amz-Expires=600", time.Time{}},
		"S3 without a lifetime":               {"X-Amz-Date=20260301T115000Z", time.Time{}},
		"S3 with a lifetime that is none":     {"X-Amz-Date=20260301T115000Z&X-Amz-Expires=soon", time.Time{}},
		"S3 with a lifetime past all measure": {"X-Amz-Date=20260301T115000Z&X-Amz-Expires=9999999999", time.Time{}},
		"S3 with a year that is none":         {"X-Amz-Date=00010301T115000Z&X-Amz-Expires=600", time.Time{}},
		"Azure without a signature":           {"se=2026-03-01T12:00:00Z", time.Time{}},
		"Azure with words":                    {"se=soon&sig=a", time.Time{}},
		"an expiry in words":                  {"Expires=soon", time.Time{}},
		"a policy that is not base64":         {"Policy=!!!", time.Time{}},
		"a policy that is not JSON":           {"Policy=" + policy(`<x>`), time.Time{}},
		"a policy without statements":         {"Policy=" + policy(`{"Statement":[]}`), time.Time{}},
		"a policy without an end":             {"Policy=" + policy(`{"Statement":[{"Condition":{"IpAddress":{"AWS:SourceIp":"0.0.0.0/0"}}}]}`), time.Time{}},
		"a policy that ends in words":         {"Policy=" + policy(`{"Statement":[{"Condition":{"DateLessThan":{"AWS:EpochTime":"soon"}}}]}`), time.Time{}},
		"no signature":                        {"", time.Time{}},
		"other parameters":                    {"a=b&c", time.Time{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := linkExpiry("https://h/b.tar.gz?" + test.query)
			if ok != !test.want.IsZero() || ok && !got.Equal(test.want) {
				t.Errorf("got %s, %v; want %s", got, ok, test.want)
			}
		})
	}
	if _, ok := linkExpiry("https://h/%zz?Expires=1772366400"); ok {
		t.Error("read from what is no URL")
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		value string
		date  string // the answer's own
		want  time.Duration
	}{
		"seconds":                         {"30", "", 30 * time.Second},
		"seconds with white space":        {" 30 ", "", 30 * time.Second},
		"seconds with a fraction":         {"1.5", "", 1500 * time.Millisecond},
		"a date":                          {"Sun, 01 Mar 2026 12:00:30 GMT", "", 30 * time.Second},
		"a date by a clock that is wrong": {"Sun, 01 Mar 2026 13:00:30 GMT", "Sun, 01 Mar 2026 13:00:00 GMT", 30 * time.Second},
		"a date, with a Date of no use":   {"Sun, 01 Mar 2026 12:00:30 GMT", "today", 30 * time.Second},
		"a date of RFC 850":               {"Sunday, 01-Mar-26 12:00:30 GMT", "", 30 * time.Second},
		"a date in the past":              {"Sun, 01 Mar 2026 11:00:00 GMT", "", 0},
		"a date past all measure":         {"Fri, 31 Dec 9999 23:59:59 GMT", "", longestRetryAfter},
		"seconds past all measure":        {"1e300", "", longestRetryAfter},
		"infinity":                        {"Inf", "", 0},
		"NaN":                             {"NaN", "", 0},
		"0":                               {"0", "", 0},
		"a number below 0":                {"-30", "", 0},
		"words":                           {"soon", "", 0},
		"a duration of Go":                {"30s", "", 0},
		"RFC 3339":                        {"2026-03-01T12:00:30Z", "", 0},
		"nothing":                         {"", "", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"Retry-After": {test.value}, "Date": {test.date}}
			if got := retryAfter(header, now); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if got := retryAfter(nil, now); got != 0 {
		t.Errorf("no header at all gives %s", got)
	}
}
