//go:build linux

package doctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const pipelines = "guides/pipelines/"

// newScripts returns a service whose CLI scripts run as terraform. The command aws only prints its arguments.
func newScripts(t *testing.T) *service {
	t.Helper()
	for _, program := range []string{"sh", "curl", "jq"} {
		clitest.Program(t, program)
	}
	s := newService(t)
	for name, command := range map[string]string{"terraform": "exec '" + s.Binary + "' \"$@\"", "aws": "printf '%s|' \"$@\"; echo"} {
		s.command(t, name, command)
	}
	s.unset("TF") // make exports it, and the scripts would run that CLI instead
	s.Env = append(s.Env, "PATH="+filepath.Join(s.Folder, "bin")+":"+os.Getenv("PATH"), "HOME="+s.Folder)
	return s
}

// command puts a command on the path of scripts.
func (s *service) command(t *testing.T, name, script string) {
	t.Helper()
	s.Write(t, "bin/"+name, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(filepath.Join(s.Folder, "bin", name), 0o700); err != nil {
		t.Fatal(err)
	}
}

// newPipeline returns a service whose folder holds the files of a pipeline, with a local state.
func newPipeline(t *testing.T, backend string) *service {
	t.Helper()
	s := newScripts(t)
	s.Write(t, "renew.sh", read(t, filepath.Join(examples, pipelines, "renew.sh")))
	s.enter(t, pipelines+"main.tf", backend)
	return s
}

// step returns a script as a pipeline runs it.
func (s *service) step(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-euc", script)
	c.Dir, c.Env = s.Folder, append(slices.Clone(s.Env), "TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_apply=-auto-approve")
	return c
}

// shell runs a script and returns its output.
func (s *service) shell(t *testing.T, wantExit int, script string) string {
	t.Helper()
	c := s.step(t, script)
	output, err := c.CombinedOutput()
	if exit := c.ProcessState.ExitCode(); exit != wantExit {
		t.Fatalf("%s ended with %d (%v), want %d:\n%s", script, exit, err, wantExit, output)
	}
	return string(output)
}

// unset removes a variable from the environment.
func (s *service) unset(name string) {
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}

var stepLine = regexp.MustCompile(`(?m)^\s+- (?:run: )?((?:exec )?(?:terraform|sh) .+)$`)

// runJob runs the steps of a job in order. The last step must be the process that a canceled job interrupts.
func (s *service) runJob(t *testing.T, job string, wantExit int) {
	t.Helper()
	steps := stepLine.FindAllStringSubmatch(job, -1)
	if last := steps[len(steps)-1][1]; !strings.HasPrefix(last, "exec ") {
		t.Errorf("the step %q is not replaced by its command", last)
	}
	for i, match := range steps {
		if i < len(steps)-1 {
			s.shell(t, 0, match[1])
		} else {
			s.shell(t, wantExit, match[1])
		}
	}
}

// Nobody reads the message of the run that timed out.
func TestPipelinesPublishResumeAndRenew(t *testing.T) {
	t.Parallel()
	file := func(name string) string { return read(t, filepath.Join(examples, name)) }
	github, gitlab := pipelines+"github-actions/", pipelines+"gitlab-ci/"
	approveInGitLab, renewInGitLab, _ := strings.Cut(file(gitlab+"approve.yml"), "\nrenew:\n")
	renew := file(github + "renew.yml")
	for name, test := range map[string]struct {
		backend, publish, renew string
	}{
		"publish in GitHub Actions": {github, file(github + "publish.yml"), renew},
		"approve in GitHub Actions": {github, file(github + "approve.yml"), renew},
		"publish in GitLab CI":      {gitlab, file(gitlab + "publish.yml"), renewInGitLab},
		"approve in GitLab CI":      {gitlab, approveInGitLab, renewInGitLab},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPipeline(t, test.backend+"backend.tf")
			s.Env = append(s.Env, "TF_VAR_status_id=upd_failure")
			s.runJob(t, test.publish, 1)
			s.Env = append(s.Env, "TF_VAR_status_id=upd_success")
			s.NextJob(simulator.JobSpec{Queue: simulator.Forever})
			s.runJob(t, test.publish, 1)
			s.FinishJob(s.JobIDs()[1], "") // after exportedJob
			s.runJob(t, test.publish, 0)
			s.unset("TF_VAR_status_id") // a run on a schedule has no update
			s.clock.Advance(time.Hour)
			s.runJob(t, test.renew, 0)
			if jobs, links := s.Count(simulator.EndpointStart), s.Count(simulator.EndpointBundle); jobs != 1 || links != 2 {
				t.Errorf("%d jobs and %d links, want 1 and 2", jobs, links)
			}
		})
	}
}

// The CLI must find the provider that the repository contains, and the lock file must accept it on both systems.
func TestRepositoryHoldsTheProviderForTwoSystems(t *testing.T) {
	t.Parallel()
	s := newScripts(t)
	source, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	// Replaces the clone that the page names, and the build.
	s.command(t, "compile", `mkdir -p "${2%/*}"; echo "$GOOS" >"$2"`)
	s.command(t, "make", `shift 2; exec '`+clitest.Program(t, "make")+`' -C '`+source+`' COMPILE=compile "$@"`)
	s.enter(t, pipelines+"main.tf", pipelines+"gitlab-ci/backend.tf")
	s.unset("TF_REATTACH_PROVIDERS")
	_, section, _ := strings.Cut(read(t, root+"/templates/guides/installation.md.tmpl"), "\n## Share the provider\n")
	s.shell(t, 0, shellBlock.FindStringSubmatch(section)[1])
	if hashes := strings.Count(read(t, filepath.Join(s.Folder, ".terraform.lock.hcl")), `"h1:`); hashes != 2 {
		t.Errorf("the lock file has %d checksums, want 2", hashes)
	}
	if output := s.Run(t, 0, "init", "-lockfile=readonly"); !strings.Contains(output, "Installed docs-hosting/docs v0.1.0") {
		t.Errorf("the provider was not installed:\n%s", output)
	}
}

var shellBlock = regexp.MustCompile("(?ms)^```shell\n(.*?)^```$")

func TestWorkflowDeploysOnlyAfterTheUpdateSucceeded(t *testing.T) {
	t.Parallel()
	_, workflow, _ := strings.Cut(read(t, examples+"/guides/deploy-gates/gate/deploy.yml"), "        run: |\n")
	script, _, _ := strings.Cut(workflow, "      - run: ./deploy.sh")
	for update, exit := range map[string]int{"upd_success": 0, "upd_failure": 1} {
		t.Run(update, func(t *testing.T) {
			t.Parallel()
			s := newScripts(t)
			s.command(t, "curl", `echo '{"statusId":"`+update+`"}'`)
			s.enter(t, "guides/deploy-gates/gate")
			s.shell(t, exit, "DOCS_TRIGGER_URL=unused\n"+script)
		})
	}
}

func TestRunOfAWorkspaceIsStartedWithTheUpdate(t *testing.T) {
	t.Parallel()
	s := newScripts(t)
	s.Write(t, "run.sh", read(t, examples+"/guides/hcp-terraform/run.sh"))
	// curl prints the last argument, the URL, and the body, which must be JSON.
	s.command(t, "curl", `for url; do case $url in {*) echo "$url" | jq --compact-output .data;; esac; done; echo "$7 $url"`)
	output := s.shell(t, 0, "export TFE_TOKEN=token WORKSPACE_ID=ws-1 VARIABLE_ID=var-1; sh run.sh upd_success")
	const want = `{"type":"vars","id":"var-1","attributes":{"value":"upd_success"}}
PATCH https://app.terraform.io/api/v2/workspaces/ws-1/vars/var-1
{"type":"runs","attributes":{"message":"Update upd_success"},"relationships":{"workspace":{"data":{"type":"workspaces","id":"ws-1"}}}}
POST https://app.terraform.io/api/v2/runs
`
	if output != want {
		t.Errorf("got\n%swant\n%s", output, want)
	}
}

func TestCommandsOfGuidesRunInOrder(t *testing.T) {
	t.Parallel()
	for guide, test := range map[string]struct {
		folder string // that the page says to create
		until  string // the heading that ends the commands, if any
		want   []string
	}{
		"getting-started": {"", "Clean up", []string{"1 added, 0 changed", "0 added, 1 changed"}},
		"deploy-gates":    {"/gate", "In CI", []string{"1 added", "deployed"}},
		"self-hosting":    {"/ephemeral-link", "Link in the state", []string{"2 added", "0 added, 2 changed"}},
		"object-storage": {"", "", []string{
			"s3://example-documentation|--exclude|*.html|--cache-control|public, max-age=3600|\n",
			"s3://example-documentation|--exclude|*|--include|*.html|--cache-control|no-cache|--content-type|text/html; charset=utf-8|\n",
			"s3://example-documentation|--delete|--size-only|\ncloudfront|create-invalidation|--distribution-id|computed|--paths|/*|\n",
			"https://computed",
			"bundle.tar.gz: OK",
		}},
	} {
		t.Run(guide, func(t *testing.T) {
			t.Parallel()
			s := newScripts(t)
			if guide == "deploy-gates" {
				s.command(t, "curl", `echo '{"statusId":"upd_success"}'`)
				s.command(t, "../deploy.sh", "echo deployed")
			}
			s.enter(t, "guides/"+guide+test.folder)
			if err := os.Symlink("../out", filepath.Join(s.Folder, "export/out")); err != nil && guide == "object-storage" {
				t.Fatal(err) // enter makes path.root the folder
			}
			_, page, _ := strings.Cut(read(t, root+"/templates/guides/"+guide+".md.tmpl"), "\nexport ") // after the installation
			page = "```shell\nexport " + page
			if test.until != "" {
				page, _, _ = strings.Cut(page, "\n## "+test.until)
			}
			var script strings.Builder
			for _, match := range shellBlock.FindAllStringSubmatch(page, -1) {
				script.WriteString(match[1])
			}
			output := s.shell(t, 0, script.String())
			for _, text := range test.want {
				_, after, found := strings.Cut(output, text)
				if !found {
					t.Fatalf("%q is missing in:\n%s", text, output)
				}
				output = after
			}
		})
	}
}

// The commands of Troubleshooting, in the situations that they are for.
func TestCommandsOfTroubleshooting(t *testing.T) {
	t.Parallel()
	for command, test := range map[string]struct {
		example string
		before  func(s *service)
		exit    int
		output  string
	}{
		"terraform import": {"static_export", func(*service) {}, 0, "Import successful!"},
		"diff -r": {"bundle_download", func(s *service) {
			s.Write(t, "out/site/index.html", "edited")
			s.Run(t, 1, "apply", "-auto-approve")
		}, 1, "diff -r out/site.old/index.html out/site/index.html"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s := newScripts(t)
			s.enter(t, "resources/docs_"+test.example+"/resource.tf")
			s.Run(t, 0, "apply", "-auto-approve")
			test.before(s)
			script := regexp.MustCompile("```\\w+\n([^`]*\n" + command + "[^`]+)```").FindStringSubmatch(read(t, root+"/templates/guides/errors.md.tmpl"))[1]
			script = strings.NewReplacer("ADDRESS", "docs_static_export.site", "DOMAIN", "docs.example.com", "JOB_ID", exportedJob, "PATH", "out/site").Replace(script)
			if output := s.shell(t, test.exit, script); !strings.Contains(output, test.output) || s.Count(simulator.EndpointStart) != 1 {
				t.Errorf("%q is missing, or there is another job:\n%s", test.output, output)
			}
		})
	}
}
