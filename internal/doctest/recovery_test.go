// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// After a run was killed, its job is looked up in its log, at a level that the workflows set.
func TestJobOfAKilledRunIsInTheLogOfItsWorkflow(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"deploy-gates/gate/*.yml", "pipelines/*/*.yml"} {
		for _, name := range glob(t, "examples/guides/"+pattern) {
			if !strings.Contains(read(t, name), "TF_LOG_PROVIDER: INFO") {
				t.Errorf("%s does not log at INFO", name)
			}
		}
	}
	phrase := regexp.MustCompile("search its log for `([^`]+)`").FindStringSubmatch(read(t, root+"/docs/guides/errors.md"))
	if phrase == nil {
		t.Fatal("the page does not say what to search for")
	}
	if !slices.ContainsFunc(glob(t, "internal/client/*.go"), func(name string) bool {
		return strings.Contains(read(t, name), `"`+phrase[1]+" ")
	}) {
		t.Errorf("no log record contains %q", phrase[1])
	}
}

// The roles of a pipeline may read, write, and lock the state where the backend stores it.
func TestPolicyNamesTheStateOfTheBackend(t *testing.T) {
	t.Parallel()
	const directory = examples + "/guides/pipelines/github-actions/"
	backend := read(t, directory+"backend.tf")
	value := func(name string) string {
		t.Helper()
		match := regexp.MustCompile(name + `\s+= "([^"]+)"`).FindStringSubmatch(backend)
		if match == nil {
			t.Fatalf("the backend has no %s", name)
		}
		return match[1]
	}
	bucket := "arn:aws:s3:::" + value("bucket")
	state := bucket + "/" + value("key")
	var policy struct{ Statement []struct{ Resource string } }
	if err := json.Unmarshal([]byte(read(t, directory+"state-policy.json")), &policy); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, statement := range policy.Statement {
		named = append(named, statement.Resource)
	}
	if want := []string{bucket, state, state + ".tflock"}; !slices.Equal(named, want) {
		t.Errorf("the policy names %q, want %q", named, want)
	}
	if !json.Valid([]byte(read(t, directory+"trust-policy.json"))) {
		t.Error("the trust policy is not JSON")
	}
}
