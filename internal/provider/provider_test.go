package provider

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

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
	schemas := must(server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{}))
	values := map[string]tftypes.Value{}
	object := schemas.Provider.ValueType().(tftypes.Object)
	for name, value := range arguments {
		values[name] = tftypes.NewValue(object.AttributeTypes[name], value)
	}
	config := encode(t, object, values)
	valid := must(server.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: config}))
	done := must(server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		Config: config, TerraformVersion: "1.15.0", ClientCapabilities: &tfprotov6.ConfigureProviderClientCapabilities{DeferralAllowed: true},
	}))
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

// sent configures a provider in an environment whose variables have good values otherwise, and reads an update. It
// returns the request with its timeout and its certificates, and what is said.
func sent(t *testing.T, variables map[string]string, arguments map[string]any) (request, said string) {
	t.Helper()
	environment := map[string]string{baseURLVariable: "https://docs.test/v1", apiKeyVariable: simulator.DefaultAPIKey}
	maps.Copy(environment, variables)
	getenv := func(name string) string { return environment[name] }
	s := configure(t, NewServer(Options{Version: "test", Getenv: getenv, Client: func(c *client.Config) {
		c.RoundTripper = roundTrip(func(r *http.Request) (*http.Response, error) {
			request = fmt.Sprintf("%s %s %s %s", r.URL, r.Header, c.RequestTimeout, c.RootCAs)
			return well().network(nil, nil).RoundTrip(r)
		})
	}})(), arguments)
	for _, b := range s.blocks() {
		if b.name == "docs_update_status" && s.said == "" {
			_, result := s.run(t, b, b.arguments(t, identifying(t)))
			s.said = result.failure
		}
	}
	return request, s.said
}

func TestEachArgumentOfTheProviderIsSentAndComesBeforeItsVariable(t *testing.T) {
	t.Parallel()
	authority := httptest.NewTLSServer(nil)
	authority.Close()
	roots := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw}))
	rows := map[string]struct{ value, request string }{ // the request has this
		"base_url":        {"https://other.test/v1/", "https://other.test/v1/project/update-status/upd_1 "},
		"api_key":         {" sim_other\r\n", "Authorization:[Bearer sim_other]"},
		"request_timeout": {"2m", " 2m0s "},
		"ca_cert_pem":     {roots, roots},
	}
	for _, a := range configure(t, serverOn(nil, nil), nil).schemas.Provider.Block.Attributes {
		row := rows[a.Name]
		wantSent := func(where, request, said string) {
			if row.value == "" || !strings.Contains(request, row.request) || said != "" {
				t.Errorf("%s of %s is not sent: read it in Configure, let the client send it, and add it to rows. The request is %s%s",
					where, a.Name, request, said)
			}
		}
		request, said := sent(t, nil, map[string]any{a.Name: row.value})
		wantSent("the value", request, said)
		for _, variable := range regexp.MustCompile(`DOCS_\w+`).FindAllString(a.Description, -1) {
			request, said := sent(t, map[string]string{variable: row.value}, nil)
			wantSent(variable, request, said)
		}
	}
	request, said := sent(t, map[string]string{"TF_APPEND_USER_AGENT": " pipeline/7\x1b\n(main) "}, map[string]any{"ca_cert_pem": ""})
	wantPhrases(t, request+said, "[Terraform/1.15.0 (+https://www.terraform.io) terraform-provider-docs/test pipeline/7 (main)]] 0s ")
}

func TestProviderChecksItsArgumentsAndTheEnvironment(t *testing.T) {
	t.Parallel()
	const baseURL = "Invalid provider argument\nThe base URL is invalid: plain http is allowed only for localhost and loopback addresses, because the " +
		"API key would travel unencrypted; use https."
	const key = "Invalid provider argument\nThe API key is invalid: it contains whitespace, a quotation mark, or another character that keys do not " +
		"have. Copy it again from the service's dashboard."
	for _, test := range []struct{ source, value, want string }{
		{"base_url", "http://docs.invalid/v1", baseURL + "\n"},
		{baseURLVariable, "http://docs.invalid/v1", baseURL + " (The value comes from DOCS_BASE_URL.)\n"},
		{baseURLVariable, "", "Missing provider argument\nSet base_url in the provider block, or the environment variable DOCS_BASE_URL,"},
		{"api_key", "sim_a b", key + "\n"},
		{apiKeyVariable, "sim_a\nsim_b", key + " (The value comes from DOCS_API_KEY.)\n"},
		{apiKeyVariable, " \n", "Missing provider argument\nSet api_key in the provider block, or the environment variable DOCS_API_KEY,"},
		{
			"ca_cert_pem", "/etc/ssl/ca.pem", "Invalid provider argument\nThe certificates are invalid: no certificate could be read from the PEM text. " +
				"Write one or more PEM blocks that begin with -----BEGIN CERTIFICATE-----. To read them from a file, use file(\"...\").\n",
		},
		{"request_timeout", "0s", "Invalid duration\nThe duration must be at least 1s, not \"0s\".\n"},
	} {
		variables, arguments := map[string]string{test.source: test.value}, map[string]any{test.source: test.value}
		if strings.HasPrefix(test.source, "DOCS_") {
			arguments = nil
		}
		if _, said := sent(t, variables, arguments); !strings.HasPrefix(said, test.want) {
			t.Errorf("%s = %q: said %s", test.source, test.value, said)
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
