// Package doctest tests what users read: it applies examples/ with the real CLI against a simulated
// service, and compares templates/ and docs/ with the code.
package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const (
	root     = "../.."
	examples = root + "/examples"

	pipelines = "guides/pipelines/"

	// exportedJob is a completed job of docs.example.com.
	exportedJob = "se_3f9a2c1b8e7d4a06"
)

// service is a simulated service and a CLI whose provider talks to it. Both use one virtual clock,
// so jobs take no time.
type service struct {
	*simulator.Server
	*clitest.CLI
	clock *clocktest.Virtual
}

// newService starts with an update that succeeded, one that failed, and a job. In the usual year, 2130, no link
// expires by the clock of the CLI.
func newService(t *testing.T, year int) *service {
	t.Helper()
	now := clocktest.NewVirtual(time.Date(year, time.January, 31, 12, 0, 0, 0, time.UTC))
	server := contract.Listen(t, simulator.Options{Now: now.Now})
	const ended = -1
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_success", Queue: ended, Run: ended})
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_failure", Queue: ended, Run: ended, Fail: "Page guides/links.mdx cannot be parsed"})
	server.AddJob(simulator.JobSpec{ID: exportedJob, Queue: ended, Run: ended})

	env := map[string]string{"DOCS_BASE_URL": server.BaseURL, "DOCS_API_KEY": simulator.DefaultAPIKey}
	options := provider.Options{Version: "test", Getenv: func(name string) string { return env[name] }, Clock: now}
	s := &service{server, clitest.New(t, "docs-hosting/docs", provider.NewServer(options)), now}
	s.Env = append(s.Env,
		"TF_INPUT=0",
		"TF_VAR_bucket=example-documentation",
		"TF_VAR_cluster_ca=pem",
		"TF_VAR_docs_api_key=sim_key",
		"TF_VAR_docs_base_url=https://host.example/v1",
		"TF_VAR_domain=docs.example.com",
		"TF_VAR_kube_host=https://cluster.example",
		"TF_VAR_kube_token=sim_key",
		"TF_VAR_organization=example",
		"TF_VAR_outputs_token=sim_key",
		"TF_VAR_revision=4f2c1d9",
		"TF_VAR_status_id=upd_success",
		"TF_VAR_vpc_endpoint_id=vpce-1a2b3c4d")
	return s
}

// enter copies files and directories below examples/ into the folder and prepares the CLI to run
// there: with a local state, and with stand-ins for other providers. Nothing is left for `init` to do. It
// returns the whole configuration.
func (s *service) enter(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		source := filepath.Join(examples, name)
		if filepath.Ext(name) == ".tf" {
			s.Write(t, filepath.Base(name), read(t, source))
		} else if err := os.CopyFS(s.Folder, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
	}
	var configuration string
	for _, pattern := range []string{"*.tf", "*/*.tf"} {
		files, err := filepath.Glob(filepath.Join(s.Folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text := elsewhere.ReplaceAllString(read(t, file), "")
			text = strings.ReplaceAll(text, "data.tfe_outputs.export.nonsensitive_values.job_id", strconv.Quote(exportedJob))
			// The provider of a test does not run in the folder, so its paths must be absolute.
			text = strings.ReplaceAll(text, `"${path.root}/`, `"`+s.Folder+`/`)
			s.Write(t, strings.TrimPrefix(filepath.ToSlash(file), s.Folder), text)
			configuration += text
		}
	}
	for _, match := range requirement.FindAllStringSubmatch(configuration, -1) {
		minor, isBlock := map[string]int{"import": 5, "ephemeral": 10, "action": 14}[match[1]]
		if _, err := fmt.Sscan(match[2], &minor); err != nil && !isBlock {
			t.Fatal(err)
		}
		s.needs(t, minor)
	}
	served := map[string]bool{}
	for _, match := range otherProvider.FindAllStringSubmatch(configuration, -1) {
		if name := match[1]; !served[name] {
			s.Serve(t, "hashicorp/"+name, providerserver.NewProtocol6(standIn{name, configuration}))
			served[name] = true
		}
	}
	if !strings.Contains(configuration, "required_providers") {
		s.Write(t, "provider_source.tf", s.Require())
	}
	return configuration
}

var (
	otherProvider = regexp.MustCompile(`source\s+= "hashicorp/([a-z]+)"`)
	// requirement matches what needs a minor version of the CLI, and that version if it is named.
	requirement = regexp.MustCompile(`(?m)^(import|ephemeral|action) .*\{|required_version\s+=\s+">= 1\.(\d+)"`)
	// elsewhere matches where a state is stored, and what needs another service.
	elsewhere = regexp.MustCompile(`(?ms)^  (backend "\w+"|cloud) \{(\}|.*?^  \})\n|^(provider "helm"|data "tfe_outputs" "\w+") \{.*?^\}\n`)
)

// needs skips the test if the CLI is older than Terraform 1.x, or than the OpenTofu that has the same.
func (s *service) needs(t *testing.T, minor int) {
	t.Helper()
	tofu := minor
	if minor == 10 {
		tofu = 11 // ephemeral resources
	}
	s.SkipBelow(t, minor, tofu, fmt.Sprintf("Terraform 1.%d", minor))
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// glob returns the files that match a pattern below the root of the repository, at least one.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s (%v)", pattern, err)
	}
	return files
}
