// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// instantLayouts are RFC 3339 and similar forms. Each also accepts a fraction of a
// second. A time without an offset is in UTC.
var instantLayouts = []string{
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04Z07:00",
}

// parseInstant parses a timestamp, whose format the contract leaves open: RFC 3339,
// seconds or milliseconds since 1970, or an HTTP date (RFC 9110, section 5.6.7). The
// result is in UTC.
func parseInstant(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	for _, layout := range instantLayouts {
		if instant, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return plausible(instant)
		}
	}
	if instant, err := http.ParseTime(text); err == nil {
		return plausible(instant)
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || !(number > 0 && number < 1e15) {
		return time.Time{}, false
	}
	const firstMilliseconds = 1e11 // the year 5138 in seconds, 1973 in milliseconds
	if number < firstMilliseconds {
		number *= 1000
	}
	return plausible(time.UnixMilli(int64(number)))
}

// plausible rejects times that no job or link can have.
func plausible(instant time.Time) (time.Time, bool) {
	instant = instant.UTC()
	return instant, instant.Year() >= 2000 && instant.Year() < 2200
}

// linkExpiry returns when a presigned link expires, according to its query (Signature
// Version 4: X-Amz-Date and X-Amz-Expires, or the X-Goog- pair). It ignores the case of
// the parameter names.
func linkExpiry(link *url.URL) (time.Time, bool) {
	query := map[string]string{}
	for name, values := range link.Query() {
		query[strings.ToLower(name)] = values[0]
	}
	for _, vendor := range []string{"x-amz-", "x-goog-"} {
		signed, err := time.Parse("20060102T150405Z", query[vendor+"date"])
		seconds, err2 := strconv.ParseInt(query[vendor+"expires"], 10, 32)
		if err == nil && err2 == nil {
			return plausible(signed.Add(time.Duration(seconds) * time.Second))
		}
	}
	return time.Time{}, false
}
