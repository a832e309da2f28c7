package provider

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// everything has each object of the provider, with each of its arguments. A job that has failed has another attribute.
// The verbs are the path and the checksum of the download.
const everything = `
resource "docs_static_export" "all" {
  domain                = "docs.example.com"
  triggers              = { revision = "1" }
  additional_parameters = jsonencode({ version = 7 })
  link_renewal          = "on_expiry"
  renew_before          = "1m"
  poll_interval         = "10s"
  timeouts {
    create = "30m"
    update = "30m"
  }
}

resource "docs_bundle_download" "all" {
  job_id = "completed"
  path   = %q
  sha256 = %q
  unpack = true
  timeouts {
    create = "30m"
    update = "30m"
  }
}

resource "docs_update_gate" "all" {
  status_id     = "upd_1"
  triggers      = { revision = "1" }
  poll_interval = "10s"
  timeouts { create = "30m" }
}

data "docs_update_status" "all" {
  status_id           = "upd_1"
  wait_for_completion = true
  fail_on_failure     = true
  poll_interval       = "10s"
  timeouts { read = "30m" }
}

data "docs_static_export_job" "all" {
  job_id = "completed"
  timeouts { read = "30m" }
}

data "docs_static_export_job" "failed" {
  job_id = "failed"
}

ephemeral "docs_static_export_bundle" "all" {
  job_id = "completed"
  timeouts { open = "30m" }
}

resource "terraform_data" "ephemeral" {
  provisioner "local-exec" {
    command     = "printf %%s \"$ALL\" > ephemeral.json"
    environment = { ALL = jsonencode(ephemeral.docs_static_export_bundle.all) }
  }
}
`

// TestEachArgumentIsSetAndEachAttributeHasAValue notices an attribute that is always null, and an argument that no test
// sets. Those of the action and of the provider are noticed where tests set them.
func TestEachArgumentIsSetAndEachAttributeHasAValue(t *testing.T) {
	t.Parallel()
	archive, err := os.ReadFile("../bundle/testdata/git.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, simulator.Options{Queue: ended, Run: ended})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Queue: ended, Run: ended})
	h.service.AddJob(simulator.JobSpec{ID: "completed", Archive: archive})
	h.service.AddJob(simulator.JobSpec{ID: "failed", Fail: "page /broken does not render"})
	c := h.cli(t, "")
	c.terraform.SkipBelow(t, 10, 11, "ephemeral resources")
	config := fmt.Sprintf(everything, c.inFolder("bundle"), checksum(string(archive)))
	c.write(t, config)
	c.apply(t, 0)
	ephemeral, err := os.ReadFile(c.inFolder("ephemeral.json"))
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string][]map[string]any{"ephemeral docs_static_export_bundle": {object(t, string(ephemeral))}} // by the beginnings of their blocks
	for address, attributes := range c.values(t) {
		kind, address := "resource", address
		if rest, ok := strings.CutPrefix(address, "data."); ok {
			kind, address = "data", rest
		}
		name, _, _ := strings.Cut(address, ".")
		objects[kind+" "+name] = append(objects[kind+" "+name], attributes)
	}
	for _, b := range configure(t, h.server()(), nil).blocks() {
		if b.kind == "provider" || b.kind == "action" {
			continue
		}
		_, block, _ := strings.Cut(config, fmt.Sprintf("\n%s %q \"all\" {", b.kind, b.name))
		block, _, _ = strings.Cut(block, "\n}\n")
		for _, attribute := range b.schema.Attributes {
			hasValue := func(object map[string]any) bool { return object[attribute.Name] != nil }
			isSet := !attribute.Optional || strings.Contains(block, "\n  "+attribute.Name+" ") // a default does not count
			if !isSet || !slices.ContainsFunc(objects[b.String()], hasValue) {
				t.Errorf("%s of %s has no value: set the argument in everything, or make the service return its field", attribute.Name, b)
			}
		}
	}
}
