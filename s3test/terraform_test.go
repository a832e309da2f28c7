// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package s3test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestTerraformDownloadsAndRenews(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath(cmp.Or(os.Getenv("TF_ACC_TERRAFORM_PATH"), "terraform")); err != nil {
		t.Skip("needs terraform on PATH")
	}
	// The first link of the export is expired by the gateway's clock.
	s := newService(t, startGateway(t), time.Hour, fault{}, fault{before: expire}, fault{cutAfter: 1000})
	folder := filepath.ToSlash(t.TempDir())
	const export = `
resource "docs_static_export" "site" {
  domain = "docs.example.com"
}
`
	download := fmt.Sprintf(`
resource "docs_bundle_download" "bundle" {
  job_id     = docs_static_export.site.job_id
  path       = "%[1]s/bundle.tar.gz"
  extract_to = "%[1]s/site"
}
`, folder)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"docs": func() (tfprotov6.ProviderServer, error) { return provider.NewServer(s.providerOptions())(), nil },
		},
		Steps: []resource.TestStep{
			{
				Config: export,
				Check: func(state *terraform.State) error {
					s.wantLink(t, state, http.StatusForbidden)
					s.wantAsked(t, "GET: 403")
					return nil
				},
			},
			{
				PreConfig: func() { s.clock.Advance(time.Hour) }, // now it is for the provider, too
				Config:    export + download,
				Check: func(state *terraform.State) error {
					s.wantAsked(t, "GET: 403", "GET: 200", "GET bytes=1000-: 206")
					s.wantLink(t, state, http.StatusOK)
					content, err := os.ReadFile(filepath.Join(folder, "bundle.tar.gz"))
					if got := attribute(state, "docs_bundle_download.bundle", "sha256"); got != checksum(content) {
						t.Errorf("sha256 is %s, but the file has %s", got, checksum(content))
					}
					if err == nil {
						_, err = os.Stat(filepath.Join(folder, "site", "index.html"))
					}
					return err
				},
			},
		},
	})
	for endpoint, want := range map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 4} {
		if got := s.Count(endpoint); got != want {
			t.Errorf("%d requests to %q, want %d", got, endpoint, want)
		}
	}
}

func (s *service) providerOptions() provider.Options {
	env := map[string]string{"DOCS_BASE_URL": s.BaseURL, "DOCS_API_KEY": simulator.DefaultAPIKey}
	return provider.Options{
		Version:    "test",
		Getenv:     func(name string) string { return env[name] },
		HTTPClient: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
		Clock:      s.clock,
	}
}

// wantLink checks how the object store answers the link of the export.
func (s *service) wantLink(t *testing.T, state *terraform.State, want int) {
	t.Helper()
	if status, body := s.send(t, http.MethodGet, attribute(state, "docs_static_export.site", "bundle_url"), nil); status != want {
		t.Errorf("the export's link is answered with %d, want %d: %.500s", status, want, body)
	}
}

func attribute(state *terraform.State, address, name string) string {
	return state.RootModule().Resources[address].Primary.Attributes[name]
}
