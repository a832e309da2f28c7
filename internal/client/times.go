package client

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// instantLayouts are the forms that [parseInstant] reads, in uppercase and with the first space replaced. Each also
// accepts a fraction of a second. A time without an offset is in UTC, and a date is its first moment.
var instantLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05 -0700",
	"2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02",
	"Mon,T2 Jan 2006 15:04:05 -0700", // of mail
}

// parseInstant parses a timestamp, whose format the contract leaves open: RFC 3339, also as databases and languages
// print it; seconds or milliseconds since 1970; or an HTTP date (RFC 9110, section 5.6.7). The result is in UTC.
func parseInstant(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if instant, err := http.ParseTime(text); err == nil {
		return plausible(instant)
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		// No number is plausible in both units.
		if instant, ok := plausible(time.UnixMilli(int64(number * 1000))); ok {
			return instant, true
		}
		return plausible(time.UnixMilli(int64(number)))
	}
	text = strings.Replace(strings.ToUpper(text), " ", "T", 1)
	for _, layout := range instantLayouts {
		if instant, err := time.Parse(layout, text); err == nil {
			return plausible(instant)
		}
	}
	return time.Time{}, false
}

// plausible rejects times that no job or link can have.
func plausible(instant time.Time) (time.Time, bool) {
	instant = instant.UTC()
	if instant.Year() < 2000 || instant.Year() >= 2200 {
		return time.Time{}, false
	}
	return instant, true
}

// The parameters of a presigned link that say when it expires.
var (
	// signedFrom are the names of pairs of a time in ISO 8601 and a number of seconds: Signature Version 4 of S3 and
	// GCS, and version 4 of Alibaba OSS.
	signedFrom = [][2]string{
		{"X-Amz-Date", "X-Amz-Expires"}, {"X-Goog-Date", "X-Goog-Expires"}, {"x-oss-date", "x-oss-expires"},
	}
	// validUntil are the names of what [parseInstant] reads: of CloudFront, and Signature Version 2 of S3, GCS, and
	// OSS; Bunny CDN and nginx; Azure SAS; and OpenStack Swift.
	validUntil = []string{"Expires", "expires", "se", "temp_url_expires"}
)

// linkExpiry returns when a presigned link expires, according to its query; zero if no known parameter says so.
func linkExpiry(link *url.URL) time.Time {
	query := link.Query()
	for _, names := range signedFrom {
		signed, err := time.Parse("20060102T150405Z", query.Get(names[0]))
		seconds, err2 := strconv.ParseInt(query.Get(names[1]), 10, 32)
		if err == nil && err2 == nil {
			expiry, _ := plausible(signed.Add(time.Duration(seconds) * time.Second))
			return expiry
		}
	}
	for _, name := range validUntil {
		if expiry, ok := parseInstant(query.Get(name)); ok {
			return expiry
		}
	}
	return time.Time{}
}

// parseRetryAfter reads a Retry-After header in either form (RFC 9110, section 10.2.3). A date counts from the Date
// of the response, if it has one, because the clock of the service may differ. The result is zero if the header is
// missing or invalid.
func parseRetryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) { // the most
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		if sent, err := http.ParseTime(header.Get("Date")); err == nil {
			now = sent
		}
		return max(0, at.Sub(now))
	}
	return 0
}
