// Package verify runs one export against a real service, through the provider and the real CLI, and
// reports what the service does where its contract leaves something open. `make verify-service`
// runs it. `make testacc` tests the provider.
package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// run is one export and what it reveals about the service. It is an http.RoundTripper that checks and
// records each exchange of the API.
type run struct {
	baseURL, apiKey, domain string
	statusID                string // of an update to read, or empty
	commit                  string // of the provider
	network                 http.RoundTripper
	clock                   clock.Clock
	console                 io.Writer // can show what the report must not

	base      *url.URL
	mu        sync.Mutex
	exchanges []exchange
	version   string    // of the CLI
	result    string    // of the export
	expires   time.Time // when the first link expires, zero if the provider cannot tell
	archive   string    // describes the bundle, empty if there is none
	refusals  []string  // rows of the report
}

// exchange is a response of the service. It holds nothing else from the request, which has the API key.
type exchange struct {
	operation   string
	at          time.Time
	status      int // 0 if there was no complete response
	header      http.Header
	body        any // decoded JSON, nil if the body is not JSON
	differences []string
}

// configuration makes the service create three links before the first one expires.
const configuration = `variable "domain" { type = string }
resource "docs_static_export" "site" { domain = var.domain }
resource "docs_bundle_download" "bundle" {
  job_id = docs_static_export.site.job_id
  path   = "${abspath(path.root)}/bundle"
}
resource "docs_bundle_download" "files" {
  job_id = docs_static_export.site.job_id
  path   = "${abspath(path.root)}/files"
  unpack = true
}
output "expires_at" { value = docs_static_export.site.expires_at }
`

// verify sends all requests. It reports whether the export succeeded.
func (r *run) verify(t *testing.T) (success bool) {
	t.Helper()
	var err error
	if r.base, err = client.ParseBaseURL(r.baseURL); err != nil {
		t.Fatalf("DOCS_BASE_URL: %v", err)
	}
	environment := map[string]string{"DOCS_BASE_URL": r.baseURL, "DOCS_API_KEY": r.apiKey}
	cli := clitest.New(t, "docs-hosting/docs", provider.NewServer(provider.Options{
		Version: "verify", Clock: r.clock, Getenv: func(name string) string { return environment[name] },
		Client: func(config *client.Config) { config.RoundTripper = r },
	}))
	cli.Write(t, "main.tf", cli.Require()+configuration)
	cli.Env = append(cli.Env, "TF_VAR_domain="+r.domain)
	r.version, _, _ = strings.Cut(cli.Run(t, 0, "version"), "\n")

	command, output := cli.Command("apply", "-auto-approve", "-no-color")
	command.Stdout = io.MultiWriter(output, r.console) // at once, because the export can take minutes
	command.Stderr = command.Stdout
	r.result = "succeeded"
	if err = command.Run(); err != nil {
		r.result = "failed"
		for _, d := range regexp.MustCompile(`(?m)^[│ ]*(Error: .+)$`).FindAllStringSubmatch(output.String(), -1) {
			r.result += ". " + d[1] // not the details, which can quote the service
		}
	}
	command, output = cli.Command("output", "-raw", "expires_at")
	if command.Run() == nil {
		r.expires, _ = time.Parse(time.RFC3339, output.String()) // a warning if there is no such output
	}
	r.archive = archiveOf(filepath.Join(cli.Folder, "bundle"), filepath.Join(cli.Folder, "files"))

	const noID = "verify_0000000000000000" // of no update and no job
	job := noID
	for _, id := range values("jobId", r.of(startJob)...) {
		job = fmt.Sprint(id)
	}
	for _, probe := range [][3]string{
		{"Wrong API key", "static-export/jobs/" + job, "wrong_00000000000000000000000000000000"},
		{"Unknown job", "static-export/jobs/" + noID, r.apiKey},
		{"Unknown update", "project/update-status/" + noID, r.apiKey},
	} {
		r.refusals = append(r.refusals, probe[0]+" | "+r.get(t, probe[1], probe[2]).describe())
	}
	if r.statusID != "" {
		r.get(t, "project/update-status/"+r.statusID, r.apiKey)
	}
	return err == nil
}

// get sends a request without the provider.
func (r *run) get(t *testing.T, path, apiKey string) exchange {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base.JoinPath(path).String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+apiKey)
	if resp, err := r.RoundTrip(req); err == nil {
		_ = resp.Body.Close()
	}
	return r.exchanges[len(r.exchanges)-1]
}

var idInPath = regexp.MustCompile(`(jobs|update-status)/[^/]+`)

// RoundTrip implements http.RoundTripper.
func (r *run) RoundTrip(req *http.Request) (*http.Response, error) {
	path, ofAPI := strings.CutPrefix(req.URL.EscapedPath(), r.base.EscapedPath())
	if !ofAPI || req.URL.Host != r.base.Host {
		return r.network.RoundTrip(req) // the download
	}
	x := exchange{
		operation: req.Method + " " + idInPath.ReplaceAllString(path, "$1/{id}"), at: r.clock.Now(),
		differences: []string{"there is no complete response"},
	}
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.exchanges = append(r.exchanges, x)
	}()
	var sent []byte
	if req.Body != nil {
		sent, _ = io.ReadAll(req.Body) // from memory
		_ = req.Body.Close()
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := r.network.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	x.status, x.header = resp.StatusCode, resp.Header.Clone()
	x.body, _ = jsonschema.UnmarshalJSON(bytes.NewReader(body)) // nil if it is not JSON
	x.differences = differences(contract.Validate(simulator.Exchange{
		Request: simulator.Request{Method: req.Method, Path: "/v1" + path, Query: req.URL.RawQuery, Header: req.Header, Body: string(sent)},
		Status:  resp.StatusCode, Header: resp.Header, Body: body,
	}))
	return resp, nil
}

var quoted = regexp.MustCompile(`".*"`)

// differences returns what a check found, without the values.
func differences(err error) (found []string) {
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []string{quoted.ReplaceAllString(err.Error(), "(hidden)")}
	}
	for _, cause := range invalid.Causes {
		found = append(found, differences(cause)...)
	}
	switch k := invalid.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			found = append(found, fieldName(name)+" is not in the contract, which allows it")
		}
	case *kind.Required:
		found = append(found, strings.Join(k.Missing, " and ")+" is missing")
	default:
		if len(invalid.Causes) == 0 { // the others only group their causes
			found = append(found, fmt.Sprintf("%s breaks the rule `%s`", strings.Join(invalid.InstanceLocation, "."), strings.Join(k.KeywordPath(), ".")))
		}
	}
	return found
}
