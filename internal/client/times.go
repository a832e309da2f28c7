// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// instantLayouts are RFC 3339 with and without zone offset; each also reads a
// fraction of a second. Without an offset the time is taken for UTC.
var instantLayouts = []string{
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04Z07:00", // as Azure writes it
}

// parseInstant reads a point in time in a form that the contract may mean by
// "timestamp": RFC 3339, epoch seconds or milliseconds, an HTTP date (RFC
// 9110, section 5.6.7). The result is in UTC.
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
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return epoch(number)
	}
	return time.Time{}, false
}

// epoch reads seconds or milliseconds since 1970; which of the two follows
// from the size of the number.
func epoch(number float64) (time.Time, bool) {
	const firstMilliseconds = 1e11 // the year 5138 in seconds, 1973 in milliseconds
	if number < firstMilliseconds {
		number *= 1000
	}
	if !(number > 0 && number < 1e15) {
		return time.Time{}, false
	}
	return plausible(time.UnixMilli(int64(number)))
}

// plausible refuses times that no link can have: they are some other number.
func plausible(instant time.Time) (time.Time, bool) {
	instant = instant.UTC()
	return instant, instant.Year() >= 2000 && instant.Year() < 2200
}

// linkExpiry reads from a presigned link when it expires: the forms of S3
// (also its older one), Google, Azure and CloudFront.
func linkExpiry(link string) (time.Time, bool) {
	u, err := url.Parse(link)
	if err != nil {
		return time.Time{}, false
	}
	query := map[string]string{}
	for name, values := range u.Query() {
		query[strings.ToLower(name)] = values[0]
	}
	for _, vendor := range []string{"x-amz-", "x-goog-"} {
		signed, err := time.Parse("20060102T150405Z", query[vendor+"date"])
		seconds, err2 := strconv.ParseInt(query[vendor+"expires"], 10, 32)
		if err == nil && err2 == nil {
			return plausible(signed.Add(time.Duration(seconds) * time.Second))
		}
	}
	if query["se"] != "" && query["sig"] != "" {
		if instant, ok := parseInstant(query["se"]); ok {
			return instant, true
		}
		return parseInstant(query["se"] + "T00:00:00Z")
	}
	if query["expires"] != "" {
		return parseInstant(query["expires"])
	}
	return policyExpiry(query["policy"])
}

// policyExpiry reads the end of a CloudFront custom policy, which is JSON in
// a base64 of its own alphabet.
func policyExpiry(policy string) (time.Time, bool) {
	decoded, err := base64.StdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "=", "~", "/").Replace(policy))
	if err != nil {
		return time.Time{}, false
	}
	var document struct {
		Statement []struct {
			Condition struct {
				DateLessThan map[string]float64
			}
		}
	}
	if json.Unmarshal(decoded, &document) != nil || len(document.Statement) == 0 {
		return time.Time{}, false
	}
	return epoch(document.Statement[0].Condition.DateLessThan["AWS:EpochTime"])
}

// longestRetryAfter keeps sums of times within what can be shown.
const longestRetryAfter = 365 * 24 * time.Hour

// retryAfter reads a Retry-After header (RFC 9110, section 10.2.3) in either
// form. A date is measured against the answer's own Date, so that a wrong
// local clock does not matter. Zero means none, or one that says nothing.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if !(seconds > 0) || math.IsInf(seconds, 0) {
			return 0
		}
		return time.Duration(min(seconds, longestRetryAfter.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return min(max(0, at.Sub(now)), longestRetryAfter)
}
