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
	placesOfStart    = []faultPlace{{"create-start", simulator.EndpointStart, 0}}
	placesOfCreate   = []faultPlace{{"create-job", simulator.EndpointJob, 0}, {"create-job-late", simulator.EndpointJob, 2}, {"create-link", simulator.EndpointBundle, 0}}
	placesOfRefresh  = []faultPlace{{"refresh", simulator.EndpointJob, 0}}
	placesOfRenewal  = []faultPlace{{"renewal-link", simulator.EndpointBundle, 0}}
	placesOfRestart  = []faultPlace{{"reexport-start", simulator.EndpointStart, 0}}
	placesOfReexport = []faultPlace{{"reexport-job", simulator.EndpointJob, 1}, {"reexport-link", simulator.EndpointBundle, 0}}
	placesOfResuming = []faultPlace{{"resumption-job", simulator.EndpointJob, 1}, {"resumption-link", simulator.EndpointBundle, 0}}
	placesOfDownload = []faultPlace{{"download-job", simulator.EndpointJob, 1}, {"download-link", simulator.EndpointBundle, 1}}
	// The refresh of a run that also renews the link.
	placesOfRenewalRefresh = []faultPlace{{"renewal-job", simulator.EndpointJob, 0}}
	placesAfterStarts      = slices.Concat(placesOfCreate, placesOfRefresh, placesOfRenewalRefresh, placesOfRenewal, placesOfReexport, placesOfResuming, placesOfDownload)
)

// faultMatrix is a configuration with one export for each place and kind of fault.
type faultMatrix struct {
	cli    *cli
	kinds  []faultKind
	places []faultPlace
	// lasts is how long a fault lasts; a single request if it is zero.
	lasts   time.Duration
	content map[string]string // by the names of places whose content is not "1"
}

func (m *faultMatrix) each(places []faultPlace, do func(p faultPlace, k faultKind, name string)) {
	for _, p := range places {
		for _, k := range m.kinds {
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
	config.WriteString("provider \"docs\" {\n  request_timeout = \"1s\" # in real time\n}\n")
	m.each(m.places, func(p faultPlace, _ faultKind, name string) {
		content := "1"
		if changed := m.content[p.name]; changed != "" {
			content = changed
		}
		fmt.Fprintf(&config, "resource \"docs_static_export\" %q {\n  domain = %q\n  triggers = { revision = %q }\n  timeouts = { update = \"5m\" }\n}\n", name, name+".example.com", content)
		if slices.Contains(placesOfDownload, p) {
			fmt.Fprintf(&config, "resource \"docs_bundle_download\" %[1]q {\n  job_id = docs_static_export.%[1]s.job_id\n  path = %[2]q\n}\n", name, m.cli.terraform.Folder+"/downloads/"+name)
		}
	})
	m.cli.write(t, config.String())
}

// goWrong makes requests of each of the matrix's places go wrong in the chosen ways.
func (m *faultMatrix) goWrong(places []faultPlace, chosen func(faultKind) bool) {
	m.each(places, func(p faultPlace, k faultKind, name string) {
		if !chosen(k) || !slices.Contains(m.places, p) {
			return
		}
		fault := k.fault
		fault.Endpoint, fault.Skip, fault.Lasts = p.endpoint, p.passes, m.lasts
		if m.lasts == 0 {
			fault.Times = 1
		}
		fault.Match = func(r simulator.Request) bool { return r.Domain == name+".example.com" }
		m.cli.service.AddFault(fault)
	})
}

// TestSingleFaultHeals lets each request in the life of an export go wrong once in each way.
func TestSingleFaultHeals(t *testing.T) {
	t.Parallel()
	m := &faultMatrix{kinds: faultKinds, places: slices.Concat(placesOfStart, placesOfRestart, placesAfterStarts)}
	// A refresh that fails ends the whole command. One that is not found does not.
	m.heals(t, func(k faultKind) bool { return k.final && k.name != "404" && k.name != "410" })
}

// TestLastingFaultHeals does the same with faults that last for 20 seconds, longer than all
// retries of a request.
func TestLastingFaultHeals(t *testing.T) {
	t.Parallel()
	m := &faultMatrix{places: placesAfterStarts, lasts: 20 * time.Second}
	for _, k := range faultKinds {
		if !slices.Contains([]string{"429", "429-retry-after", "cut-answer"}, k.name) {
			m.kinds = append(m.kinds, k)
		}
	}
	m.heals(t, func(k faultKind) bool { return k.name != "404" && k.name != "410" })
}

// heals checks that no fault after a start fails a first export, and that one more apply heals
// what any other fault has failed: the link works, the plan is empty, nothing was tainted, and
// no job was started that was not needed.
func (m *faultMatrix) heals(t *testing.T, endsRefresh func(faultKind) bool) {
	t.Helper()
	h := newHarness(t, simulator.Options{Run: 90 * time.Second, LinkLifetime: 24 * time.Hour})
	h.clock.Speed = 50
	m.cli, m.content = h.cli(t, ""), map[string]string{}
	all := func(faultKind) bool { return true }
	others := func(k faultKind) bool { return !endsRefresh(k) }
	apply := func(wantExit int) {
		t.Helper()
		m.cli.apply(t, wantExit)
		if _, tainted := m.cli.state(t); len(tainted) > 0 {
			t.Errorf("tainted: %v", tainted)
		}
		h.clock.Advance(m.lasts)
	}

	m.configure(t)
	m.goWrong(placesOfStart, all)
	m.goWrong(placesOfCreate, all)
	if slices.Contains(m.places, placesOfStart[0]) {
		apply(1)
		values := m.cli.values(t)
		m.each(m.places, func(p faultPlace, _ faultKind, name string) {
			if p != placesOfStart[0] && values["docs_static_export."+name]["bundle_url"] == nil {
				t.Errorf("the first export of %s failed", name)
			}
		})
	}
	apply(0)

	m.goWrong(placesOfRefresh, endsRefresh)
	apply(1)
	m.goWrong(placesOfRefresh, others)
	apply(0)

	m.configure(t, placesOfResuming...)
	m.each(placesOfResuming, func(faultPlace, faultKind, string) { h.service.NextJob(simulator.JobSpec{Run: simulator.Forever}) })
	m.cli.apply(t, 1, "-refresh=false")
	for _, id := range h.service.JobIDs() {
		h.service.FinishJob(id, "")
	}

	h.clock.Advance(48 * time.Hour)
	if err := os.RemoveAll(filepath.Join(m.cli.terraform.Folder, "downloads")); err != nil {
		t.Fatal(err)
	}
	m.configure(t, slices.Concat(placesOfRestart, placesOfReexport)...)
	m.goWrong(placesOfRenewalRefresh, endsRefresh)
	apply(1)
	m.goWrong(placesOfRenewalRefresh, others)
	m.goWrong(slices.Concat(placesOfRenewal, placesOfRestart, placesOfReexport, placesOfResuming, placesOfDownload), all)
	apply(1)
	apply(0)
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
