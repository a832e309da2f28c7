package provider

import (
	"bytes"
	"encoding/pem"
	"errors"
	"log/slog"
	"maps"
	"net/http/httptest"
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

// configured is a configured provider in this process, which a test asks as the CLI does.
type configured struct {
	tfprotov6.ProviderServer
	schemas *tfprotov6.GetProviderSchemaResponse
	said    string // of the configuration
}

// configure configures a provider with some arguments, for a CLI that allows deferral.
func configure(t *testing.T, server tfprotov6.ProviderServer, arguments map[string]any) *configured {
	t.Helper()
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]tftypes.Value{}
	for name, value := range arguments {
		values[name] = tftypes.NewValue(tftypes.String, value)
	}
	config := encode(t, schemas.Provider.ValueType().(tftypes.Object), values)
	valid, err1 := server.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: config})
	done, err2 := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		Config: config, TerraformVersion: "1.15.0", ClientCapabilities: &tfprotov6.ConfigureProviderClientCapabilities{DeferralAllowed: true},
	})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	c := &configured{ProviderServer: server, schemas: schemas}
	for _, d := range append(valid.Diagnostics, done.Diagnostics...) {
		c.said += d.Summary + "\n" + d.Detail + "\n"
	}
	return c
}

// encode returns an object whose other attributes are null. Without a map, it is null as a whole.
func encode(t *testing.T, object tftypes.Object, attributes map[string]tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	value := tftypes.NewValue(object, nil)
	if attributes != nil {
		values := map[string]tftypes.Value{}
		for name, kind := range object.AttributeTypes {
			values[name] = tftypes.NewValue(kind, nil)
		}
		maps.Copy(values, attributes)
		value = tftypes.NewValue(object, values)
	}
	encoded, err := tfprotov6.NewDynamicValue(object, value)
	if err != nil {
		t.Fatal(err)
	}
	return &encoded
}

// configureIn configures a provider that has the environment, whose variables have good values otherwise. It returns
// what the client is configured with, and what is said.
func configureIn(t *testing.T, environment map[string]string, arguments map[string]any) (got client.Config, said string) {
	t.Helper()
	good := map[string]string{baseURLVariable: "https://docs.test/v1", apiKeyVariable: simulator.DefaultAPIKey}
	maps.Copy(good, environment)
	server := NewServer(Options{
		Version: "test", Getenv: func(name string) string { return good[name] }, Client: func(c *client.Config) { got = *c },
	})
	said = configure(t, server(), arguments).said
	return got, said
}

func TestProviderTakesArgumentsBeforeTheEnvironment(t *testing.T) {
	t.Parallel()
	const url, key = "https://docs.test/v1", simulator.DefaultAPIKey
	const otherURL, otherKey = "https://other.test/v1/", " sim_ffeeddccbbaa99887766554433221100\r\n"
	agent := map[string]string{"TF_APPEND_USER_AGENT": " pipeline/7\x1b\n(main) "}
	authority := httptest.NewTLSServer(nil)
	authority.Close()
	roots := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw}))
	others := map[string]any{"base_url": otherURL, "api_key": otherKey, "request_timeout": "2m", "ca_cert_pem": roots}
	for _, argument := range configure(t, NewServer(Options{})(), nil).schemas.Provider.Block.Attributes {
		if others[argument.Name] == nil {
			t.Errorf("no row sets the argument %s of the provider: add it to others", argument.Name)
		}
	}
	for name, test := range map[string]struct {
		environment map[string]string
		arguments   map[string]any
		url, key    string
		timeout     time.Duration // 0 is the default of the client
		roots       string
	}{
		"environment alone":               {agent, map[string]any{"ca_cert_pem": ""}, url, key, 0, ""},
		"whitespace and slash at the end": {map[string]string{baseURLVariable: otherURL, apiKeyVariable: otherKey}, nil, otherURL, otherKey, 0, ""},
		"arguments and no environment": {
			map[string]string{baseURLVariable: "", apiKeyVariable: ""}, others, otherURL, otherKey, 2 * time.Minute, roots,
		},
		"arguments and a different environment": {nil, others, otherURL, otherKey, 2 * time.Minute, roots},
	} {
		got, said := configureIn(t, test.environment, test.arguments)
		if got.BaseURL != test.url || got.APIKey != test.key || got.RequestTimeout != test.timeout || string(got.RootCAs) != test.roots || said != "" {
			t.Errorf("%s: configured %+v; said %s", name, got, said)
		}
		want := "Terraform/1.15.0 (+https://www.terraform.io) terraform-provider-docs/test"
		if test.environment["TF_APPEND_USER_AGENT"] != "" {
			want += " pipeline/7 (main)"
		}
		if got.UserAgent != want {
			t.Errorf("%s: user agent %q", name, got.UserAgent)
		}
	}
}

func TestProviderChecksTheEnvironmentLikeArguments(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ variable, value, want string }{
		"no base URL": {
			baseURLVariable,
			"",
			"Missing provider argument\nSet base_url in the provider block, or the environment variable DOCS_BASE_URL,",
		},
		"base URL with plain http": {
			baseURLVariable,
			"http://docs.invalid/v1",
			"The base URL is invalid: plain http is allowed only for localhost and loopback addresses, because the API key would travel " +
				"unencrypted; use https. (The value comes from DOCS_BASE_URL.)",
		},
		"no key":            {apiKeyVariable, "", "Missing provider argument\nSet api_key in the provider block, or the environment variable DOCS_API_KEY,"},
		"key of whitespace": {apiKeyVariable, " \n", "Missing provider argument"},
		"key with a line break": {
			apiKeyVariable,
			"sim_a\nsim_b",
			"The API key is invalid: it contains whitespace, a quotation mark, or another character that keys do not have. Copy it again from " +
				"the service's dashboard. (The value comes from DOCS_API_KEY.)",
		},
	} {
		_, said := configureIn(t, map[string]string{test.variable: test.value}, nil)
		if !strings.Contains(said, test.want) || strings.Contains(said, "hunter2") {
			t.Errorf("%s: said %s", name, said)
		}
	}
}

func TestUnknownProviderConfigurationFailsOnlyWhatNeedsIt(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, `
resource "terraform_data" "key" { input = "`+simulator.DefaultAPIKey+`" }
provider "docs" { api_key = terraform_data.key.output }
resource "docs_update_gate" "gate" { status_id = "upd_1" }
`+readUpdate)
	said := c.report(t, 1, "plan")
	said.wantNothingSaid(t, "gate")
	said.wantSaid(t, "update", "error: Provider configuration is not known yet", "these arguments are not known yet: api_key", "terraform apply -target")
	h.wantCounts(t, counts{})
}

// Each data source needs the client, and refuses text that cannot be an ID or a domain.
func TestEachDataSourceIsReadOnlyWithAConfiguredProviderAndValidArguments(t *testing.T) {
	t.Parallel()
	schemas, s := configure(t, serverOn(nil, nil), nil).schemas, serverOn(nil, nil)
	unknown := map[string]tftypes.Value{"api_key": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)}
	provider := &tfprotov6.ConfigureProviderRequest{Config: encode(t, schemas.Provider.ValueType().(tftypes.Object), unknown)}
	if _, err := s.ConfigureProvider(t.Context(), provider); err != nil {
		t.Fatal(err)
	}
	for name, schema := range schemas.DataSourceSchemas {
		arguments := func(text string) *tfprotov6.DynamicValue {
			values := map[string]tftypes.Value{}
			for _, attribute := range schema.Block.Attributes {
				if attribute.Required {
					values[attribute.Name] = tftypes.NewValue(tftypes.String, text)
				}
			}
			return encode(t, schema.ValueType().(tftypes.Object), values)
		}
		read, err1 := s.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: arguments("id")})
		valid, err2 := s.ValidateDataResourceConfig(t.Context(), &tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: arguments("")})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if len(read.Diagnostics) != 1 || read.Diagnostics[0].Summary != summaryUnknownProvider {
			t.Errorf("%s: a read with an unknown api_key says %v, want %q: does Read call ready?", name, read.Diagnostics, summaryUnknownProvider)
		}
		if len(valid.Diagnostics) == 0 {
			t.Errorf("%s accepts an empty required argument: give it Validators", name)
		}
	}
}

func TestUnknownProviderConfigurationDefersWhatNeedsItIfTheCLIAllows(t *testing.T) {
	t.Parallel()
	for _, unknown := range []string{"api_key", "base_url", "ca_cert_pem", "request_timeout"} {
		s := configure(t, serverOn(nil, nil), map[string]any{unknown: tftypes.UnknownValue})
		if s.said != "" {
			t.Fatal(s.said)
		}
		for name, schema := range s.schemas.ResourceSchemas {
			t.Run(name+", unknown "+unknown, func(t *testing.T) { wantDeferred(t, s, name, schema) })
		}
	}
}

// wantDeferred checks the plan of a new resource. What refers to a computed attribute of it is deferred, too, only if
// the plan has the attribute as unknown.
func wantDeferred(t *testing.T, s *configured, name string, schema *tfprotov6.Schema) {
	t.Helper()
	kind := schema.ValueType().(tftypes.Object)
	arguments := map[string]tftypes.Value{}
	for _, attribute := range schema.Block.Attributes {
		if attribute.Required {
			arguments[attribute.Name] = tftypes.NewValue(attribute.Type, tftypes.UnknownValue)
		}
	}
	config := encode(t, kind, arguments)
	plan, err := s.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: name, PriorState: encode(t, kind, nil), ProposedNewState: config, Config: config,
		ClientCapabilities: &tfprotov6.PlanResourceChangeClientCapabilities{DeferralAllowed: true},
	})
	if err != nil || len(plan.Diagnostics) > 0 || plan.Deferred == nil || plan.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
		t.Fatalf("it is not deferred: %v, %+v", err, plan)
	}
	planned := map[string]tftypes.Value{}
	value, err := plan.PlannedState.Unmarshal(kind)
	if err = errors.Join(err, value.As(&planned)); err != nil {
		t.Fatal(err)
	}
	for _, attribute := range schema.Block.Attributes {
		if attribute.Computed && planned[attribute.Name].IsNull() {
			t.Errorf("%s is planned as null", attribute.Name)
		}
	}
}

// The pages say what TF_LOG_PROVIDER=INFO shows.
func TestLogRecordsKeepTheirLevel(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]string{slog.LevelDebug: "debug", slog.LevelInfo: "info", slog.LevelWarn: "warn"} {
		var log bytes.Buffer
		writeLog(tflogtest.RootLogger(t.Context(), &log), level, "Progress", map[string]any{"job_id": "se_1"})
		if record := log.String(); !strings.Contains(record, `"@level":"`+want+`"`) || !strings.Contains(record, `"job_id":"se_1"`) {
			t.Errorf("%s is logged as %s", level, record)
		}
	}
}
