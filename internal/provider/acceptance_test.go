package provider

import (
	"fmt"
	"os"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// What an acceptance test needs of a real service, besides the variables of the provider.
const (
	domainVariable   = "DOCS_DOMAIN"
	statusIDVariable = "DOCS_STATUS_ID" // of an update that succeeds
)

// acceptance is what an acceptance test runs against: the service that DOCS_BASE_URL names, or
// a simulated one.
type acceptance struct {
	domain, statusID string
	providers        map[string]func() (tfprotov6.ProviderServer, error)
	simulated        *harness // nil if the service is real
}

// newAcceptance skips the test if the service is real and one of the variables is not set.
func newAcceptance(t *testing.T, variables ...string) *acceptance {
	t.Helper()
	clitest.Find(t) // resource.Test would download one
	a, server := &acceptance{domain: os.Getenv(domainVariable), statusID: os.Getenv(statusIDVariable)}, NewServer(Options{Version: "test"})
	if os.Getenv(baseURLVariable) == "" {
		a.simulated = newHarness(t, simulator.Options{})
		a.domain, server = "docs.example.com", a.simulated.server()
		a.statusID = a.simulated.service.AddUpdate(simulator.UpdateSpec{Queue: ended, Run: ended})
	}
	for _, name := range append(variables, apiKeyVariable) {
		if a.simulated == nil && os.Getenv(name) == "" {
			t.Skipf("needs %s, because %s is set", name, baseURLVariable)
		}
	}
	a.providers = map[string]func() (tfprotov6.ProviderServer, error){
		"docs": func() (tfprotov6.ProviderServer, error) { return server(), nil },
	}
	return a
}

// wantWork checks the requests of the whole test, but for reads of jobs, if the service is simulated.
func (a *acceptance) wantWork(t *testing.T, want counts) {
	t.Helper()
	if a.simulated != nil {
		a.simulated.wantWork(t, want)
	}
}

// export returns the configuration of an export of the given content.
func (a *acceptance) export(revision string) string {
	return fmt.Sprintf(`
resource "docs_static_export" "test" {
  domain   = %q
  triggers = { revision = %q }
}
`, a.domain, revision)
}

// expectAction checks what a step plans for a resource.
func expectAction(address string, action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}}
}
