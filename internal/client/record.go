// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

// record is a JSON object in a response. The contract leaves open which fields are
// present, and the types of some. Each method that reads a field returns nil if the
// field is missing, null, or unreadable, and records the names of unreadable fields.
type record struct {
	members    map[string]any
	prefix     string
	unreadable *[]string
	retryAfter time.Duration
}

func newRecord(answer *transport.Answer) *record {
	return &record{members: answer.Object, unreadable: new([]string), retryAfter: answer.RetryAfter}
}

// skip records that a field could not be read.
func (r *record) skip(name string) { *r.unreadable = append(*r.unreadable, r.prefix+name) }

// read returns a field after convert has converted it. convert reports whether it
// succeeded.
func read[T any](r *record, name string, convert func(any) (T, bool)) *T {
	member := r.members[name]
	if member == nil {
		return nil
	}
	value, ok := convert(member)
	if !ok {
		r.skip(name)
		return nil
	}
	return &value
}

// text reads a string. It returns a number or boolean as it is written in JSON.
func (r *record) text(name string) *string { return read(r, name, asText) }

func asText(member any) (string, bool) {
	switch member := member.(type) {
	case string:
		return member, true
	case json.Number:
		return member.String(), true
	case bool:
		return strconv.FormatBool(member), true
	}
	return "", false
}

// MaxNameLength is the longest ID or status that is accepted, in characters.
const MaxNameLength = 256

// name reads an ID or a status. It must have 1 to 256 printable characters and
// contain no secret, because it is used unchanged in requests, the state, and messages.
// Otherwise, problem says what is wrong.
func (r *record) name(field string) (name, problem string) {
	value := r.text(field)
	switch {
	case value == nil || *value == "":
		return "", "the response has no " + field
	case utf8.RuneCountInString(*value) > MaxNameLength:
		return "", "its " + field + " is longer than 256 characters"
	case strings.ContainsAny(*value, "\n\t") || strings.Contains(*value, transport.Redacted) || Redact(*value) != *value:
		return "", "its " + field + " has characters that cannot be part of one"
	}
	return *value, ""
}

// texts reads an array of strings, or a single string as an array of one. It skips
// items that are objects, arrays, or null.
func (r *record) texts(name string) []string {
	items, isArray := r.members[name].([]any)
	if !isArray {
		if text := r.text(name); text != nil {
			return []string{*text}
		}
		return nil
	}
	texts := make([]string, 0, len(items))
	skipped := false
	for _, item := range items {
		if text, ok := asText(item); ok {
			texts = append(texts, text)
		} else {
			skipped = true
		}
	}
	if skipped {
		r.skip(name)
	}
	return texts
}

// number reads a number, or a string that contains one, with or without a percent sign.
func (r *record) number(name string) *float64 { return read(r, name, asNumber) }

func asNumber(member any) (float64, bool) {
	text, ok := asText(member)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), 64)
	return number, err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
}

// integer reads a number without a fraction.
func (r *record) integer(name string) *int64 { return read(r, name, asInteger) }

func asInteger(member any) (int64, bool) {
	// A float64 cannot represent every large ID exactly.
	if text, ok := asText(member); ok {
		if integer, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
			return integer, true
		}
	}
	const exact = 1 << 53
	number, ok := asNumber(member)
	return int64(number), ok && number == math.Trunc(number) && math.Abs(number) <= exact
}

// count reads an integer that is not negative.
func (r *record) count(name string) *int64 {
	return read(r, name, func(member any) (int64, bool) {
		integer, ok := asInteger(member)
		return integer, ok && integer >= 0
	})
}

// instant reads a point in time in any form that [parseInstant] accepts.
func (r *record) instant(name string) *time.Time {
	return read(r, name, func(member any) (time.Time, bool) {
		text, _ := asText(member)
		return parseInstant(text)
	})
}

// object reads a nested object.
func (r *record) object(name string) *record {
	members := read(r, name, func(member any) (map[string]any, bool) {
		object, ok := member.(map[string]any)
		return object, ok
	})
	if members == nil {
		return nil
	}
	return &record{members: *members, prefix: r.prefix + name + ".", unreadable: r.unreadable}
}

// message reads a message in any form that [transport.MessageIn] accepts.
func (r *record) message(name string) string { return transport.MessageIn(r.members[name]) }
