package provider

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// traced runs a command of the CLI, and makes it append all logs to FOLDER/log.
func (c *cli) traced(t *testing.T, wantExit int, args ...string) string {
	t.Helper()
	quiet := c.terraform.Env
	defer func() { c.terraform.Env = quiet }()
	c.terraform.Env = append(slices.Clone(quiet), "TF_LOG=TRACE", "TF_LOG_PATH="+c.inFolder("log"))
	return c.terraform.Run(t, wantExit, args...)
}

// leak finds the key, the value of any other sensitive argument, and what makes a presigned link a credential.
var leak = regexp.MustCompile(simulator.DefaultAPIKey + `|secret_of_\w+|X-Amz-(Signature|Security-Token)(=|%3D|\\u003d)[0-9a-f]`)

// wantNoSecret checks that a text has neither the key nor the query of a link.
func wantNoSecret(t *testing.T, where, text string) {
	t.Helper()
	if found := leak.FindStringIndex(text); found != nil {
		t.Errorf("%s has a secret, which Redactor in client.New may lack: %s", where, text[max(0, found[0]-200):found[1]])
	}
}

// secretsConfig has everything that the provider has and Terraform 1.10 supports. Only
// docs_static_export keeps a link in the state, as the documentation says.
const secretsConfig = `
ephemeral "docs_static_export_bundle" "site" {
  job_id = "se_1"
}

resource "terraform_data" "publish" {
  provisioner "local-exec" {
    command     = "printf %s \"$LINK\" > link"
    environment = { LINK = join(" ", [for name in ["bundle_url", "bundle_size_bytes", "expires_at"] : ephemeral.docs_static_export_bundle.site[name]]) }
  }
}

resource "docs_bundle_download" "site" {
  job_id = "se_1"
  path   = "bundle.tar.gz"
}

resource "docs_update_gate" "update" {
  status_id = "upd_1"
}

data "docs_update_status" "update" {
  status_id = "upd_1"
}

data "docs_static_export_job" "site" {
  job_id = "se_1"
}
`

func TestNoSecretIsInLogsPlansStatesOrOutput(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{Queue: ended, Run: ended})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
	h.service.AddJob(simulator.JobSpec{ID: "se_1"})
	c := h.cli(t, "")
	c.terraform.SkipBelow(t, 10, 11, "ephemeral resources")
	environment := []string{serveVariable + "=registry.terraform.io/docs-hosting/docs", baseURLVariable + "=" + h.service.BaseURL}
	arguments, variables, sensitive := "", "", ""
	server := configure(t, h.server()(), nil)
	for _, b := range server.blocks() {
		has := strings.Contains(secretsConfig+siteExport(), fmt.Sprintf("%s %q", b.kind, b.name))
		if !has && b.kind != "provider" && b.kind != "action" {
			t.Errorf("secretsConfig has no %s: add it, so that its secrets are looked for", b)
		}
	}
	for _, a := range server.schemas.Provider.Block.Attributes {
		value := "secret_of_" + a.Name
		if a.Name == "api_key" {
			value = simulator.DefaultAPIKey
		}
		if a.Sensitive {
			arguments += fmt.Sprintf("  %s = var.%[1]s\n", a.Name)
			variables += fmt.Sprintf("variable %q {\n  ephemeral = true\n}\n", a.Name)
			environment = append(environment, "TF_VAR_"+a.Name+"="+value)
			sensitive += value + " "
		}
	}
	provider := variables + "provider \"docs\" {\n" + arguments + "}\n"
	c.write(t, provider+secretsConfig)
	c.terraform.OwnProcess(t, environment...)
	read := func(name string) string {
		content, err := os.ReadFile(c.inFolder(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}

	shown := c.terraform.Run(t, 0, "plan", "-out=saved") + c.traced(t, 0, "apply", "saved")
	link := read("link")
	if !leak.MatchString(link) || !regexp.MustCompile(`^http://127\S+ \d+ 2130-01-31T12:15:00Z$`).MatchString(link) {
		t.Errorf("the provisioner got no link but %q", link)
	}
	// Each plan and each apply reads the job and creates a link. So does the download. Each data
	// source and the gate read once.
	h.wantCounts(t, counts{job: 4, bundle: 3, download: 1, update: 2})
	for _, r := range h.service.Requests() {
		for name, values := range r.Header {
			if r.Endpoint == simulator.EndpointDownload && !slices.Contains([]string{"User-Agent", "Accept-Encoding", "Cache-Control"}, name) {
				t.Errorf("the object store is sent the header %s: %s: send it only to the API, or add it to this list", name, values)
			}
		}
	}
	wantNoSecret(t, "the state", read("terraform.tfstate"))
	plan, err := zip.OpenReader(c.inFolder("saved"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plan.Close() }()
	for _, file := range plan.File {
		text, err := fs.ReadFile(plan, file.Name)
		if err != nil {
			t.Fatal(err)
		}
		wantNoSecret(t, "the plan's "+file.Name, string(text))
	}

	// An export shows its link nowhere but in the state, and the error of a service that repeats what it was sent shows
	// nothing either. The service refuses one of two exports.
	c.write(t, provider+siteExport()+strings.ReplaceAll(siteExport(), `"site"`, `"refused"`)+
		"output \"link\" {\n  value     = docs_static_export.site.bundle_url\n  sensitive = true\n}\n")
	h.service.AddFault(simulator.Fault{
		Endpoint: simulator.EndpointStart, Times: 1, Status: 400,
		Body: `{"error": "bad key ` + sensitive + `, see ` + link + `"}`,
	})
	shown += unwrapped(c.traced(t, 1, "apply", "-auto-approve")) + c.apply(t, 0)
	shown += c.terraform.Run(t, 0, "destroy", "-auto-approve") // shows all that the state holds

	trace := read("log")
	wantPhrases(t, trace, "API request", "Download", "Started a static export job", "[TRACE] provider.", "bad key (redacted) ")
	wantPhrases(t, shown, "bad key (redacted)")
	wantNoSecret(t, "the log", trace)
	wantNoSecret(t, "the output", shown)
}
