// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const awaitUpdate = "docs_await_update"

func TestActionTellsEachStatusAndHowItEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		update    simulator.UpdateSpec
		arguments map[string]any
		messages  []string
		said      []string      // nil: no error
		lasts     time.Duration // until 15 s more
		requests  int           // zero: not checked
	}{
		"a success after a wait": {
			update:   simulator.UpdateSpec{Queue: time.Minute, Run: 4 * time.Minute},
			messages: []string{"Update upd_1: queued", "Update upd_1: in_progress", "Update upd_1 succeeded"}, lasts: 5 * time.Minute,
		},
		"a success that is there": {
			update:   simulator.UpdateSpec{Queue: ended, Run: ended},
			messages: []string{"Update upd_1 succeeded"}, requests: 1,
		},
		"a success in fixed intervals": {
			update: simulator.UpdateSpec{Queue: time.Minute, Run: 4 * time.Minute}, arguments: map[string]any{"poll_interval": "2m"},
			messages: []string{"Update upd_1: queued", "Update upd_1: in_progress", "Update upd_1 succeeded"}, lasts: 6 * time.Minute, requests: 4,
		},
		"a failure": {
			update: simulator.UpdateSpec{Queue: ended, Run: ended, Fail: "no space"},
			said:   []string{"ERROR: Update failed", "Summary: no space", "  Error: no space"}, requests: 1,
		},
		"a failure after a wait": {
			update:   simulator.UpdateSpec{Queue: ended, Run: 4 * time.Minute, Fail: "no space"},
			messages: []string{"Update upd_1: in_progress"}, said: []string{"ERROR: Update failed"}, lasts: 4 * time.Minute,
		},
		"a timeout": {
			update: simulator.UpdateSpec{Queue: simulator.Forever}, arguments: map[string]any{"timeouts": map[string]any{"invoke": "90s"}},
			messages: []string{"Update upd_1: queued"}, said: []string{"ERROR: Update not finished in time", `was last seen with status "queued".`, `run "terraform apply -invoke=action.docs_await_update.NAME"`}, lasts: 90 * time.Second,
		},
		"a status that it does not know": {
			update:   simulator.UpdateSpec{Queue: ended, Run: simulator.Forever, RunningStatus: "paused\x1b"},
			messages: []string{"Update upd_1: paused"}, said: []string{"ERROR: Update not finished in time", `was last seen with status "paused"`}, lasts: time.Hour,
		},
		"an update that nobody knows": {
			update: simulator.UpdateSpec{ID: "upd_2"},
			said:   []string{"ERROR: Could not read the update upd_1", "HTTP 404 Not Found"}, requests: 1,
		},
		"an id that is empty": {
			arguments: map[string]any{"status_id": " "}, said: []string{"ERROR: Missing id"},
		},
		"an interval that is too short": {
			arguments: map[string]any{"poll_interval": "10ms"}, said: []string{"The duration must be at least 1s, not 10ms."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			if test.update.ID == "" {
				test.update.ID = "upd_1"
			}
			h.AddUpdate(test.update)
			arguments := map[string]any{"status_id": "upd_1"}
			for name, value := range test.arguments {
				arguments[name] = value
			}
			p := h.newProtocol(t)
			messages, diagnostics := p.invoke(p.ctx, t, awaitUpdate, arguments)
			if !slices.Equal(messages, test.messages) {
				t.Errorf("told %q, want %q", messages, test.messages)
			}
			if test.said == nil && diagnostics != "" {
				t.Error(diagnostics)
			}
			wantSaid(t, diagnostics, test.said...)
			if lasted := h.clock.Now().Sub(startOfTime); lasted < test.lasts || lasted > test.lasts+15*time.Second {
				t.Errorf("the action took %s, want %s", lasted, test.lasts)
			}
			if got := h.Count(simulator.EndpointUpdate); test.requests > 0 && got != test.requests {
				t.Errorf("%d requests, want %d", got, test.requests)
			}
		})
	}
}

func TestActionThatIsInterruptedFails(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Queue: simulator.Forever})
	p := h.newProtocol(t)
	ctx, interrupt := context.WithCancel(p.ctx)
	h.Rewrite(func(_ string, body map[string]any) any {
		if h.Count(simulator.EndpointUpdate) == 2 {
			interrupt()
		}
		return body
	})
	messages, diagnostics := p.invoke(ctx, t, awaitUpdate, map[string]any{"status_id": "upd_1"})
	if !slices.Equal(messages, []string{"Update upd_1: queued"}) {
		t.Errorf("told %q", messages)
	}
	wantSaid(t, diagnostics, "ERROR: Wait for the update interrupted")
}

// Terraform takes an action for done if the provider stops before it has told
// how the action ended.
func TestProviderStopsOnlyAfterAnActionHasToldHowItEnded(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Queue: simulator.Forever})
	polled, release, stopped := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once sync.Once
	h.Rewrite(func(_ string, body map[string]any) any {
		once.Do(func() { close(polled) })
		<-release
		return body
	})
	defer close(release)
	p := h.newProtocol(t)
	go func() {
		defer close(stopped)
		<-polled
		if _, err := p.server.StopProvider(p.ctx, &tfprotov6.StopProviderRequest{}); err != nil {
			t.Error(err)
		}
	}()
	stream, err := p.server.(tfprotov6.ActionServer).InvokeAction(p.ctx, &tfprotov6.InvokeActionRequest{
		ActionType: awaitUpdate,
		Config:     encode(t, p.schemas.ActionSchemas[awaitUpdate].Schema, map[string]any{"status_id": "upd_1"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for event := range stream.Events {
		if end, ok := event.Type.(tfprotov6.CompletedInvokeActionEventType); ok {
			wantSaid(t, said6(end.Diagnostics), "ERROR: Wait for the update interrupted")
			select {
			case <-stopped:
				t.Error("the provider has stopped before the end of the action was taken")
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	<-stopped
}

func TestActionIsTriggeredByAResource(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_good"})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_bad", Fail: "no space"})
	config := func(id string) string {
		return `
resource "terraform_data" "deploy" {
  input = "` + id + `"
  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.docs_await_update.deployed]
    }
  }
}

action "docs_await_update" "deployed" {
  config {
    status_id = "` + id + `"
  }
}
`
	}
	h.runSince(t, tfversion.Version1_14_0,
		resource.TestStep{Config: config("upd_good"), PostApplyFunc: func() {
			if h.Count(simulator.EndpointUpdate) < 2 {
				t.Error("the action did not wait for the update")
			}
		}},
		resource.TestStep{Config: config("upd_bad"), ExpectError: words(`Update upd_bad ended with status "failure". Summary: no space`)},
	)
}
