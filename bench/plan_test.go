//go:build linux

package bench

import (
	"cmp"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const (
	planRounds = 3
	reads      = 1000
)

// readers are providers with a data source that reads the service, and a configuration that plans 1000 reads.
var readers = []struct{ name, config string }{
	{"ours", `
terraform {
  required_providers {
    docs = { source = "registry.terraform.io/docs-hosting/docs" }
  }
}

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
	{"http", `
terraform {
  required_providers {
    http = { source = "registry.terraform.io/hashicorp/http" }
  }
}

data "http" "this" {
  count           = 1000
  url             = "BASE_URL/project/update-status/update-${count.index}"
  request_headers = { Authorization = "Bearer API_KEY" }
  ca_cert_pem     = local.certificate
}
`},
}

// BenchmarkPlan has Terraform plan 1000 reads over TLS. The providers take turns.
func BenchmarkPlan(b *testing.B) {
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

	compared := readers
	if os.Getenv("PEERS") == "" {
		compared = readers[:1]
	}
	terraform := newCLI(b)
	folders, measured := map[string]string{}, map[string]medians{}
	for _, r := range compared {
		folders[r.name], measured[r.name] = b.TempDir(), medians{}
		config := fill.Replace(r.config) + "\nlocals {\n  certificate = <<-EOT\n" + certificate + "  EOT\n}\n"
		write(b, filepath.Join(folders[r.name], "main.tf"), config)
		terraform(folders[r.name], "init")
	}
	for range planRounds {
		for _, r := range compared {
			service.ResetRequests()
			connections.Store(0)
			wall, cpu := terraform(folders[r.name], "plan")
			measured[r.name].add("wall-s", wall.Seconds())
			measured[r.name].add("cpu-s", cpu.Seconds())
			measured[r.name].add("requests", float64(len(service.Requests())))
			measured[r.name].add("connections", float64(connections.Load()))
		}
	}
	for _, r := range compared {
		measured[r.name].report(b, r.name)
	}
}

// newCLI returns a function that runs Terraform or OpenTofu in a folder. The CLI takes this provider, built as a
// release is, and those in PEERS.
func newCLI(b *testing.B) (run func(folder, command string) (wall, cpu time.Duration)) {
	b.Helper()
	binary, err := exec.LookPath(cmp.Or(os.Getenv("TF_ACC_TERRAFORM_PATH"), "terraform"))
	if err != nil {
		b.Fatal(err)
	}
	own := b.TempDir()
	target := fmt.Sprintf("registry.terraform.io/docs-hosting/docs/0.0.1/%s_%s", runtime.GOOS, runtime.GOARCH)
	program := filepath.Join(own, target, "terraform-provider-docs_v0.0.1")
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	measure(b, build)

	mirrors := ""
	for _, mirror := range []string{own, os.Getenv("PEERS")} {
		if mirror != "" {
			mirrors += fmt.Sprintf("  filesystem_mirror {\n    path = %q\n  }\n", mirror)
		}
	}
	config := filepath.Join(own, "cli.tfrc")
	write(b, config, "provider_installation {\n"+mirrors+"}\n")
	environment := []string{"TF_CLI_CONFIG_FILE=" + config, "CHECKPOINT_DISABLE=1"}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "TF_") && !strings.HasPrefix(variable, "DOCS_") {
			environment = append(environment, variable)
		}
	}
	return func(folder, command string) (wall, cpu time.Duration) {
		run := exec.Command(binary, command, "-input=false")
		run.Dir, run.Env = folder, environment
		return measure(b, run)
	}
}
