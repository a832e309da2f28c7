// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package doctest tests what users read: examples/ with the real CLI against a simulated
// service, and templates/ against the code.
package doctest

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const (
	root     = "../.."
	examples = root + "/examples"
)

// service is a simulated service that knows what the examples name, and a CLI whose provider talks
// to it. Both are on one virtual clock, so that jobs take no time.
type service struct {
	*simulator.Server
	*clitest.CLI
	clock *simulator.VirtualClock
}

func newService(t *testing.T) *service {
	t.Helper()
	return newServiceAt(t, time.Date(2030, time.January, 31, 12, 0, 0, 0, time.UTC))
}

func newServiceAt(t *testing.T, start time.Time) *service {
	t.Helper()
	clock := simulator.NewVirtualClock(start)
	server, err := simulator.Listen(simulator.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	const ended = -1
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_success", Queue: ended, Run: ended})
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_failure", Queue: ended, Run: ended, Fail: "page guides/links.mdx does not render"})
	server.AddJob(simulator.JobSpec{ID: "se_3f9a2c1b8e7d4a06", Domain: "docs.example.com", Queue: ended, Run: ended})

	env := map[string]string{"DOCS_BASE_URL": server.BaseURL, "DOCS_API_KEY": simulator.DefaultAPIKey}
	options := provider.Options{
		Version:    "test",
		Getenv:     func(name string) string { return env[name] },
		HTTPClient: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
		Clock:      clock,
	}
	s := &service{server, clitest.New(t, "docs-hosting/docs", provider.NewServer(options)), clock}
	s.Env = append(s.Env, "TF_INPUT=0")
	return s
}

// setVariables gives values to the variables that the examples have, where a configuration has them.
func (s *service) setVariables() {
	s.Env = append(s.Env,
		"TF_VAR_docs_api_key=sim_key",
		"TF_VAR_domain=docs.example.com",
		"TF_VAR_revision=4f2c1d9",
		"TF_VAR_status_id=upd_success",
		"TF_VAR_renew_before=5m",
		"TF_VAR_archive="+filepath.Join(s.Folder, "out/bundle.tar.gz"),
		"TF_VAR_directory="+filepath.Join(s.Folder, "out/site"),
		"TF_VAR_outbox="+filepath.Join(s.Folder, "outbox"))
}

const requireProvider = `terraform {
  required_providers {
    docs = { source = "docs-hosting/docs" }
  }
}
`

// apply applies what is in the folder, wants the next plan to be empty, and destroys it all. Links
// of two applies differ, so that an ephemeral one may not be part of the plan.
func (s *service) apply(t *testing.T, flags ...string) {
	t.Helper()
	s.Run(t, 0, append([]string{"apply", "-auto-approve"}, flags...)...)
	s.Run(t, 0, append([]string{"plan", "-detailed-exitcode"}, flags...)...)
	s.Run(t, 0, append([]string{"destroy", "-auto-approve"}, flags...)...)
}

// write writes a file into the folder.
func (s *service) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Folder, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// copyFile copies a file of a configuration into the folder. One that names no provider, as on the
// page of an object, gets the provider's source beside it.
func (s *service) copyFile(t *testing.T, file string) {
	t.Helper()
	content := s.anchored(read(t, file))
	s.write(t, filepath.Base(file), content)
	if !strings.Contains(content, "required_providers") {
		s.write(t, "provider_source.tf", requireProvider)
	}
}

// copyTree copies a directory of configurations into the folder, but for what needs providers that
// are not here: see [isThirdParty].
func (s *service) copyTree(t *testing.T, directory string) {
	t.Helper()
	err := filepath.WalkDir(directory, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(directory, name)
		if err != nil {
			return err
		}
		target := filepath.Join(s.Folder, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		content, err := os.ReadFile(name)
		if err != nil || isThirdParty(string(content)) {
			return err
		}
		return os.WriteFile(target, []byte(s.anchored(string(content))), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// anchored makes the paths of a configuration absolute. The provider of a test does not run where
// the CLI does.
func (s *service) anchored(content string) string {
	return strings.ReplaceAll(content, `"${path.root}/`, `"`+filepath.ToSlash(s.Folder)+`/`)
}

var source = regexp.MustCompile(`(?m)^\s+source\s+=\s+"(hashicorp/[a-z]+)"`)

// isThirdParty reports whether a file needs the provider of somebody else. Such a file holds
// everything that the provider is for, so that its module is whole without it.
func isThirdParty(content string) bool { return source.MatchString(content) }

var requiredVersion = regexp.MustCompile(`required_version\s+=\s+">= 1\.(\d+)"`)

// needs skips the test where the CLI is older than the configuration wants.
func (s *service) needs(t *testing.T, content string) {
	t.Helper()
	want := requiredVersion.FindStringSubmatch(content)
	if want == nil {
		return
	}
	minor, err := strconv.Atoi(want[1])
	if err != nil {
		t.Fatal(err)
	}
	tofu := minor
	if minor == 10 {
		tofu = 11 // ephemeral resources
	}
	s.SkipBelow(t, minor, tofu, "version 1."+want[1]+" or later")
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// glob returns the files that a pattern below the repository's root matches; there is at least one.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file is %s (%v)", pattern, err)
	}
	return files
}
