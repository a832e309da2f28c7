// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package bench

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const (
	planRounds = 3
	// mostReads is the most of anything that is planned.
	mostReads = 1000
)

var planSizes = []int{1, 100, mostReads}

// tlsService is the simulated service behind TLS, as the real one is, that
// counts its connections. It speaks HTTP/1.1, where connections are many.
type tlsService struct {
	*simulator.Service
	*httptest.Server
	connections atomic.Int64
}

func newTLSService(b *testing.B) *tlsService {
	b.Helper()
	s := &tlsService{Service: simulator.New(simulator.Options{Queue: -1, Run: -1})}
	for i := range mostReads {
		s.AddUpdate(simulator.UpdateSpec{ID: fmt.Sprint("update-", i)})
	}
	s.Server = httptest.NewUnstartedServer(s.Service)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.StartTLS()
	b.Cleanup(s.Close)
	return s
}

func (s *tlsService) reset() {
	s.ResetRequests()
	s.connections.Store(0)
}

func (s *tlsService) certificate() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// configure fills in what the configurations have to know of the service.
func (s *tlsService) configure(config string) string {
	return strings.NewReplacer("BASE_URL", s.URL+"/v1", "API_KEY", simulator.DefaultAPIKey, "CERTIFICATE\n", s.certificate()).Replace(config)
}

const ownProvider = `
provider "docs" {
  base_url    = "BASE_URL"
  api_key     = "API_KEY"
  ca_cert_pem = <<-EOT
CERTIFICATE
  EOT
}
`

// readers are the ways to read, and what reads nothing: one data source of a
// provider, and what Terraform has built in.
var readers = []struct {
	name, source, config string
	requests             bool // one for each read
}{
	{"ours", ownSource, ownProvider + `
data "docs_update_status" "this" {
  count     = var.reads
  status_id = "update-${count.index}"
}
`, true},
	{"http", "registry.terraform.io/hashicorp/http", `
locals {
  certificate = <<-EOT
CERTIFICATE
  EOT
}

data "http" "this" {
  count           = var.reads
  url             = "BASE_URL/project/update-status/update-${count.index}"
  request_headers = { Authorization = "Bearer API_KEY" }
  ca_cert_pem     = local.certificate
}
`, true},
	{"null_data_source", "registry.terraform.io/hashicorp/null", `
data "null_data_source" "this" {
  count  = var.reads
  inputs = { id = "update-${count.index}" }
}
`, false},
	{"terraform_data", "", `
resource "terraform_data" "this" {
  count = var.reads
  input = "update-${count.index}"
}
`, false},
}

// BenchmarkPlan has the real CLI plan reads. What is compared takes turns.
func BenchmarkPlan(b *testing.B) {
	c := newCLI(b)
	service := newTLSService(b)
	workspaces := map[string]*workspace{}
	for _, r := range readers {
		w, err := c.workspace(b, r.source, "variable \"reads\" {\n  type = number\n}\n"+service.configure(r.config))
		if err != nil {
			leaveOut(r.name, err)
			continue
		}
		workspaces[r.name] = w
		if r.source != "" && r.source != ownSource {
			w.announceProvider(b, path.Base(r.source))
		}
	}
	measured := map[string]map[int]medians{}
	for range planRounds {
		for _, reads := range planSizes {
			for _, r := range readers {
				if measured[r.name] == nil {
					measured[r.name] = map[int]medians{1: {}, 100: {}, mostReads: {}}
				}
				if w := workspaces[r.name]; w != nil {
					service.plan(b, w, measured[r.name][reads], fmt.Sprint("-var=reads=", reads))
					if gets := service.Count(simulator.EndpointUpdate); r.requests && gets != reads {
						b.Fatalf("%s: %d GETs for %d reads", r.name, gets, reads)
					}
				}
			}
		}
	}
	for _, r := range readers {
		if m := measured[r.name]; len(m[mostReads]) > 0 {
			m[mostReads].add("x-linear", growth(m[1].of("cpu-s"), m[100].of("cpu-s"), m[mostReads].of("cpu-s")))
		}
	}
	for _, reads := range planSizes {
		for _, r := range readers {
			measured[r.name][reads].report(b, fmt.Sprintf("%d-reads/%s", reads, r.name))
		}
	}
}

// growth is what one of a thousand costs, in terms of one of a hundred. What the
// first costs, most of which is Terraform's start, counts for neither.
func growth(one, hundred, thousand float64) float64 {
	return (thousand - one) / (mostReads - 1) / ((hundred - one) / 99)
}

// plan measures a plan.
func (s *tlsService) plan(b *testing.B, w *workspace, to medians, args ...string) {
	b.Helper()
	s.reset()
	spent, err := w.run(append([]string{"plan", "-input=false"}, args...)...)
	if err != nil {
		b.Fatal(err)
	}
	to.addCost(spent)
	to.add("cli-MiB", mebibytes(spent.own))
	to.add("provider-MiB", mebibytes(spent.child))
	to.add("requests", float64(len(s.Requests())))
	to.add("connections", float64(s.connections.Load()))
}

// BenchmarkPlanState has the real CLI plan exports that are in state already.
func BenchmarkPlanState(b *testing.B) {
	service := newTLSService(b)
	w, err := newCLI(b).workspace(b, ownSource, service.configure(ownProvider+fmt.Sprintf(`
resource "docs_static_export" "this" {
  count  = %d
  domain = "site-${count.index}.example.com"
}
`, mostReads)))
	if err != nil {
		b.Fatal(err)
	}
	// Each is polled for the first time after a second, so many are made at once.
	spent, err := w.run("apply", "-auto-approve", "-input=false", "-parallelism=250")
	if err != nil {
		b.Fatal(err)
	}
	applied := medians{}
	applied.addCost(spent)
	applied.add("starts", float64(service.Count(simulator.EndpointStart)))
	applied.add("provider-MiB", mebibytes(spent.child))
	refreshed, unrefreshed := medians{}, medians{}
	// Once is enough: what counts here are the requests.
	service.plan(b, w, refreshed, "-detailed-exitcode")
	service.plan(b, w, unrefreshed, "-detailed-exitcode", "-refresh=false")
	applied.report(b, fmt.Sprintf("%d-exports/applied", mostReads))
	refreshed.report(b, fmt.Sprintf("%d-exports/refreshed", mostReads))
	unrefreshed.report(b, fmt.Sprintf("%d-exports/unrefreshed", mostReads))
}
