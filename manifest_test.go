// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// The Registry tells every CLI what this file says, before the provider is ever started.
func TestRegistryManifestDeclaresProtocolSix(t *testing.T) {
	t.Parallel()

	content, err := os.ReadFile("terraform-registry-manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Version  int `json:"version"`
		Metadata struct {
			ProtocolVersions []string `json:"protocol_versions"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(content, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Version != 1 {
		t.Errorf("version is %d, want 1", manifest.Version)
	}
	if want := []string{"6.0"}; !slices.Equal(manifest.Metadata.ProtocolVersions, want) {
		t.Errorf("protocol_versions is %q, want %q", manifest.Metadata.ProtocolVersions, want)
	}
}
