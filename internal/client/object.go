package client

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

// object is a JSON object in a response. The contract leaves open which fields are present, and the types of some.
// Each method that reads a field returns nil if the field is missing, null, or unreadable.
type object struct {
	fields     map[string]any // as the service sent them; numbers are [json.Number]
	parent     string         // the names of the objects that contain it, each with a period
	retryAfter time.Duration  // of the response
	accepted   bool           // its status is 202
	redactor   display.Redactor
	ignored    *[]string // the unreadable fields of the whole response, with their values if they are text
}

// convertField returns a field after convert has converted it. convert reports whether it succeeded.
func convertField[T any](o *object, name string, convert func(any) (T, bool)) *T {
	field := o.fields[name]
	if field == nil {
		return nil
	}
	value, ok := convert(field)
	if !ok {
		shown, scalar := asText(field)
		if !scalar {
			shown = "an object or array" // which may contain a link
		}
		*o.ignored = append(*o.ignored, fmt.Sprintf("%s%s (%s)", o.parent, name, shown))
		return nil
	}
	return &value
}

// text reads a string. It returns a number or boolean as it is written in JSON.
func (o *object) text(name string) *string { return convertField(o, name, asText) }

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
// query. It is used unchanged in requests and messages. The error begins with what the name is, such as "the ID".
func CheckName(what, name string) error {
	problem := ""
	switch {
	case strings.TrimSpace(name) == "":
		problem = "is empty"
	case utf8.RuneCountInString(name) > 2048:
		problem = "is longer than 2048 characters"
	case strings.TrimSpace(name) != name:
		problem = "has leading or trailing whitespace"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		problem = "contains an unprintable character"
	case strings.Contains(name, "://") && strings.Contains(name, "?"):
		problem = "contains a URL with a query" // it may be a presigned link, which no message may show
	default:
		return nil
	}
	return fmt.Errorf("%s %s", what, problem)
}

// name reads an ID or a status that passes [CheckName].
func (o *object) name(field string) (string, error) {
	text, ok := asText(o.fields[field])
	switch {
	case o.fields[field] == nil:
		return "", fmt.Errorf("the response has no field %q", field)
	case !ok:
		return "", fmt.Errorf("the field %q is neither a string nor a number", field)
	}
	if err := CheckName(fmt.Sprintf("the field %q", field), text); err != nil {
		return "", err
	}
	return text, nil
}

// status reads the status of a job or an update. It may be any text, so it is redacted.
func (o *object) status() (string, error) {
	status, err := o.name("status")
	return o.redactor.Redact(status), err
}

// texts reads an array of strings. It skips items that are objects, arrays, or null.
func (o *object) texts(name string) []string {
	items := convertField(o, name, func(field any) ([]any, bool) {
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
func (o *object) number(name string) *float64 {
	return convertField(o, name, func(field any) (float64, bool) {
		text, _ := asText(field)
		return asNumber(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	})
}

func asNumber(text string) (float64, bool) {
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return number, err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
}

// count reads an integer that is not negative.
func (o *object) count(name string) *int64 {
	return convertField(o, name, func(field any) (int64, bool) {
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
func (o *object) instant(name string) *time.Time {
	return convertField(o, name, func(field any) (time.Time, bool) {
		text, _ := asText(field)
		return parseInstant(text)
	})
}

// object reads a nested object.
func (o *object) object(name string) *object {
	fields := convertField(o, name, func(field any) (map[string]any, bool) {
		fields, ok := field.(map[string]any)
		return fields, ok
	})
	if fields == nil {
		return nil
	}
	nested := *o
	nested.fields, nested.parent = *fields, o.parent+name+"."
	return &nested
}
