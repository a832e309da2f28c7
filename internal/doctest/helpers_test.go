// Package doctest tests what users read: it applies examples/ with the real CLI against a simulated
// service, and compares templates/ and docs/ with the code.
package doctest

import (
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

	// exportedJob is a completed job of docs.example.com.
	exportedJob = "se_3f9a2c1b8e7d4a06"
)

// service is a simulated service and a CLI whose provider talks to it. Both use one virtual clock,
// so jobs take no time.
type service struct {
	*simulator.Server
	*clitest.CLI
	clock *clocktest.Virtual
	// hung, unless nil, receives the endpoint of each request that a fault has met.
	hung chan string
}

// newService starts in the year 2130, so no link expires by the clock of the CLI.
func newService(t *testing.T) *service {
	t.Helper()
	return newServiceIn(t, 2130)
}

func newServiceIn(t *testing.T, year int) *service {
	t.Helper()
	now := clocktest.NewVirtual(time.Date(year, time.January, 31, 12, 0, 0, 0, time.UTC))
	s := &service{clock: now}
	check := contract.New(t).Check
	server, err := simulator.Listen(simulator.Options{Now: now.Now, Observe: func(x simulator.Exchange) {
		check(x)
		if x.Altered && s.hung != nil {
			s.hung <- x.Request.Endpoint
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	const ended = -1
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_success", Queue: ended, Run: ended})
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_failure", Queue: ended, Run: ended, Fail: "Page guides/links.mdx cannot be parsed"})
	server.AddJob(simulator.JobSpec{ID: exportedJob, Queue: ended, Run: ended})

	env := map[string]string{"DOCS_BASE_URL": server.BaseURL, "DOCS_API_KEY": simulator.DefaultAPIKey}
	options := provider.Options{Version: "test", Getenv: func(name string) string { return env[name] }, Clock: now}
	s.Server, s.CLI = server, clitest.New(t, "docs-hosting/docs", provider.NewServer(options))
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
// there: with the stand-ins of third-party providers, and with a local state. Nothing is left for `init` to do.
func (s *service) enter(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		source := filepath.Join(examples, name)
		if filepath.Ext(name) == ".tf" {
			s.Write(t, filepath.Base(name), read(t, source))
		} else if err := os.CopyFS(s.Folder, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
	}
	var content string
	for _, pattern := range []string{"*.tf", "*/*.tf"} {
		files, err := filepath.Glob(filepath.Join(s.Folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			// The provider of a test does not run in the folder, so its paths must be absolute.
			text := strings.ReplaceAll(read(t, file), `"${path.root}/`, `"`+s.Folder+`/`)
			text = remoteState.ReplaceAllString(text, "")
			s.Write(t, strings.TrimPrefix(filepath.ToSlash(file), s.Folder), text)
			content += text
		}
	}
	s.needs(t, content)
	for _, match := range newerBlock.FindAllStringSubmatch(content, -1) {
		s.needs(t, `required_version = ">= `+map[string]string{"import": "1.5", "ephemeral": "1.10", "action": "1.14"}[match[1]]+`"`)
	}
	served := map[string]bool{}
	for _, match := range thirdPartySource.FindAllStringSubmatch(content, -1) {
		if !served[match[1]] {
			s.Serve(t, "hashicorp/"+match[1], providerserver.NewProtocol6(thirdParty{match[1]}))
		}
		served[match[1]] = true
	}
	if !strings.Contains(content, "required_providers") {
		s.Write(t, "provider_source.tf", s.Require())
	}
}

var (
	thirdPartySource = regexp.MustCompile(`source\s+= "hashicorp/([a-z]+)"`)
	newerBlock       = regexp.MustCompile(`(?m)^(import|ephemeral|action) .*\{`)
	remoteState      = regexp.MustCompile(`(?ms)^  (backend "\w+"|cloud) \{(\}|.*?^  \})\n`)
	requiredVersion  = regexp.MustCompile(`required_version\s+=\s+">= 1\.(\d+)"`)
)

// needs skips the test if the CLI is older than the configuration requires.
func (s *service) needs(t *testing.T, content string) {
	t.Helper()
	for _, match := range requiredVersion.FindAllStringSubmatch(content, -1) {
		minor, err := strconv.Atoi(match[1])
		if err != nil {
			t.Fatal(err)
		}
		tofu := minor
		if minor == 10 {
			tofu = 11 // ephemeral resources
		}
		s.SkipBelow(t, minor, tofu, "version 1."+match[1]+" or later")
	}
}

// apply applies what is in the folder, expects no key in the state and the next plan to be empty,
// and destroys everything.
func (s *service) apply(t *testing.T) {
	t.Helper()
	s.Run(t, 0, "apply", "-auto-approve")
	if strings.Contains(read(t, filepath.Join(s.Folder, "terraform.tfstate")), "sim_key") {
		t.Error("the state contains the API key")
	}
	s.Run(t, 0, "plan", "-detailed-exitcode")
	s.Run(t, 0, "destroy", "-auto-approve")
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
