package provider

import (
	"log"
	"os"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
)

// serveVariable makes the program of the tests serve the provider, so that the CLI
// starts it like a released one and has its log.
const serveVariable = "DOCS_TEST_SERVE"

func TestMain(m *testing.M) {
	if address := os.Getenv(serveVariable); address != "" {
		if err := tf6server.Serve(address, NewServer(Options{Version: "test"})); err != nil {
			log.Fatal(err)
		}
		return
	}
	clitest.Setenv()
	os.Exit(m.Run())
}
