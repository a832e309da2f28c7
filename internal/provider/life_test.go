// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// TestLifeOfAnExport is the test to run on another system: everything a user does with
// an export and its files, and a file of the user's beside them.
func TestLifeOfAnExport(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	c.Write(t, "notes.txt", "mine")
	revision := func(number, pages int) {
		t.Helper()
		h.NextJob(simulator.JobSpec{Pages: pages})
		c.write(t, fmt.Sprintf("resource \"docs_static_export\" \"site\" {\n  domain = \"docs.example.com\"\n  triggers = { revision = %d }\n}\n", number)+
			fmt.Sprintf("resource \"docs_bundle_download\" \"site\" {\n  job_id = docs_static_export.site.job_id\n  path = %q\n  extract_to = %q\n}\n",
				c.inFolder("bundle.tar.gz"), c.inFolder("site")))
		c.Run(t, 0, "apply", "-auto-approve")
		c.wantEmptyPlan(t)
		// Two of the built-in files are no pages.
		if files := c.disk(t, "site"); len(files) != pages+2 || files["index.html"] == "" {
			t.Errorf("revision %d has %d files, want %d pages and 2 assets", number, len(files), pages)
		}
		if archive := c.disk(t, ".")["bundle.tar.gz"]; checksum(archive) != c.values(t)[siteBundle]["sha256"] {
			t.Errorf("the state does not describe the archive of revision %d", number)
		}
	}
	revision(1, 3)
	revision(2, 5)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2, simulator.EndpointDownload: 2})

	c.Run(t, 0, "destroy", "-auto-approve")
	files := c.disk(t, ".")
	if files["bundle.tar.gz"] != "" || files["site/index.html"] != "" || files["notes.txt"] != "mine" {
		t.Errorf("after the destroy, the folder has %d files, with notes.txt: %q", len(files), files["notes.txt"])
	}
}
