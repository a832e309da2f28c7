package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

type document struct {
	ProviderSchemas map[string]map[string]map[string]any `json:"provider_schemas"`
}

func newServer() tfprotov6.ProviderServer {
	return provider.NewServer(provider.Options{})()
}

func TestSchemasEqualThoseOfTheCLI(t *testing.T) {
	t.Parallel()
	c := clitest.New(t, "docs-hosting/docs", newServer)
	c.Write(t, "main.tf", c.Require())
	var theirs document
	if err := json.Unmarshal([]byte(c.Run(t, 0, "providers", "schema", "-json")), &theirs); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := write(t.Context(), &out, newServer()); err != nil {
		t.Fatal(err)
	}
	var ours document
	if err := json.Unmarshal(out.Bytes(), &ours); err != nil {
		t.Fatal(err)
	}
	for address, schemas := range theirs.ProviderSchemas {
		if !strings.HasSuffix(address, "/docs-hosting/docs") {
			t.Errorf("the CLI printed the schemas of %s", address)
		}
		// An older CLI leaves out what it does not know.
		for kind, schema := range schemas {
			if got := ours.ProviderSchemas["docs"][kind]; !reflect.DeepEqual(got, schema) {
				t.Errorf("%s is %v,\nwant %v", kind, got, schema)
			}
		}
	}
	if len(theirs.ProviderSchemas) != 1 {
		t.Errorf("the CLI printed %d schemas, want 1", len(theirs.ProviderSchemas))
	}
}
