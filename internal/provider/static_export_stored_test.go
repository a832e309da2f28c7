package provider

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// situation is what is stored of an export when a plan is made, and the plan.
type situation struct {
	plan   exportArguments
	export *storedExport
}

// change turns a situation into another one.
type change func(*situation)

// completedExport returns a completed export with a link that works for another hour, and a plan
// without changes, after the changes.
func completedExport(changes []change) situation {
	arguments := exportArguments{
		Domain: types.StringValue("docs.example.com"), Triggers: triggers(types.StringValue("1")), AdditionalParameters: types.StringValue(`{"a":1,"b":[12345678901234567890]}`),
		LinkRenewal: types.StringValue(renewOnExpiry), RenewBefore: types.StringValue("0s"),
	}
	s := situation{arguments, newExport(arguments, "se_1")}
	s.export.jobRead(&client.StaticExportJob{Status: client.JobCompleted})
	s.linked(0, time.Hour)
	for _, change := range changes {
		change(&s)
	}
	return s
}

// linked records a link that is created at a time after the start, and expires at another.
func (s *situation) linked(at, expires time.Duration) {
	s.export.linkCreated(&client.Bundle{URL: "https://storage.example/a", ExpiresAt: startOfTime.Add(expires)}, startOfTime.Add(at))
}

func (s *situation) started(jobID string) {
	s.export.Pending = &unfinishedJob{jobID, s.plan.wanted().inputs}
}

func triggers(revision attr.Value) types.Map {
	return types.MapValueMust(types.StringType, map[string]attr.Value{"revision": revision})
}

// Changes of the plan.
var (
	newContent    change = func(s *situation) { s.plan.Triggers = triggers(types.StringValue("2")) }
	nullTrigger   change = func(s *situation) { s.plan.Triggers = triggers(types.StringNull()) }
	unknownValue  change = func(s *situation) { s.plan.Triggers = triggers(types.StringUnknown()) }
	unknownMap    change = func(s *situation) { s.plan.Triggers = types.MapUnknown(types.StringType) }
	unknownJSON   change = func(s *situation) { s.plan.AdditionalParameters = types.StringUnknown() }
	otherDomain   change = func(s *situation) { s.plan.Domain = types.StringValue("b.example.com") }
	unknownDomain change = func(s *situation) { s.plan.Domain = types.StringUnknown() }
	noTriggers    change = func(s *situation) { s.plan.Triggers = types.MapNull(types.StringType) }
	noParameters  change = func(s *situation) { s.plan.AdditionalParameters = types.StringNull() }
	never         change = func(s *situation) { s.plan.LinkRenewal = types.StringValue(renewNever) }
	early         change = func(s *situation) { s.plan.RenewBefore = types.StringValue("61m") }
)

// Changes of what is stored.
var (
	bare change = func(s *situation) {
		s.export.Triggers, s.export.AdditionalParameters = types.MapNull(types.StringType), types.StringNull()
	}
	unlinked     change = func(s *situation) { s.export = newExport(s.export.exportArguments, "se_1") }
	running      change = func(s *situation) { unlinked(s); s.export.Status = types.StringValue("running") }
	failed       change = func(s *situation) { s.export.Status = types.StringValue(client.JobFailed) }
	due          change = func(s *situation) { s.export.ExpiresAt = expiry(startOfTime) }
	noExpiry     change = func(s *situation) { s.export.ExpiresAt = types.StringNull() }
	kept         change = func(s *situation) { s.linked(-time.Minute, time.Hour) }
	noJob        change = func(s *situation) { s.export.JobMissing = true }
	jobFound     change = func(s *situation) { s.export.jobRead(&client.StaticExportJob{}) }
	noBundle     change = func(s *situation) { s.export.BundleMissing = true }
	imported     change = func(s *situation) { unlinked(s); bare(s); s.export.Imported = true }
	pending      change = func(s *situation) { s.started("se_2") }
	pendingOther change = func(s *situation) {
		s.export.Pending = &unfinishedJob{"se_3", exportInputs{Domain: "docs.example.com"}}
	}
)

func parameters(text string) change {
	return func(s *situation) { s.plan.AdditionalParameters = types.StringValue(text) }
}

func TestNextStep(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes     []change
		want, later exportStep // later is for an apply at any later time
	}{
		"no change":             {nil, stepNone, stepLink},
		"due":                   {[]change{due}, stepLink, stepLink},
		"due with renew_before": {[]change{early}, stepLink, stepLink},
		"due with renew_before, but kept by the service": {[]change{early, kept}, stepNone, stepLink},
		"due after it was kept":                          {[]change{early, kept, due}, stepLink, stepLink},
		"due, never renewed":                             {[]change{due, never}, stepNone, stepNone},
		"of unknown expiry":                              {[]change{noExpiry}, stepNone, stepNone},
		"no link":                                        {[]change{unlinked}, stepLink, stepLink},
		"no link, never renewed":                         {[]change{unlinked, never}, stepLink, stepLink},
		"failed":                                         {[]change{failed}, stepNone, stepExport},
		"failed, due":                                    {[]change{failed, due}, stepExport, stepExport},
		"failed, due, never renewed":                     {[]change{failed, due, never}, stepNone, stepNone},
		"failed, no link":                                {[]change{unlinked, failed}, stepExport, stepExport},
		"missing job":                                    {[]change{noJob}, stepExport, stepExport},
		"missing job that is found":                      {[]change{noJob, jobFound}, stepNone, stepLink},
		"missing bundle":                                 {[]change{noBundle, jobFound}, stepExport, stepExport},
		"new triggers":                                   {[]change{newContent}, stepExport, stepExport},
		"a trigger that is null":                         {[]change{nullTrigger}, stepExport, stepExport},
		"a trigger that is unknown":                      {[]change{unknownValue}, stepExport, stepExport},
		"unknown triggers instead of none":               {[]change{bare, noParameters, unknownMap}, stepExport, stepExport},
		"unknown parameters instead of none":             {[]change{bare, noTriggers, unknownJSON}, stepExport, stepExport},
		"unknown domain":                                 {[]change{unknownDomain}, stepExport, stepExport},
		"another domain":                                 {[]change{otherDomain}, stepExport, stepExport},
		"parameters in another order":                    {[]change{parameters(`{"b":[12345678901234567890],"a":1}`)}, stepNone, stepLink},
		"parameters that differ beyond a float's digits": {[]change{parameters(`{"a":1,"b":[12345678901234567891]}`)}, stepExport, stepExport},
		"pending for other content":                      {[]change{pendingOther}, stepNone, stepLink},
		"imported, other inputs":                         {[]change{imported, newContent}, stepLink, stepLink},
		"imported, another domain":                       {[]change{imported, otherDomain}, stepExport, stepExport},
		"imported, unknown domain":                       {[]change{imported, unknownDomain}, stepExport, stepExport},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := completedExport(test.changes)
			wanted := s.plan.wanted()
			if got := s.export.nextStep(wanted, s.export.linkDue(startOfTime, wanted)); got != test.want {
				t.Errorf("got step %d, want %d", got, test.want)
			}
			if got := s.export.nextStep(wanted, s.export.linkWillBeDue(wanted)); got != test.later {
				t.Errorf("later: got step %d, want %d", got, test.later)
			}
		})
	}
}

func TestLinkIsDueAtItsExpiryLessRenewBefore(t *testing.T) {
	t.Parallel()
	s := completedExport(nil)
	for renewBefore, due := range map[time.Duration]time.Duration{0: time.Hour, 20 * time.Minute: 40 * time.Minute} {
		for at, want := range map[time.Duration]bool{due - time.Second: false, due: true} {
			if got := s.export.linkDue(startOfTime.Add(at), wantedExport{renewBefore: renewBefore}); got != want {
				t.Errorf("renew_before %s, after %s: due %t", renewBefore, at, got)
			}
		}
	}
}

// A service may return the earlier link until it has expired, or a cache once.
func TestLinkIsKeptIfARenewalBeforeItsExpiryDoesNotChangeThat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at, expires time.Duration
		want        bool
	}{
		"the same":                      {59 * time.Minute, time.Hour, true},
		"the same, with a fraction":     {59 * time.Minute, time.Hour + time.Second/2, true}, // the state has whole seconds
		"a later one":                   {59 * time.Minute, time.Hour + time.Second, false},
		"an earlier one":                {58 * time.Minute, time.Hour - time.Second, false}, // such as after the service's clock was set
		"the same, when it expires":     {time.Hour, time.Hour, false},
		"another one after it was kept": {59 * time.Minute, 2 * time.Hour, false},
	} {
		s := completedExport([]change{kept})
		s.linked(test.at, test.expires)
		if s.export.LinkKept != test.want {
			t.Errorf("%s: kept %t", name, s.export.LinkKept)
		}
	}
}

func TestResponseThatOmitsAFieldChangesNothing(t *testing.T) {
	t.Parallel()
	export := newExport(exportArguments{}, "se_1")
	export.jobRead(&client.StaticExportJob{Status: "running", PageCount: new(int64(3))})
	export.jobRead(&client.StaticExportJob{})
	if export.Status.ValueString() != "running" || export.PageCount.ValueInt64() != 3 {
		t.Errorf("the export is %+v", export)
	}
}
