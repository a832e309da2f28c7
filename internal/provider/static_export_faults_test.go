// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// faultKind is a way in which one request goes wrong, once.
type faultKind struct {
	name  string
	fault simulator.Fault
	// final means that the provider does not repeat the request.
	final bool
	// acts means that the service acts on the request, but its response is lost.
	acts bool
}

var faultKinds = []faultKind{
	{name: "400", fault: simulator.Fault{Status: 400}, final: true},
	{name: "401", fault: simulator.Fault{Status: 401}, final: true},
	{name: "403", fault: simulator.Fault{Status: 403}, final: true},
	{name: "404", fault: simulator.Fault{Status: 404}, final: true},
	{name: "409", fault: simulator.Fault{Status: 409}, final: true},
	{name: "410", fault: simulator.Fault{Status: 410}, final: true},
	{name: "429", fault: simulator.Fault{Status: 429}},
	{name: "429-retry-after", fault: simulator.Fault{Status: 429, Header: http.Header{"Retry-After": {"3"}}}},
	{name: "500", fault: simulator.Fault{Status: 500}},
	{name: "503", fault: simulator.Fault{Status: 503}},
	{name: "lost-connection", fault: simulator.Fault{Cut: simulator.CutBefore}},
	{name: "cut-answer", fault: simulator.Fault{TruncateBody: 10}, acts: true},
	{name: "silence", fault: simulator.Fault{Delay: simulator.Forever}, acts: true},
}

// faultPlace is a request in the life of an export.
type faultPlace struct {
	name, endpoint string
	// passes is how many requests of the same command to the same endpoint come first.
	passes int
}

var (
	placesOfCreate   = []faultPlace{{"create-start", simulator.EndpointStart, 0}, {"create-job", simulator.EndpointJob, 0}, {"create-link", simulator.EndpointBundle, 0}}
	placesOfRefresh  = []faultPlace{{"refresh", simulator.EndpointJob, 0}}
	placesOfRenewal  = []faultPlace{{"renewal-link", simulator.EndpointBundle, 0}}
	placesOfReexport = []faultPlace{{"reexport-start", simulator.EndpointStart, 0}, {"reexport-job", simulator.EndpointJob, 1}, {"reexport-link", simulator.EndpointBundle, 0}}
	placesOfResuming = []faultPlace{{"resumption-job", simulator.EndpointJob, 1}, {"resumption-link", simulator.EndpointBundle, 0}}
	placesOfDownload = []faultPlace{{"download-job", simulator.EndpointJob, 1}, {"download-link", simulator.EndpointBundle, 1}}
	// The refresh of a run that also renews the link.
	placesOfRenewalRefresh = []faultPlace{{"renewal-job", simulator.EndpointJob, 0}}
)

// faultMatrix is a configuration with one export for each place and kind of fault.
type faultMatrix struct {
	cli     *cli
	places  []faultPlace
	content map[string]string // by the names of places whose content is not "1"
}

func (m *faultMatrix) each(places []faultPlace, do func(p faultPlace, k faultKind, name string)) {
	for _, p := range places {
		for _, k := range faultKinds {
			do(p, k, p.name+"-"+k.name)
		}
	}
}

// configure writes the configuration, in which the exports of the places have new content.
func (m *faultMatrix) configure(t *testing.T, changed ...faultPlace) {
	t.Helper()
	for _, p := range changed {
		m.content[p.name] = "2"
	}
	var config strings.Builder
	config.WriteString("provider \"docs\" {\n  request_timeout = \"2s\" # in real time\n}\n")
	m.each(m.places, func(p faultPlace, _ faultKind, name string) {
		content := "1"
		if changed := m.content[p.name]; changed != "" {
			content = changed
		}
		fmt.Fprintf(&config, "resource \"docs_static_export\" %q {\n  domain = %q\n  triggers = { revision = %q }\n  timeouts = { update = \"2m\" }\n}\n", name, name+".example.com", content)
		if slices.Contains(placesOfDownload, p) {
			fmt.Fprintf(&config, "resource \"docs_bundle_download\" %[1]q {\n  job_id = docs_static_export.%[1]s.job_id\n  path = %[2]q\n}\n", name, m.cli.terraform.Folder+"/downloads/"+name)
		}
	})
	m.cli.write(t, config.String())
}

// goWrong makes one request of each place go wrong in the chosen ways.
func (m *faultMatrix) goWrong(places []faultPlace, chosen func(faultKind) bool) {
	m.each(places, func(p faultPlace, k faultKind, name string) {
		if chosen(k) {
			fault := k.fault
			fault.Endpoint, fault.Skip, fault.Times = p.endpoint, p.passes, 1
			fault.Match = func(r simulator.Request) bool { return r.Domain == name+".example.com" }
			m.cli.service.AddFault(fault)
		}
	})
}

// TestSingleFaultHeals lets each request in the life of an export go wrong once in each way.
// After that, at most two applies heal it: the link works, the plan is empty, and no job
// was started that was not needed.
func TestSingleFaultHeals(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: 24 * time.Hour})
	m := &faultMatrix{cli: h.cli(t, ""), content: map[string]string{}, places: slices.Concat(
		placesOfCreate, placesOfRefresh, placesOfRenewalRefresh, placesOfRenewal, placesOfReexport, placesOfResuming, placesOfDownload)}
	all := func(faultKind) bool { return true }
	// A refresh that fails ends the whole command. One that is not found does not.
	endsRefresh := func(k faultKind) bool { return k.final && k.name != "404" && k.name != "410" }
	others := func(k faultKind) bool { return !endsRefresh(k) }

	m.configure(t)
	m.goWrong(placesOfCreate, all)
	// One at a time: release candidate 2 of Terraform 1.16 crashes if it saves the state just
	// before it marks a failed create as tainted.
	m.cli.apply(t, 1, "-parallelism=1")
	_, tainted := m.cli.state(t)
	for _, address := range tainted {
		m.cli.terraform.Run(t, 0, "untaint", address)
	}
	m.cli.apply(t, 0)

	m.goWrong(placesOfRefresh, endsRefresh)
	m.cli.apply(t, 1)
	m.goWrong(placesOfRefresh, others)
	m.cli.apply(t, 0)

	m.configure(t, placesOfResuming...)
	m.each(placesOfResuming, func(faultPlace, faultKind, string) { m.cli.service.NextJob(simulator.JobSpec{Run: simulator.Forever}) })
	m.cli.apply(t, 1, "-refresh=false")
	for _, id := range m.cli.service.JobIDs() {
		m.cli.service.FinishJob(id, "")
	}

	h.clock.Advance(48 * time.Hour)
	if err := os.RemoveAll(filepath.Join(m.cli.terraform.Folder, "downloads")); err != nil {
		t.Fatal(err)
	}
	m.configure(t, placesOfReexport...)
	m.goWrong(placesOfRenewalRefresh, endsRefresh)
	m.cli.apply(t, 1)
	m.goWrong(placesOfRenewalRefresh, others)
	m.goWrong(slices.Concat(placesOfRenewal, placesOfReexport, placesOfResuming, placesOfDownload), all)
	m.cli.apply(t, 1)
	m.cli.apply(t, 0)
	m.cli.wantEmptyPlan(t)

	values := m.cli.values(t)
	m.each(m.places, func(p faultPlace, k faultKind, name string) {
		state := values["docs_static_export."+name]
		expiresAt, err := time.Parse(time.RFC3339, fmt.Sprint(state["expires_at"]))
		if err != nil || !h.clock.Now().Before(expiresAt) || state["bundle_url"] == nil {
			t.Errorf("%s: no link that works: %v", name, state)
		}
		want := 1
		if m.content[p.name] == "2" {
			want++
		}
		if p.endpoint == simulator.EndpointStart && k.acts {
			want++ // nobody knows the ID of the first one
		}
		if jobs := h.service.JobIDsOf(name + ".example.com"); len(jobs) != want {
			t.Errorf("%s: %d jobs, want %d", name, len(jobs), want)
		}
	})
}
