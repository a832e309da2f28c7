//go:build linux

package bench

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const (
	planRounds = 3
	reads      = 1000
)

// readers are data sources that read the service.
var readers = []struct{ name, source, config string }{
	{"ours", ownSource, `
provider "docs" {
  base_url    = "BASE_URL"
  api_key     = "API_KEY"
  ca_cert_pem = local.certificate
}

data "docs_update_status" "this" {
  count     = 1000
  status_id = "update-${count.index}"
}
`},
	{"http", "registry.terraform.io/hashicorp/http", `
data "http" "this" {
  count           = 1000
  url             = "BASE_URL/project/update-status/update-${count.index}"
  request_headers = { Authorization = "Bearer API_KEY" }
  ca_cert_pem     = local.certificate
}
`},
}

// BenchmarkPlan has Terraform plan 1000 reads over TLS. What is compared takes turns.
func BenchmarkPlan(b *testing.B) {
	c := newCLI(b)
	service := simulator.New(simulator.Options{Queue: -1, Run: -1})
	for i := range reads {
		service.AddUpdate(simulator.UpdateSpec{ID: fmt.Sprint("update-", i)})
	}
	server := httptest.NewUnstartedServer(service)
	var connections atomic.Int64
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	fill := strings.NewReplacer("BASE_URL", server.URL+"/v1", "API_KEY", simulator.DefaultAPIKey)

	workspaces, measured := map[string]*workspace{}, map[string]medians{}
	for _, r := range readers {
		workspaces[r.name] = c.workspace(b, r.source, fill.Replace(r.config)+"\nlocals {\n  certificate = <<-EOT\n"+certificate+"  EOT\n}\n")
		measured[r.name] = medians{}
	}
	for range planRounds {
		for _, r := range readers {
			w := workspaces[r.name]
			if w == nil {
				continue
			}
			service.ResetRequests()
			connections.Store(0)
			wall, cpu, err := w.run("plan", "-input=false")
			if err != nil {
				b.Fatal(err)
			}
			measured[r.name].add("wall-s", wall.Seconds())
			measured[r.name].add("cpu-s", cpu.Seconds())
			measured[r.name].add("requests", float64(len(service.Requests())))
			measured[r.name].add("connections", float64(connections.Load()))
		}
	}
	for _, r := range readers {
		measured[r.name].report(b, r.name)
	}
}
