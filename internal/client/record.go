package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// record is a JSON object in a response. The contract leaves open which fields are present, and the types of some.
// Each method that reads a field returns nil if the field is missing, null, or unreadable.
type record struct {
	Exchange
	fields map[string]any // as the service sent them; numbers are [json.Number]
	parent string         // the names of the objects that contain it, each with a period
	// log writes a log record about the response.
	log func(level slog.Level, message string, fields map[string]any)
}

// convertField returns a field after convert has converted it. convert reports whether it succeeded.
func convertField[T any](r *record, name string, convert func(any) (T, bool)) *T {
	field := r.fields[name]
	if field == nil {
		return nil
	}
	value, ok := convert(field)
	if !ok {
		r.log(slog.LevelInfo, "Ignored a field that could not be read", map[string]any{"field": r.parent + name})
		return nil
	}
	return &value
}

// text reads a string. It returns a number or boolean as it is written in JSON.
func (r *record) text(name string) *string { return convertField(r, name, asText) }

func asText(field any) (string, bool) {
	switch field := field.(type) {
	case string:
		return field, true
	case json.Number:
		return field.String(), true
	case bool:
		return strconv.FormatBool(field), true
	}
	return "", false
}

// CheckName checks an ID or a status: 1 to 2048 printable characters, without whitespace around them or a URL with a
// query. It is used unchanged in requests, the state, and messages. The error follows the subject, as in "the ID is
// empty".
func CheckName(name string) error {
	const longest = 2048
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("is empty")
	case utf8.RuneCountInString(name) > longest:
		return fmt.Errorf("is longer than %d characters", longest)
	case strings.TrimSpace(name) != name:
		return errors.New("has leading or trailing whitespace")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("contains an unprintable character")
	case strings.Contains(name, "://") && strings.Contains(name, "?"): // it may be a presigned link, which no message may show
		return errors.New("contains a URL with a query")
	}
	return nil
}

// name reads an ID or a status that passes [CheckName].
func (r *record) name(field string) (string, error) {
	text, ok := asText(r.fields[field])
	switch {
	case r.fields[field] == nil:
		return "", fmt.Errorf("the response has no field %q", field)
	case !ok:
		return "", fmt.Errorf("the field %q is neither a string nor a number", field)
	}
	if err := CheckName(text); err != nil {
		return "", fmt.Errorf("the field %q %w", field, err)
	}
	return text, nil
}

// status reads a status. It may be any text, so the API key is redacted.
func (c *Client) status(r *record) (string, error) {
	status, err := r.name("status")
	return c.Redact(status), err
}

// texts reads an array of strings. It skips items that are objects, arrays, or null.
func (r *record) texts(name string) []string {
	items := convertField(r, name, func(field any) ([]any, bool) {
		items, ok := field.([]any)
		return items, ok
	})
	if items == nil {
		return nil
	}
	texts := make([]string, 0, len(*items))
	for _, item := range *items {
		if text, ok := asText(item); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// number reads a number, or a string that contains one, with or without a percent sign.
func (r *record) number(name string) *float64 {
	return convertField(r, name, func(field any) (float64, bool) {
		text, _ := asText(field)
		return asNumber(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	})
}

func asNumber(text string) (float64, bool) {
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return number, err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
}

// count reads an integer that is not negative.
func (r *record) count(name string) *int64 {
	return convertField(r, name, func(field any) (int64, bool) {
		// A float64 cannot represent every large ID exactly.
		text, _ := asText(field)
		if integer, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
			return integer, integer >= 0
		}
		const exact = 1 << 53
		number, ok := asNumber(text)
		return int64(number), ok && number == math.Trunc(number) && number >= 0 && number <= exact
	})
}

// instant reads a point in time in any form that [parseInstant] accepts.
func (r *record) instant(name string) *time.Time {
	return convertField(r, name, func(field any) (time.Time, bool) {
		text, _ := asText(field)
		return parseInstant(text)
	})
}

// object reads a nested object.
func (r *record) object(name string) *record {
	fields := convertField(r, name, func(field any) (map[string]any, bool) {
		object, ok := field.(map[string]any)
		return object, ok
	})
	if fields == nil {
		return nil
	}
	return &record{fields: *fields, parent: r.parent + name + ".", log: r.log}
}
