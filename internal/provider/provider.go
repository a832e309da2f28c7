// Package provider is the Terraform provider for the documentation hosting service. It turns configurations and plans
// into calls to packages export, client, and bundle, and their results into state and diagnostics. It sends no HTTP
// requests itself.
package provider

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const (
	baseURLVariable = "DOCS_BASE_URL"
	apiKeyVariable  = "DOCS_API_KEY"
)

var (
	_ provider.ProviderWithActions            = (*docsProvider)(nil)
	_ provider.ProviderWithEphemeralResources = (*docsProvider)(nil)
)

// Options holds the parts that tests replace. A release sets only Version.
type Options struct {
	Version string
	// Getenv reads environment variables; os.Getenv if nil.
	Getenv func(string) string
	// Clock is clock.System if nil.
	Clock clock.Clock
	// Client replaces parts of the client's configuration, such as the network, unless it is nil.
	Client func(*client.Config)
}

// New returns the provider's constructor.
func New(options Options) func() provider.Provider {
	if options.Getenv == nil {
		options.Getenv = os.Getenv
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	return func() provider.Provider { return &docsProvider{options: options} }
}

type docsProvider struct{ options Options }

type providerModel struct {
	BaseURL        types.String `tfsdk:"base_url"`
	APIKey         types.String `tfsdk:"api_key"`
	CACertPEM      types.String `tfsdk:"ca_cert_pem"`
	RequestTimeout types.String `tfsdk:"request_timeout"`
}

func (p *docsProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "docs"
	resp.Version = p.options.Version
}

func (p *docsProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Exports sites from a documentation hosting service as static bundles and stops " +
			"deployments if a site update fails.",
		Attributes: map[string]schema.Attribute{
			"base_url": schema.StringAttribute{
				MarkdownDescription: "Base URL of the service's API with its version segment, such as " +
					"`https://host.example/v1`. Plain `http` is allowed only for `localhost` and loopback addresses. " +
					"Required here or in the environment variable `" + baseURLVariable + "`.",
				Optional:   true,
				Validators: rules(summaryInvalidArgument, "an absolute URL", checkBaseURL),
			},
			"api_key": schema.StringAttribute{
				MarkdownDescription: "Admin API key of the organization, from the service's dashboard. " +
					"Required here or in the environment variable `" + apiKeyVariable + "`.",
				Optional:   true,
				Sensitive:  true,
				Validators: rules(summaryInvalidArgument, "an API key", checkAPIKey),
			},
			"ca_cert_pem": schema.StringAttribute{
				MarkdownDescription: "PEM certificates to trust in addition to those of the system.",
				Optional:            true,
				Validators:          rules(summaryInvalidArgument, "PEM certificates", checkRootCAs),
			},
			"request_timeout": schema.StringAttribute{
				MarkdownDescription: "Timeout for each request attempt. One that starts an export or creates a link " +
					"has at least `5m`, but after an interrupt only this time. During a download, the maximum time " +
					"without new data. At least `1s`. Default: `30s`.",
				Optional:   true,
				Validators: atLeastOneSecond,
			},
		},
	}
}

func (p *docsProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var config providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	data := &providerData{clock: p.options.Clock}
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData, resp.ActionData = data, data, data, data
	var values map[string]tftypes.Value
	_ = req.Config.Raw.As(&values) // which Get has read
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !values[name].IsFullyKnown() {
			data.unknown = append(data.unknown, name)
		}
	}
	if len(data.unknown) > 0 && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &provider.Deferred{Reason: provider.DeferredReasonProviderConfigUnknown}
	}

	baseURL := p.argument("base_url", baseURLVariable, config.BaseURL, checkBaseURL,
		"the base URL of the API with its version segment, such as https://host.example/v1", &resp.Diagnostics)
	apiKey := p.argument("api_key", apiKeyVariable, config.APIKey, checkAPIKey,
		"an admin API key from the service's dashboard", &resp.Diagnostics)
	if resp.Diagnostics.HasError() || len(data.unknown) > 0 {
		return
	}
	clientConfig := client.Config{
		BaseURL:        baseURL,
		APIKey:         apiKey,
		UserAgent:      p.userAgent(req.TerraformVersion),
		RequestTimeout: durationOf(config.RequestTimeout),
		RootCAs:        []byte(config.CACertPEM.ValueString()),
		Clock:          p.options.Clock,
		Log:            writeLog,
	}
	if p.options.Client != nil {
		p.options.Client(&clientConfig)
	}
	c, err := client.New(clientConfig)
	if err != nil { // its arguments have been checked
		resp.Diagnostics.AddError(summaryInvalidArgument, sentence(err.Error()))
		return
	}
	data.client = c
}

func checkBaseURL(value string) error {
	if _, err := client.ParseBaseURL(value); err != nil {
		return invalidValue("The base URL is invalid: " + err.Error() + ".")
	}
	return nil
}

func checkAPIKey(value string) error {
	if _, err := client.ParseAPIKey(value); err != nil {
		return invalidValue("The API key is invalid: " + err.Error() + ". Copy it again from the service's dashboard.")
	}
	return nil
}

func checkRootCAs(value string) error {
	// A module passes "" if it has none.
	if _, err := client.ParseRootCAs([]byte(value)); err != nil && value != "" {
		return invalidValue("The certificates are invalid: " + err.Error() + ". Write one or more PEM blocks that " +
			"begin with -----BEGIN CERTIFICATE-----. To read them from a file, use file(\"...\").")
	}
	return nil
}

// argument returns the value of an argument, which its validator has checked, or of its environment variable. It
// reports a value that is missing or invalid.
func (p *docsProvider) argument(
	name, variable string, argument types.String, check func(string) error, meaning string, diags *diag.Diagnostics,
) string {
	if !argument.IsNull() {
		return argument.ValueString()
	}
	value := p.options.Getenv(variable)
	if strings.TrimSpace(value) == "" {
		diags.AddAttributeError(path.Root(name), summaryMissingArgument, fmt.Sprintf(
			"Set %s in the provider block, or the environment variable %s, to %s.", name, variable, meaning))
	} else if err := check(value); err != nil {
		diags.AddAttributeError(path.Root(name), summaryInvalidArgument,
			err.Error()+" (The value comes from "+variable+".)")
	}
	return value
}

// userAgent follows Terraform's convention, including TF_APPEND_USER_AGENT. A header must not contain control
// characters.
func (p *docsProvider) userAgent(terraformVersion string) string {
	agent := fmt.Sprintf("Terraform/%s (+https://www.terraform.io) terraform-provider-docs/%s",
		terraformVersion, p.options.Version)
	separates := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	for _, word := range strings.FieldsFunc(p.options.Getenv("TF_APPEND_USER_AGENT"), separates) {
		agent += " " + word
	}
	return agent
}

func (p *docsProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newStaticExportResource, newUpdateGateResource, newBundleDownloadResource}
}

func (p *docsProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newStaticExportJobDataSource, newUpdateStatusDataSource}
}

func (p *docsProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{newStaticExportBundleEphemeral}
}

func (p *docsProvider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{newAwaitUpdateAction}
}
