// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// readAs reads the member "x" of an answer with one of the readers.
func readAs(t *testing.T, raw string, read func(*record) any) (value any, unread []string) {
	t.Helper()
	r, ok := parseRecord([]byte(`{"x":` + raw + `}`))
	if !ok {
		t.Fatalf("%s is no JSON", raw)
	}
	value = read(r)
	if v := reflect.ValueOf(value); v.IsNil() {
		return nil, *r.unread
	} else if v.Kind() == reflect.Pointer {
		return v.Elem().Interface(), *r.unread
	}
	return value, *r.unread
}

func TestMemberIsReadFromWhateverType(t *testing.T) {
	text := func(r *record) any { return r.text("x") }
	texts := func(r *record) any { return r.texts("x") }
	float := func(r *record) any { return r.number("x") }
	integer := func(r *record) any { return r.integer("x") }
	count := func(r *record) any { return r.count("x") }
	instant := func(r *record) any { return r.instant("x") }
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		raw  string
		read func(*record) any
		want any // nil: counts as missing
		// unread tells whether that is worth a line in the log.
		unread bool
	}{
		"a string as text":                       {`"a"`, text, "a", false},
		"an empty string as text":                {`""`, text, "", false},
		"a number as text":                       {`12345678901234567890`, text, "12345678901234567890", false},
		"a boolean as text":                      {`true`, text, "true", false},
		"null as text":                           {`null`, text, nil, false},
		"an object as text":                      {`{}`, text, nil, true},
		"an array as text":                       {`["a"]`, text, nil, true},
		"an array as texts":                      {`["a","b"]`, texts, []string{"a", "b"}, false},
		"an empty array as texts":                {`[]`, texts, []string{}, false},
		"a mixed array as texts":                 {`["a",1,true]`, texts, []string{"a", "1", "true"}, false},
		"an array with holes as texts":           {`["a",null,{},["b"],null]`, texts, []string{"a"}, true},
		"a string as texts":                      {`"a"`, texts, []string{"a"}, false},
		"null as texts":                          {`null`, texts, nil, false},
		"an object as texts":                     {`{"a":1}`, texts, nil, true},
		"a number":                               {`1.5`, float, 1.5, false},
		"a number in a string":                   {`" 1.5 "`, float, 1.5, false},
		"a number per cent":                      {`"1.5 %"`, float, 1.5, false},
		"a number with an exponent":              {`1e2`, float, 100., false},
		"null as a number":                       {`null`, float, nil, false},
		"words as a number":                      {`"half"`, float, nil, true},
		"NaN as a number":                        {`"NaN"`, float, nil, true},
		"infinity as a number":                   {`"-Inf"`, float, nil, true},
		"a number that is too large":             {`1e999`, float, nil, true},
		"a boolean as a number":                  {`true`, float, nil, true},
		"an object as a number":                  {`{}`, float, nil, true},
		"an integer":                             {`7`, integer, int64(7), false},
		"an integer below 0":                     {`-7`, integer, int64(-7), false},
		"an integer in a string":                 {`"7"`, integer, int64(7), false},
		"an integer as a float":                  {`7.0`, integer, int64(7), false},
		"an integer with an exponent":            {`7e3`, integer, int64(7000), false},
		"an integer over 53 bits":                {`9007199254740993`, integer, int64(9007199254740993), false},
		"an integer over 64 bits":                {`9223372036854775808`, integer, nil, true},
		"an integer with a fraction":             {`7.5`, integer, nil, true},
		"an integer as a float that is inexact":  {`1.8014398509481985e17`, integer, nil, true},
		"words as an integer":                    {`"many"`, integer, nil, true},
		"null as an integer":                     {`null`, integer, nil, false},
		"a count":                                {`7`, count, int64(7), false},
		"a count of 0":                           {`0`, count, int64(0), false},
		"a count below 0":                        {`-1`, count, nil, true},
		"null as a count":                        {`null`, count, nil, false},
		"an instant":                             {`"2026-03-01T12:00:00Z"`, instant, noon, false},
		"an instant as a number":                 {`1772366400`, instant, noon, false},
		"an instant as a number with a fraction": {`1772366400.25`, instant, noon.Add(250 * time.Millisecond), false},
		"null as an instant":                     {`null`, instant, nil, false},
		"words as an instant":                    {`"soon"`, instant, nil, true},
		"an object as an instant":                {`{"seconds":1}`, instant, nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, unread := readAs(t, test.raw, test.read)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, want %#v", got, test.want)
			}
			var want []string
			if test.unread {
				want = []string{"x"}
			}
			if !slices.Equal(unread, want) {
				t.Errorf("unread are %q, want %q", unread, want)
			}
		})
	}
}

func TestMissingMemberIsNil(t *testing.T) {
	r, _ := parseRecord([]byte(`{}`))
	if r.text("x") != nil || r.texts("x") != nil || r.number("x") != nil || r.integer("x") != nil || r.count("x") != nil ||
		r.instant("x") != nil || r.object("x") != nil || r.message("x") != "" || len(*r.unread) > 0 {
		t.Errorf("read something of nothing; unread are %q", *r.unread)
	}
}

func TestNestedMemberIsNamedWithItsPath(t *testing.T) {
	r, _ := parseRecord([]byte(`{"a":{"b":{"c":[]},"d":7},"e":7}`))
	if r.object("a").object("b").text("c") != nil || r.object("a").object("d") != nil || r.object("e") != nil {
		t.Error("read an object of what is none")
	}
	if want := []string{"a.b.c", "a.d", "e"}; !slices.Equal(*r.unread, want) {
		t.Errorf("unread are %q, want %q", *r.unread, want)
	}
}

func TestRecordIsOneObject(t *testing.T) {
	for body, want := range map[string]bool{
		`{}`: true, "{ \"a\": 1 }": true, "\xEF\xBB\xBF{}": true,
		``: false, `null`: false, `[]`: false, `"{}"`: false, `{}{}`: false, `{"a":1`: false, `{'a':1}`: false,
	} {
		if _, ok := parseRecord([]byte(body)); ok != want {
			t.Errorf("parseRecord(%q) is %v", body, ok)
		}
	}
}

func TestPartialRecordHasTheMembersThatCameWhole(t *testing.T) {
	tests := map[string]struct {
		body string
		want []string // its members, and what they are; nil: no record
	}{
		"a whole body":                   {`{"a":1,"b":{"c":[]}}`, []string{"a=1", `b={"c":[]}`}},
		"a byte order mark":              {"\xEF\xBB\xBF" + `{"a":1}`, []string{"a=1"}},
		"cut within a name":              {`{"a":1,"b`, []string{"a=1"}},
		"cut behind a name":              {`{"a":1,"b"`, []string{"a=1"}},
		"cut behind a colon":             {`{"a":1,"b":`, []string{"a=1"}},
		"cut within a string":            {`{"a":"x","b":"y`, []string{`a="x"`}},
		"cut behind a string":            {`{"a":"x"`, []string{`a="x"`}},
		"cut within an object":           {`{"a":"x","b":{"c":1`, []string{`a="x"`}},
		"cut behind an object":           {`{"b":{"c":1}`, []string{`b={"c":1}`}},
		"cut behind an array":            {`{"b":[1]`, []string{`b=[1]`}},
		"cut within or behind a number":  {`{"a":"x","b":12`, []string{`a="x"`}},
		"cut within a word":              {`{"a":"x","b":tru`, []string{`a="x"`}},
		"cut behind a word":              {`{"a":"x","b":true`, []string{`a="x"`, "b=true"}},
		"cut behind a comma":             {`{"a":12,`, []string{"a=12"}},
		"broken further on":              {`{"a":1,b:2}`, []string{"a=1"}},
		"with something behind":          {`{"a":1}{"b":2}`, []string{"a=1"}},
		"cut before anything came whole": {`{"a":"x`, nil},
		"an empty object":                {`{}`, nil},
		"nothing":                        {``, nil},
		"an array":                       {`[{"a":1}]`, nil},
		"text":                           {`a`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, ok := parsePartialRecord([]byte(test.body))
			if ok != (test.want != nil) {
				t.Fatalf("it is a record: %v", ok)
			}
			if !ok {
				return
			}
			var got []string
			for name, raw := range r.members {
				got = append(got, name+"="+string(raw))
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
