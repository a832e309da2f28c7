// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const site = "docs_static_export.site"

func attribute(name string) tfjsonpath.Path { return tfjsonpath.New(name) }

// export is the configuration of one export with further arguments.
func export(arguments string) string {
	return fmt.Sprintf("resource \"docs_static_export\" \"site\" {\n  domain = \"docs.example.com\"\n%s\n}\n", arguments)
}

// words matches a diagnostic's text however Terraform wraps it.
func words(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)` + regexp.MustCompile(`\s+`).ReplaceAllString(regexp.QuoteMeta(text), `[\s│|]+`))
}

func planned(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(site, action)}}
}

func TestOneApplyMakesOneStartAndOneBundleRequest(t *testing.T) {
	h := newHarness(t, simulator.Options{Queue: 10 * time.Second, Run: 3 * time.Minute})
	h.runSince(t, tfversion.Version1_4_6, resource.TestStep{
		Config: export(`additional_parameters = jsonencode({ version = "v7", paths = ["/", "/guide"] })`),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(site, attribute("job_id"), knownvalue.StringRegexp(regexp.MustCompile(`^se_[0-9a-f]{16}$`))),
			statecheck.ExpectKnownValue(site, attribute("status"), knownvalue.StringExact("completed")),
			statecheck.ExpectKnownValue(site, attribute("page_count"), knownvalue.Int64Exact(6)),
			statecheck.ExpectKnownValue(site, attribute("expires_at"), knownvalue.StringRegexp(regexp.MustCompile(`^2030-01-31T12:1[89]:\d\dZ$`))),
			statecheck.ExpectKnownValue(site, attribute("bundle_url"), knownvalue.StringRegexp(regexp.MustCompile(`^http://127.*X-Amz-Signature=`))),
			statecheck.ExpectSensitiveValue(site, attribute("bundle_url")),
			statecheck.ExpectKnownValue(site, attribute("bundle_size_bytes"), knownvalue.NotNull()),
			statecheck.ExpectKnownValue(site, attribute("link_renewal"), knownvalue.StringExact("on_expiry")),
			statecheck.ExpectKnownValue(site, attribute("renew_before"), knownvalue.StringExact("0s")),
			statecheck.ExpectKnownValue(site, attribute("triggers"), knownvalue.Null()),
		},
	})
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 1})

	var body map[string]any
	start := h.Requests()[0]
	if err := json.Unmarshal([]byte(start.Body), &body); err != nil {
		t.Fatal(err)
	}
	if body["domain"] != "docs.example.com" || body["version"] != "v7" || len(body["paths"].([]any)) != 2 {
		t.Errorf("the start request was %s", start.Body)
	}
	if got := start.Header.Get("User-Agent"); !regexp.MustCompile(`^Terraform/1\.\d+\.\d+ \(\+https://www\.terraform\.io\) terraform-provider-docs/test$`).MatchString(got) {
		t.Errorf("user agent %q", got)
	}
	// The job takes 190 s, and the refreshes around it one GET each: a poll a
	// second would be over this, a fixed wait of the whole time under it.
	if polls := h.Count(simulator.EndpointJob); polls < 10 || polls > 90 {
		t.Errorf("%d polls of a job of 190 s", polls)
	}
}

func TestExpiredLinkIsRenewedInPlaceFromTheSameJob(t *testing.T) {
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	sameJob := statecheck.CompareValue(compare.ValuesSame())
	otherLink := statecheck.CompareValue(compare.ValuesDiffer())
	checks := func() []statecheck.StateCheck {
		return []statecheck.StateCheck{
			sameJob.AddStateValue(site, attribute("job_id")),
			otherLink.AddStateValue(site, attribute("bundle_url")),
		}
	}
	h.run(t,
		resource.TestStep{Config: export(``), ConfigStateChecks: checks()},
		resource.TestStep{
			PreConfig:        func() { h.clock.Advance(59 * time.Minute) },
			Config:           export(``),
			ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		},
		resource.TestStep{
			PreConfig: func() { h.clock.Advance(2 * time.Minute); h.ResetRequests() },
			Config:    export(``),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(site, plancheck.ResourceActionUpdate),
				plancheck.ExpectUnknownValue(site, attribute("bundle_url")),
				plancheck.ExpectUnknownValue(site, attribute("expires_at")),
				plancheck.ExpectKnownValue(site, attribute("job_id"), knownvalue.NotNull()),
				plancheck.ExpectKnownValue(site, attribute("status"), knownvalue.StringExact("completed")),
			}},
			ConfigStateChecks: checks(),
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 1})
}

func TestRenewBeforeRenewsAheadOfTheExpiry(t *testing.T) {
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	config := export(`renew_before = "20m"`)
	h.run(t,
		resource.TestStep{Config: config},
		resource.TestStep{
			PreConfig:        func() { h.clock.Advance(39 * time.Minute) },
			Config:           config,
			ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		},
		resource.TestStep{
			PreConfig:        func() { h.clock.Advance(2 * time.Minute) },
			Config:           config,
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 2})
}

func TestServiceThatKeepsItsLinksIsAskedEarlyOnlyOnce(t *testing.T) {
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour, KeepLink: true})
	config := export(`renew_before = "20m"`)
	h.run(t,
		resource.TestStep{Config: config},
		resource.TestStep{ // asked early, the service returns the same link
			PreConfig:        func() { h.clock.Advance(45 * time.Minute) },
			Config:           config,
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
		},
		resource.TestStep{ // so nothing is planned until the expiry
			PreConfig:        func() { h.clock.Advance(10 * time.Minute) },
			Config:           config,
			ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		},
		resource.TestStep{
			PreConfig:        func() { h.clock.Advance(6 * time.Minute) },
			Config:           config,
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 3})
}

func TestRenewBeforeOverTheLifetimeSettles(t *testing.T) {
	h := newHarness(t, simulator.Options{LinkLifetime: 10 * time.Minute})
	config := export(`renew_before = "24h"`)
	h.run(t,
		resource.TestStep{Config: config},
		resource.TestStep{
			PreConfig:        func() { h.clock.Advance(4 * time.Minute) },
			Config:           config,
			ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		},
		resource.TestStep{
			PreConfig:        func() { h.clock.Advance(2 * time.Minute) },
			Config:           config,
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
		},
	)
}

func TestLinkRenewalNeverPlansNoRenewal(t *testing.T) {
	h := newHarness(t, simulator.Options{LinkLifetime: time.Minute})
	config := export(`link_renewal = "never"`)
	h.run(t,
		resource.TestStep{Config: config},
		resource.TestStep{
			PreConfig:        func() { h.clock.Advance(48 * time.Hour) },
			Config:           config,
			ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		},
		resource.TestStep{ // another update leaves the link as it is, expired or not
			Config:           export("link_renewal = \"never\"\n poll_interval = \"3s\""),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 1})
}

func TestNewContentIsExportedInPlace(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	otherJob := statecheck.CompareValue(compare.ValuesDiffer())
	checks := func() []statecheck.StateCheck {
		return []statecheck.StateCheck{otherJob.AddStateValue(site, attribute("job_id"))}
	}
	anew := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
		plancheck.ExpectResourceAction(site, plancheck.ResourceActionUpdate),
		plancheck.ExpectUnknownValue(site, attribute("job_id")),
		plancheck.ExpectUnknownValue(site, attribute("bundle_url")),
	}}
	h.run(t,
		resource.TestStep{Config: export(`triggers = { revision = "1" }`), ConfigStateChecks: checks()},
		resource.TestStep{Config: export(`triggers = { revision = "2" }`), ConfigPlanChecks: anew, ConfigStateChecks: checks()},
		resource.TestStep{
			Config:           export("triggers = { revision = \"2\" }\n additional_parameters = \"{\\\"version\\\": 1, \\\"a\\\": 2}\""),
			ConfigPlanChecks: anew, ConfigStateChecks: checks(),
		},
		resource.TestStep{ // spacing and order are no change of content
			PreConfig:        h.ResetRequests,
			Config:           export("triggers = { revision = \"2\" }\n additional_parameters = jsonencode({ a = 2, version = 1 })"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectKnownValue(site, attribute("job_id"), knownvalue.NotNull())}},
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 0})
}

func TestAnotherDomainReplacesTheExport(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.run(t,
		resource.TestStep{Config: export(``)},
		resource.TestStep{
			Config:           `resource "docs_static_export" "site" { domain = "other.example.com" }`,
			ConfigPlanChecks: planned(plancheck.ResourceActionDestroyBeforeCreate),
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2})
}

func TestFailedExportOfNewContentKeepsTheOldOne(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	var before string
	keep := statecheck.CompareValue(compare.ValuesSame())
	h.run(t,
		resource.TestStep{
			Config:            export(`triggers = { revision = "1" }`),
			ConfigStateChecks: []statecheck.StateCheck{keep.AddStateValue(site, attribute("job_id"))},
		},
		resource.TestStep{
			PreConfig: func() {
				before = h.JobIDs()[0]
				h.NextJob(simulator.JobSpec{Fail: "page /broken does not render"})
			},
			Config:      export(`triggers = { revision = "2" }`),
			ExpectError: words(`page /broken does not render`),
		},
		resource.TestStep{ // the old export is still there, and nothing to do for its triggers
			Config:            export(`triggers = { revision = "1" }`),
			ConfigPlanChecks:  planned(plancheck.ResourceActionNoop),
			ConfigStateChecks: []statecheck.StateCheck{keep.AddStateValue(site, attribute("job_id"))},
		},
		resource.TestStep{ // the next apply tries again
			Config: export(`triggers = { revision = "2" }`),
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(site, attribute("job_id"),
				knownvalue.StringFunc(func(id string) error {
					if id == before || id != h.JobIDs()[2] {
						return fmt.Errorf("job %s, want the third of %v", id, h.JobIDs())
					}
					return nil
				}))},
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 3})
}

func TestNewContentThatTimesOutIsResumed(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.run(t,
		resource.TestStep{Config: export(`triggers = { revision = "1" }`)},
		resource.TestStep{
			PreConfig:   func() { h.NextJob(simulator.JobSpec{Run: 30 * time.Minute}); h.ResetRequests() },
			Config:      export("triggers = { revision = \"2\" }\n timeouts = { update = \"5m\" }"),
			ExpectError: words(`The state keeps the earlier export and its link. To go on with the same job, run "terraform apply" again.`),
		},
		resource.TestStep{
			Config: export(`triggers = { revision = "2" }`),
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(site, attribute("job_id"),
				knownvalue.StringFunc(func(id string) error {
					if id != h.JobIDs()[1] {
						return fmt.Errorf("job %s, want the one that was cut off, %s", id, h.JobIDs()[1])
					}
					return nil
				}))},
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 1})
}

func TestJobThatTheServiceForgotLeavesTheState(t *testing.T) {
	for name, forget := range map[string]func(*harness, string){
		"with 404": func(h *harness, id string) { h.ForgetJob(id) },
		"with 410": func(h *harness, id string) { h.RetireJob(id) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, simulator.Options{})
			h.run(t,
				resource.TestStep{Config: export(``)},
				resource.TestStep{
					PreConfig:        func() { forget(h, h.JobIDs()[0]) },
					Config:           export(``),
					ConfigPlanChecks: planned(plancheck.ResourceActionCreate),
				},
			)
			h.wantCounts(t, map[string]int{simulator.EndpointStart: 2})
		})
	}
}

func TestExpiryIsUnderstoodInEveryForm(t *testing.T) {
	for name, write := range map[string]func(time.Time) any{
		"RFC 3339 with a fraction":       func(at time.Time) any { return at.Format("2006-01-02T15:04:05.000Z07:00") },
		"RFC 3339 with an offset":        func(at time.Time) any { return at.In(time.FixedZone("", 2*3600)).Format(time.RFC3339) },
		"without a zone":                 func(at time.Time) any { return at.Format("2006-01-02T15:04:05") },
		"epoch seconds":                  func(at time.Time) any { return at.Unix() },
		"epoch milliseconds in a string": func(at time.Time) any { return fmt.Sprint(at.UnixMilli()) },
		"HTTP date":                      func(at time.Time) any { return at.Format("Mon, 02 Jan 2006 15:04:05 GMT") },
		"missing, so from the link":      func(time.Time) any { return simulator.Omit },
		"unreadable, so from the link":   func(time.Time) any { return "in a while" },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, simulator.Options{Queue: -1, Run: -1, LinkLifetime: time.Hour, ExpiresAt: write})
			h.run(t, resource.TestStep{
				Config: export(``),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(site, attribute("expires_at"), knownvalue.StringExact("2030-01-31T13:00:01Z")),
				},
			})
		})
	}
}

func TestUnknownExpiryIsNullAndPlansNoRenewal(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointBundle {
			return map[string]any{"bundleUrl": "https://storage.example/bundle.tar.gz?token=abc", "expiresAt": map[string]any{}}
		}
		return body
	})
	h.run(t,
		resource.TestStep{Config: export(``), ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(site, attribute("expires_at"), knownvalue.Null()),
			statecheck.ExpectKnownValue(site, attribute("bundle_size_bytes"), knownvalue.Null()),
		}},
		resource.TestStep{
			PreConfig:        func() { h.clock.Advance(1000 * time.Hour) },
			Config:           export(``),
			ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		},
	)
}
