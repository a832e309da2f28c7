package provider

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// No refresh can request a bundle, so the apply does before it exports the site again.
func TestBundleThatIsBackIsNotExportedAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export())
	c.apply(t, 0)
	h.clock.Advance(2 * time.Hour)
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 404, Lasts: 40 * time.Second})
	wantPhrases(t, c.apply(t, 1, "-refresh=false"), "Error: Could not renew the bundle link", "HTTP 404", "If the service still cannot find the job or its bundle, the next apply exports the site again.")
	h.clock.Advance(time.Hour)
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), "~ job_id", "Warning: Static export job or bundle is missing", "This plan tries again to create a link")
	c.apply(t, 0)
	c.wantJob(t, 0)
	c.wantEmptyPlan(t)
	c.wantStarts(t, 1)
}

func TestPendingJobThatIsGoneIsForgottenWhenTheOldBundleIsBack(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, revision("1", `timeouts { update = "10m" }`))
	c.apply(t, 0)
	h.clock.Advance(2 * time.Hour)
	back := h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 404})
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	c.apply(t, 1)                                            // marks the bundle
	wantPhrases(t, c.apply(t, 1), "Static export timed out") // of another job
	back()
	h.service.ForgetJob(h.service.JobIDs()[1])
	c.apply(t, 0)
	c.wantJob(t, 0)
	c.write(t, revision("2"))
	if plan := c.terraform.Run(t, 0, "plan"); strings.Contains(plan, "is not resumed") {
		t.Errorf("nobody can resume the job, but the plan says:\n%s", plan)
	}
}

func TestMissingBundleIsExportedOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export(`timeouts { update = "10m" }`))
	c.apply(t, 0)
	lost := h.service.JobIDs()[0]
	h.clock.Advance(2 * time.Hour)
	defer h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 404, Match: func(r simulator.Request) bool { return r.ID == lost }})()
	c.apply(t, 1)
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	const repeated = "Warning: Job or bundle was not found: job "
	wantPhrases(t, c.apply(t, 1), repeated+lost)
	replacement := h.service.JobIDs()[1]
	defer h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Status: 404, Match: func(r simulator.Request) bool { return r.ID == replacement }})()
	wantPhrases(t, c.apply(t, 0), repeated+replacement, repeated+lost, "for 30 seconds, so the apply continued without it.")
	c.wantJob(t, 2)
	c.wantEmptyPlan(t)
	h.wantStarts(t, 3)
}

// Right after its start, a job may be unknown for longer than half a minute, and then be known to
// only some nodes of the service.
func TestJobThatWasMissingAfterItsStartIsResumed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, export())
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Status: 404, Lasts: 45 * time.Second})
	wantPhrases(t, c.apply(t, 1), "Error: Static export job not found", "terraform untaint ADDRESS")
	c.terraform.Run(t, 0, "untaint", site)
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan", "-refresh=false")), "Warning: Static export job or bundle is missing")
	h.clock.Advance(time.Minute)
	asked := 0
	defer h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Status: 404, Match: func(simulator.Request) bool {
		asked++
		return asked%3 == 1
	}})()
	c.apply(t, 0)
	c.wantJob(t, 0)
	h.wantStarts(t, 1)
}

// If the provider is killed during an update, Terraform keeps the attributes and stores no
// private state.
func TestLostPrivateStateIsReported(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, "")
	_, pending := c.cutOff(t)
	c.editPrivate(t, func(map[string][]byte) map[string][]byte { return nil })

	const lost = "Warning: Private state was lost: job "
	c.write(t, revision("1"))
	h.clock.Advance(2 * time.Hour)
	if plan := c.terraform.Run(t, 0, "plan"); strings.Contains(plan, lost) {
		t.Errorf("a renewal starts nothing, but its plan says:\n%s", plan)
	}
	c.terraform.Run(t, 0, "apply", "-refresh-only", "-auto-approve")
	c.write(t, revision("2"))
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), lost+h.service.JobIDs()[0], "This plan may start another job.", `see "A job may have been started"`)

	// The procedure of that page: import the job that is still there.
	c.terraform.Run(t, 0, "state", "rm", site)
	c.terraform.Run(t, 0, "import", site, "docs.example.com,"+pending)
	var kept map[string][]byte
	c.editPrivate(t, func(private map[string][]byte) map[string][]byte { kept = private; return nil })
	if plan := c.terraform.Run(t, 0, "plan"); !strings.Contains(plan, lost) || strings.Contains(plan, "is not resumed") {
		t.Errorf("an imported job without a link need not be unfinished, but the plan says:\n%s", plan)
	}
	c.editPrivate(t, func(map[string][]byte) map[string][]byte { return kept })
	c.apply(t, 0)
	c.wantJob(t, 1)
	if output := c.terraform.Run(t, 0, "plan", "-detailed-exitcode"); strings.Contains(output, lost) {
		t.Errorf("the private state is there, but the plan says:\n%s", output)
	}
	c.write(t, revision("3"))
	if plan := c.terraform.Run(t, 0, "plan"); strings.Contains(plan, lost) {
		t.Errorf("the private state is there, but the plan says:\n%s", plan)
	}
}

// The version that wrote it can still read it. Until then, the job and its link are known from the
// state.
func TestRefreshLeavesThePrivateStateOfALaterVersion(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export())
	c.apply(t, 0)
	later := `{"unknown":1}`
	unreadable := func(private map[string][]byte) map[string][]byte {
		private[notesKey] = []byte(later)
		return private
	}
	wantUnchanged := func(private map[string][]byte) map[string][]byte {
		if string(private[notesKey]) != later {
			t.Errorf("the private state is %s, want %s", private[notesKey], later)
		}
		return private
	}
	c.editPrivate(t, unreadable)
	c.apply(t, 0, "-refresh-only")
	c.editPrivate(t, wantUnchanged)
	later = `{"pending":"se_2"}`
	c.editPrivate(t, unreadable)
	wantPhrases(t, c.apply(t, 0, "-refresh-only"), "Warning: Private state is unreadable: job "+h.service.JobIDs()[0])
	c.wantEmptyPlan(t)
	c.editPrivate(t, wantUnchanged)
	h.clock.Advance(2 * time.Hour)
	wantPhrases(t, c.apply(t, 0), "1 changed")
	c.wantJob(t, 0)
	c.write(t, revision("new"))
	wantPhrases(t, c.terraform.Run(t, 0, "plan"), "Warning: Private state was lost: job "+h.service.JobIDs()[0])
	c.write(t, export())

	c.editPrivate(t, unreadable)
	h.service.ForgetJob(h.service.JobIDs()[0])
	c.apply(t, 0)
	c.wantJob(t, 0) // another one
	c.wantEmptyPlan(t)
}

func TestJobThatFailsAfterATimeoutIsExplainedByTheRefresh(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	c := h.cli(t, export())
	c.apply(t, 1)
	h.service.FinishJob(h.service.JobIDs()[0], "page /a is broken")
	c.terraform.Run(t, 0, "untaint", site)
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), "Warning: Static export job failed: job "+h.service.JobIDs()[0], "The service's message: page /a is broken.", "~ job_id")
	c.apply(t, 0)
	c.wantJob(t, 1)
	if output := c.terraform.Run(t, 0, "plan", "-detailed-exitcode"); strings.Contains(output, "Warning") {
		t.Errorf("the plan says:\n%s", output)
	}
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
