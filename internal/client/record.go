// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// record is one JSON object of an answer. The contract leaves open which
// fields are present and, for some, their type: each reader returns nil for a
// field that is missing, null or of no use, and remembers the names of the
// latter for the log.
type record struct {
	members map[string]json.RawMessage
	prefix  string
	unread  *[]string
}

// parseRecord reads a body that holds one JSON object.
func parseRecord(body []byte) (*record, bool) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(trimBOM(body), &members); err != nil || members == nil {
		return nil, false
	}
	return &record{members: members, unread: new([]string)}, true
}

// parsePartialRecord reads the members that came whole in a body that was cut.
func parsePartialRecord(body []byte) (*record, bool) {
	body = trimBOM(body)
	decoder := json.NewDecoder(bytes.NewReader(body))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, false
	}
	members := map[string]json.RawMessage{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			break
		}
		if last := value[len(value)-1]; last >= '0' && last <= '9' && decoder.InputOffset() == int64(len(body)) {
			break // the number may have lost digits
		}
		members[name.(string)] = value
	}
	return &record{members: members, unread: new([]string)}, len(members) > 0
}

// raw returns a member, or nil if it is missing or null.
func (r *record) raw(name string) json.RawMessage {
	if r == nil {
		return nil
	}
	value := r.members[name]
	if string(value) == "null" {
		return nil
	}
	return value
}

func (r *record) unreadable(name string) {
	if name = r.prefix + name; !slices.Contains(*r.unread, name) {
		*r.unread = append(*r.unread, name)
	}
}

// text reads a string; a number or a boolean counts as its own spelling.
func (r *record) text(name string) *string {
	raw := r.raw(name)
	if raw == nil {
		return nil
	}
	if text := asText(raw); text != nil {
		return text
	}
	r.unreadable(name)
	return nil
}

func asText(raw json.RawMessage) *string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return &text
	}
	if raw[0] == '{' || raw[0] == '[' {
		return nil
	}
	text = string(raw)
	return &text
}

// texts reads an array of strings; a lone string counts as an array of one,
// and what cannot be read as a string is left out. It is nil if missing.
func (r *record) texts(name string) []string {
	raw := r.raw(name)
	if raw == nil {
		return nil
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		if text := r.text(name); text != nil {
			return []string{*text}
		}
		return nil
	}
	texts := make([]string, 0, len(items))
	for _, item := range items {
		if text := asText(item); text != nil && string(item) != "null" {
			texts = append(texts, *text)
		} else {
			r.unreadable(name)
		}
	}
	return texts
}

// number reads a number, also as a string and with a per cent sign.
func (r *record) number(name string) *float64 {
	raw := r.raw(name)
	if raw == nil {
		return nil
	}
	if text := asText(raw); text != nil {
		trimmed := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(*text), "%"))
		number, err := strconv.ParseFloat(trimmed, 64)
		if err == nil && !math.IsNaN(number) && !math.IsInf(number, 0) {
			return &number
		}
	}
	r.unreadable(name)
	return nil
}

// integer reads a number without a fraction.
func (r *record) integer(name string) *int64 {
	raw := r.raw(name)
	if raw == nil {
		return nil
	}
	// Through text first: an identifier may be over what a float64 holds exactly.
	if text := asText(raw); text != nil {
		if integer, err := strconv.ParseInt(strings.TrimSpace(*text), 10, 64); err == nil {
			return &integer
		}
	}
	const exact = 1 << 53
	number := r.number(name)
	if number == nil {
		return nil
	}
	if *number != math.Trunc(*number) || math.Abs(*number) > exact {
		r.unreadable(name)
		return nil
	}
	integer := int64(*number)
	return &integer
}

// count reads an integer that is not negative.
func (r *record) count(name string) *int64 {
	integer := r.integer(name)
	if integer != nil && *integer < 0 {
		r.unreadable(name)
		return nil
	}
	return integer
}

// instant reads a point in time in any form that [parseInstant] knows.
func (r *record) instant(name string) *time.Time {
	raw := r.raw(name)
	if raw == nil {
		return nil
	}
	if text := asText(raw); text != nil {
		if instant, ok := parseInstant(*text); ok {
			return &instant
		}
	}
	r.unreadable(name)
	return nil
}

// object reads a nested object.
func (r *record) object(name string) *record {
	raw := r.raw(name)
	if raw == nil {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		r.unreadable(name)
		return nil
	}
	return &record{members: members, prefix: r.prefix + name + ".", unread: r.unread}
}

// message reads words for people: a string, or any of the shapes that
// [errorMessage] knows.
func (r *record) message(name string) string {
	return errorMessage(r.raw(name))
}
