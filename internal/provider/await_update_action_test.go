package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestAccAwaitUpdateAction(t *testing.T) {
	const address = "terraform_data.test"
	acc := newAcceptance(t, statusIDVariable)
	config := func(input string) string {
		return fmt.Sprintf(`
action "docs_await_update" "test" {
  config {
    status_id = %q
  }
}

resource "terraform_data" "test" {
  input = %q

  lifecycle {
    action_trigger {
      events  = [before_create, before_update]
      actions = [action.docs_await_update.test]
    }
  }
}
`, acc.statusID, input)
	}
	resource.ParallelTest(t, resource.TestCase{
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_14_0)},
		ProtoV6ProviderFactories: acc.providers,
		Steps: []resource.TestStep{
			{Config: config("1"), ConfigPlanChecks: expectAction(address, plancheck.ResourceActionCreate)},
			{Config: config("2"), ConfigPlanChecks: expectAction(address, plancheck.ResourceActionUpdate)},
		},
	})
	acc.wantWork(t, counts{update: 2})
}

const awaitUpdate = "docs_await_update"

// invocation returns a request to run the action for update upd_1, with a timeout of 30 minutes. Terraform runs actions
// since 1.14, so most tests invoke them without it.
func (s *configured) invocation(t *testing.T) *tfprotov6.InvokeActionRequest {
	t.Helper()
	const arguments = `{"status_id": "upd_1", "poll_interval": "10s", "timeouts": {"invoke": "30m"}}`
	schema := s.schemas.ActionSchemas[awaitUpdate].Schema
	for _, attribute := range schema.Block.Attributes {
		if object(t, arguments)[attribute.Name] == nil {
			t.Errorf("no test sets the argument %s of the action: add it to arguments", attribute.Name)
		}
	}
	value, err1 := tfprotov6.RawState{JSON: []byte(arguments)}.Unmarshal(schema.ValueType())
	config, err2 := tfprotov6.NewDynamicValue(schema.ValueType(), value)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return &tfprotov6.InvokeActionRequest{ActionType: awaitUpdate, Config: &config}
}

// invoke runs the action, and returns its progress messages and its errors.
func (s *configured) invoke(t *testing.T) (progress []string, said string) {
	t.Helper()
	stream, err := s.ProviderServer.(tfprotov6.ActionServer).InvokeAction(t.Context(), s.invocation(t))
	if err != nil {
		t.Fatal(err)
	}
	for event := range stream.Events {
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			progress = append(progress, event.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			for _, d := range event.Diagnostics {
				said += d.Summary + "\n" + d.Detail + "\n"
			}
		}
	}
	return progress, said
}

func TestActionReportsEachStatusAndFailsUnlessTheUpdateSucceeds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		updates  string
		progress []string
		said     string // begins with this
	}{
		"success after a wait": {
			`{"status":"queued"} then {"status":"in_progress"} then {"status":"success"}`,
			[]string{"Update upd_1: queued", "Update upd_1: in_progress", "Update upd_1 succeeded"},
			"",
		},
		"failure": {`{"status":"failure"}`, nil, summaryUpdateFailed},
		"timeout": {
			`{"status":"queued"}`,
			[]string{"Update upd_1: queued"},
			summaryUpdateTimedOut + "\nThe operation did not finish within 30m (timeouts.invoke).",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				progress, said := configure(t, serverOn(answers{"update": test.updates}.network(nil, nil), nil), nil).invoke(t)
				if !slices.Equal(progress, test.progress) {
					t.Errorf("progress %q, want %q", progress, test.progress)
				}
				if !strings.HasPrefix(said, test.said) || test.said == "" && said != "" {
					t.Errorf("the action says:\n%s", said)
				}
			})
		})
	}
}

func TestInterruptedActionFailsInTerraform(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Run: simulator.Forever})
	c := h.cli(t, "action \"docs_await_update\" \"update\" {\n  config {\n    status_id = \"upd_1\"\n  }\n}\n")
	if c.terraform.IsOpenTofu() {
		t.Skip("OpenTofu has no actions")
	}
	c.terraform.SkipBelow(t, 14, 0, "actions")
	output := c.interrupt(t, simulator.EndpointUpdate, "apply", "-auto-approve", "-invoke=action.docs_await_update.update")
	wantPhrases(t, output, summaryUpdateInterrupted)
}
