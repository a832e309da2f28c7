// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		target Target
		err    string
	}{
		"a file":                      {Target{"out/bundle.tgz", ""}, ""},
		"a file and a directory":      {Target{"bundle.tgz", "site/"}, ""},
		"names that begin alike":      {Target{"site.tgz", "site"}, ""},
		"no file":                     {Target{"", "site"}, "names a directory"},
		"a slash after the file":      {Target{"out/", ""}, "names a directory"},
		"one name for both":           {Target{"site", "./site"}, "inside each other"},
		"a file inside the directory": {Target{"site/x/bundle.tgz", "site"}, "inside each other"},
		"a directory inside the file": {Target{"site", "site/pages"}, "inside each other"},
		"a file in the current one":   {Target{"bundle.tgz", "."}, "inside each other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := tc.target.Check(); (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "real"), 0o755))
	must(t, os.Symlink("real", filepath.Join(root, "link")))
	for name, tc := range map[string]struct {
		first, second Target
		refused       string // "", "file" or "directory"
	}{
		"different targets":            {Target{"a.tgz", "a"}, Target{"b.tgz", "b"}, ""},
		"a file in a directory":        {Target{"a.tgz", "a"}, Target{"a/b.tgz", ""}, "file"},
		"a directory around a file":    {Target{"a/b.tgz", ""}, Target{"c.tgz", "a"}, "directory"},
		"one file":                     {Target{"a.tgz", "a"}, Target{"./x/../a.tgz", "b"}, "file"},
		"one directory":                {Target{"a.tgz", "a"}, Target{"b.tgz", "a/"}, "directory"},
		"a file that is a directory":   {Target{"a.tgz", "a"}, Target{"a", ""}, "file"},
		"one file behind a link":       {Target{"real/a.tgz", ""}, Target{"link/a.tgz", ""}, "file"},
		"one file behind a link, deep": {Target{"real/new/a.tgz", ""}, Target{"link/new/a.tgz", ""}, "file"},
		"one directory behind a link":  {Target{"a.tgz", "real/a"}, Target{"b.tgz", "link/a"}, "directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, target := range []*Target{&tc.first, &tc.second} {
				target.Path = root + "/" + target.Path
				if target.Directory != "" {
					target.Directory = root + "/" + target.Directory
				}
			}
			var claims Claims
			must(t, claims.Claim(tc.first))
			err := claims.Claim(tc.second)
			var occupied *OccupiedError
			if (tc.refused == "") != (err == nil) || err != nil && (!errors.As(err, &occupied) || occupied.Directory != (tc.refused == "directory")) {
				t.Errorf("error %v, want the %s refused", err, tc.refused)
			}
		})
	}
}
