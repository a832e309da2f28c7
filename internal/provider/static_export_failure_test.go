package provider

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestStartThatFailsLeavesNoState(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, siteExport())
	later := http.Header{"Retry-After": {"7200"}}
	for _, test := range []struct {
		fault simulator.Fault
		says  string
	}{
		{simulator.Fault{Status: 429, Header: later}, "No job was started"},
		{simulator.Fault{Status: 503, Header: later, Acts: true}, "A job may have been started"},
	} {
		test.fault.Endpoint, test.fault.Times = simulator.EndpointStart, 1
		h.service.AddFault(test.fault)
		h.service.ResetRequests()
		wantPhrases(t, c.apply(t, 1), "Error: "+summaryStartFailed, test.says)
		h.wantCounts(t, counts{start: 1})
		if state := c.values(t)[site]; state != nil {
			t.Errorf("the state is %v", state)
		}
	}
}

func TestRefreshSendsOneGETRequestARenewalNeedsNoneAndADestroyNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Minute})
	c := h.cli(t, siteExport())
	c.apply(t, 0)
	h.clock.Advance(time.Hour)
	for _, step := range []struct {
		flag, says string
		want       counts
	}{{"-refresh-only", "No changes.", counts{job: 1}}, {"-refresh=false", "0 added, 1 changed", counts{bundle: 1}}} {
		h.service.ResetRequests()
		output := c.apply(t, 0, step.flag)
		wantPhrases(t, output, step.says)
		if strings.Contains(output, "~ status") || strings.Contains(output, "~ job_id") {
			t.Errorf("a renewal changes only the link, but the plan says:\n%s", output)
		}
		h.wantCounts(t, step.want)
	}
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Status: 500})
	wantPhrases(t, c.apply(t, 1), "Error: "+summaryJobUnreadable, "HTTP 500", "-refresh=false")
	h.service.ResetRequests()
	c.terraform.Run(t, 0, "destroy", "-auto-approve", "-refresh=false")
	h.wantCounts(t, counts{})
}

func TestWrongBaseURLLosesNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, "")
	c.cutOff(t)
	before := c.values(t)[site]
	h.clock.Advance(2 * time.Hour)
	h.env.Store(baseURLVariable, strings.TrimSuffix(h.service.BaseURL, "1")+"9")
	c.apply(t, 1, "-refresh=false")
	for range 2 {
		wantPhrases(t, c.apply(t, 1), "Warning: "+summaryJobNotFound)
	}
	if after := c.values(t)[site]; after["job_id"] != before["job_id"] || after["bundle_url"] != before["bundle_url"] {
		t.Errorf("the state was %v and is %v", before, after)
	}
	h.env.Store(baseURLVariable, h.service.BaseURL)
	c.apply(t, 0)
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
	if jobs := h.service.JobIDs(); len(jobs) != 2 {
		t.Errorf("%d jobs, want the two of before", len(jobs))
	}
}

// If the provider is killed during an update, Terraform keeps the attributes and stores no private
// state. A pending job is lost with it, and can be imported.
func TestPrivateStateThatIsLostCostsNoMoreThanAPendingJob(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, "")
	_, pending := c.cutOff(t)
	c.editPrivate(t, func(map[string][]byte) map[string][]byte { return nil })
	c.write(t, revision("1"))
	h.clock.Advance(2 * time.Hour)
	c.apply(t, 0)
	c.wantJob(t, 0)
	c.terraform.Run(t, 0, "state", "rm", site)
	c.terraform.Run(t, 0, "import", site, "docs.example.com,"+pending)
	c.apply(t, 0)
	c.wantJob(t, 1)
	h.wantStarts(t, 1)
}

func TestPrivateStateThatIsUnreadableIsAnErrorUntilItIsReadAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, siteExport())
	c.apply(t, 0)
	var kept []byte
	c.editPrivate(t, func(private map[string][]byte) map[string][]byte {
		kept, private[privateExportKey] = private[privateExportKey], []byte(`{"new_field":1}`)
		return private
	})
	for _, args := range [][]string{{"plan"}, {"plan", "-refresh=false"}, {"destroy", "-auto-approve"}} {
		wantPhrases(t, c.terraform.Run(t, 1, args...), "Error: "+summaryPrivateUnreadable+": job "+h.service.JobIDs()[0])
	}
	c.editPrivate(t, func(private map[string][]byte) map[string][]byte {
		private[privateExportKey] = kept
		return private
	})
	c.wantEmptyPlan(t)
}

// editPrivate changes the private state of the export in the state file; nil removes it.
func (c *cli) editPrivate(t *testing.T, edit func(map[string][]byte) map[string][]byte) {
	t.Helper()
	name := filepath.Join(c.terraform.Folder, "terraform.tfstate")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	instance := state["resources"].([]any)[0].(map[string]any)["instances"].([]any)[0].(map[string]any)
	var private map[string][]byte
	encoded, _ := instance["private"].(string)
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err == nil && encoded != "" {
		err = json.Unmarshal(decoded, &private)
	}
	if err != nil {
		t.Fatal(err)
	}
	delete(instance, "private")
	if private = edit(private); private != nil {
		decoded, _ = json.Marshal(private)
		instance["private"] = base64.StdEncoding.EncodeToString(decoded)
	}
	text, _ = json.Marshal(state)
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
