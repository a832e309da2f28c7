package client

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// instantLayouts are forms of RFC 3339. Each also accepts a fraction of a second. A time
// without an offset is in UTC.
var instantLayouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05"}

// parseInstant parses a timestamp, whose format the contract leaves open: RFC 3339,
// seconds or milliseconds since 1970, or an HTTP date (RFC 9110, section 5.6.7). The
// result is in UTC.
func parseInstant(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if instant, err := http.ParseTime(text); err == nil {
		return plausible(instant)
	}
	for _, layout := range instantLayouts {
		if instant, err := time.Parse(layout, strings.Replace(strings.ToUpper(text), " ", "T", 1)); err == nil {
			return plausible(instant)
		}
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return time.Time{}, false
	}
	// No number is plausible in both units.
	if instant, ok := plausible(time.UnixMilli(int64(number * 1000))); ok {
		return instant, true
	}
	return plausible(time.UnixMilli(int64(number)))
}

// plausible rejects times that no job or link can have.
func plausible(instant time.Time) (time.Time, bool) {
	instant = instant.UTC()
	if instant.Year() < 2000 || instant.Year() >= 2200 {
		return time.Time{}, false
	}
	return instant, true
}
