package provider

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const readUpdate = "data \"docs_update_status\" \"update\" {\n  status_id = \"upd_1\"\n}\n"

func TestProviderTakesArgumentsBeforeTheEnvironment(t *testing.T) {
	t.Parallel()
	const otherKey = "sim_ffeeddccbbaa99887766554433221100"
	for name, test := range map[string]struct{ provider, baseURL, apiKey string }{
		"environment alone":                     {"", "GOOD", simulator.DefaultAPIKey},
		"whitespace and slash at the end":       {"", "GOOD/", "\t" + simulator.DefaultAPIKey + "\r\n"},
		"arguments and no environment":          {"base_url = \"GOOD\"\napi_key = \" " + simulator.DefaultAPIKey + "\\n\"", "", ""},
		"arguments and a different environment": {"base_url = \"GOOD/\"\napi_key = \"" + simulator.DefaultAPIKey + `"`, "http://docs.invalid", otherKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
			h.env.Store(baseURLVariable, strings.ReplaceAll(test.baseURL, "GOOD", h.service.BaseURL))
			h.env.Store(apiKeyVariable, test.apiKey)
			h.env.Store("TF_APPEND_USER_AGENT", " pipeline/7\x1b\n(main) ")
			c := h.cli(t, "provider \"docs\" {\n"+strings.ReplaceAll(test.provider, "GOOD", h.service.BaseURL)+"\n}\n"+readUpdate)
			c.report(t, 0, "plan").wantNothingSaid(t, "update")
			agent := regexp.MustCompile(`^(Terraform|OpenTofu)/[0-9]\S+ \(\+https://www\.terraform\.io\) terraform-provider-docs/test pipeline/7 \(main\)$`)
			if got := h.service.Requests()[0].Header.Get("User-Agent"); !agent.MatchString(got) {
				t.Errorf("user agent %q", got)
			}
		})
	}
}

func TestProviderChecksTheEnvironmentLikeArguments(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, readUpdate)
	for name, test := range map[string]struct{ variable, value, want string }{
		"no base URL":              {baseURLVariable, "", "error: Missing provider argument ()\nSet base_url in the provider block, or the environment variable DOCS_BASE_URL,"},
		"base URL with plain http": {baseURLVariable, "http://docs.invalid/v1", "The base URL is invalid: plain http is allowed only for localhost and loopback addresses, because the API key would travel unencrypted; use https. (The value comes from DOCS_BASE_URL.)"},
		"no key":                   {apiKeyVariable, "", "error: Missing provider argument ()\nSet api_key in the provider block, or the environment variable DOCS_API_KEY,"},
		"key of whitespace":        {apiKeyVariable, " \n", "error: Missing provider argument"},
		"key with a line break":    {apiKeyVariable, "sim_a\nsim_b", "The API key is invalid: it contains whitespace. Copy it again from the service's dashboard. (The value comes from DOCS_API_KEY.)"},
		"proxy that is no URL":     {"HTTPS_PROXY", "http://u:hunter2%@proxy.test", "error: Invalid proxy URL ()\nThe environment variable HTTPS_PROXY is not the URL"},
	} {
		t.Run(name, func(t *testing.T) {
			good, _ := h.env.Swap(test.variable, test.value)
			defer h.env.Store(test.variable, good)
			said := c.report(t, 1, "plan")
			said.wantSaid(t, "docs", test.want)
			if strings.Contains(said.said["docs"], "hunter2") {
				t.Errorf("it shows the password: %s", said.said["docs"])
			}
		})
	}
	h.wantCounts(t, counts{})
}

func TestUnknownProviderConfigurationFailsOnlyWhatNeedsIt(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
	late := `
resource "terraform_data" "key" { input = "` + simulator.DefaultAPIKey + `" }
provider "docs" { api_key = terraform_data.key.output }
resource "docs_update_gate" "gate" { status_id = "upd_1" }
`
	c := h.cli(t, late+readUpdate)
	said := c.report(t, 1, "plan")
	said.wantNothingSaid(t, "gate")
	said.wantSaid(t, "update", "error: Provider configuration is not known yet", "these arguments are not known yet: api_key", "terraform apply -target")
	h.wantCounts(t, counts{})

	c.write(t, late)
	c.apply(t, 0)
	c.write(t, late+readUpdate)
	c.wantEmptyPlan(t)
}

func TestUnknownProviderConfigurationDefersWhatNeedsItIfTheCLIAllows(t *testing.T) {
	t.Parallel()
	s := newHarness(t, simulator.Options{}).server()()
	schemas, err := s.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	object := func(schema *tfprotov6.Schema, attribute string, value any) *tfprotov6.DynamicValue {
		return encode(t, schema.ValueType().(tftypes.Object), map[string]tftypes.Value{attribute: tftypes.NewValue(tftypes.String, value)})
	}
	configured, err := s.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		Config:             object(schemas.Provider, "api_key", tftypes.UnknownValue),
		ClientCapabilities: &tfprotov6.ConfigureProviderClientCapabilities{DeferralAllowed: true},
	})
	if err != nil || len(configured.Diagnostics) > 0 {
		t.Fatal(err, configured)
	}
	const update = "docs_update_status"
	read, err := s.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
		TypeName:           update,
		Config:             object(schemas.DataSourceSchemas[update], "status_id", "upd_1"),
		ClientCapabilities: &tfprotov6.ReadDataSourceClientCapabilities{DeferralAllowed: true},
	})
	if err != nil || len(read.Diagnostics) > 0 || read.Deferred == nil || read.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
		t.Errorf("the read is not deferred: %v, %+v", err, read)
	}

	// What refers to a computed attribute of a resource is deferred only if the plan has it as unknown.
	for name, schema := range schemas.ResourceSchemas {
		kind := schema.ValueType().(tftypes.Object)
		arguments := map[string]tftypes.Value{}
		for _, attribute := range schema.Block.Attributes {
			if attribute.Required {
				arguments[attribute.Name] = tftypes.NewValue(attribute.Type, tftypes.UnknownValue)
			}
		}
		config, null := encode(t, kind, arguments), tftypes.NewValue(kind, nil)
		prior, err := tfprotov6.NewDynamicValue(kind, null)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := s.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
			TypeName: name, PriorState: &prior, ProposedNewState: config, Config: config,
			ClientCapabilities: &tfprotov6.PlanResourceChangeClientCapabilities{DeferralAllowed: true},
		})
		if err != nil || len(plan.Diagnostics) > 0 || plan.Deferred == nil || plan.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
			t.Errorf("%s is not deferred: %v, %+v", name, err, plan)
			continue
		}
		planned := map[string]tftypes.Value{}
		value, err := plan.PlannedState.Unmarshal(kind)
		if err = errors.Join(err, value.As(&planned)); err != nil {
			t.Fatal(err)
		}
		for _, attribute := range schema.Block.Attributes {
			if attribute.Computed && planned[attribute.Name].IsNull() {
				t.Errorf("%s: %s is planned as null", name, attribute.Name)
			}
		}
	}
}

func TestLimitsOfTheProviderReachTheClient(t *testing.T) {
	t.Parallel()
	var got client.Config
	s := NewServer(Options{
		Getenv: func(name string) string {
			return map[string]string{baseURLVariable: "https://docs.test/v1", apiKeyVariable: simulator.DefaultAPIKey}[name]
		},
		Client: func(c *client.Config) { got = *c },
	})()
	schemas, err := s.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	configure := func(arguments map[string]tftypes.Value) {
		config := encode(t, schemas.Provider.ValueType().(tftypes.Object), arguments)
		valid, invalid := s.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: config})
		configured, err := s.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config})
		if err != nil || invalid != nil || len(valid.Diagnostics)+len(configured.Diagnostics) > 0 {
			t.Errorf("%v, %v, %v, %v", invalid, err, valid, configured)
		}
	}
	configure(map[string]tftypes.Value{"request_timeout": tftypes.NewValue(tftypes.String, "2m"), "ca_cert_pem": tftypes.NewValue(tftypes.String, "")})
	if got.RequestTimeout != 2*time.Minute || len(got.RootCAs) > 0 {
		t.Errorf("configured: %+v", got)
	}
	configure(nil)
	if got.RequestTimeout != 0 {
		t.Errorf("not configured, so the defaults of the client: %+v", got)
	}
}

// The pages say what TF_LOG_PROVIDER=INFO shows.
func TestLogRecordsKeepTheirLevel(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx := tflogtest.RootLogger(t.Context(), &log)
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		writeLog(ctx, level, "Progress", map[string]any{"job_id": "se_1"})
	}
	records, err := tflogtest.MultilineJSONDecode(&log)
	var levels []any
	for _, record := range records {
		levels = append(levels, record["@level"], record["job_id"])
	}
	if want := []any{"debug", "se_1", "info", "se_1", "warn", "se_1"}; err != nil || !slices.Equal(levels, want) {
		t.Errorf("got %v, %v; want %v", levels, err, want)
	}
}

func TestPrivateAuthorityIsTrusted(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
	server := httptest.NewUnstartedServer(h.service.Service)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	h.env.Store(baseURLVariable, server.URL+"/v1")
	c := h.cli(t, readUpdate)
	c.report(t, 1, "plan").wantSaid(t, "update", "certificate signed by unknown authority", "The server's certificate is not trusted.", "set ca_cert_pem")
	h.wantCounts(t, counts{})

	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	trusting := func(certificates string) { // with a byte order mark, as Windows tools write it
		c.write(t, readUpdate+fmt.Sprintf("provider \"docs\" {\n  ca_cert_pem = %q\n}\n", "\uFEFF"+certificates))
	}
	trusting(string(authority))
	c.report(t, 0, "plan").wantNothingSaid(t, "update")
	trusting(string(authority) + "-----BEGIN CERTIFICATE-----\n")
	c.report(t, 1, "plan").wantSaid(t, "docs", "error: Invalid provider argument (ca_cert_pem)\nThe certificates are invalid: PEM block 2 is damaged")
}
