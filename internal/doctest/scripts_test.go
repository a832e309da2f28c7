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

// newScripts returns a service whose CLI scripts run as terraform. The command aws only prints its arguments.
func newScripts(t *testing.T) *service {
	t.Helper()
	for _, program := range []string{"sh", "curl", "jq"} {
		clitest.Program(t, program)
	}
	s := newService(t, 2130)
	s.command(t, "terraform", "exec '"+s.Binary+`' "$@"`)
	s.command(t, "aws", `echo "$@"`)
	s.unset("TF") // make exports it, and the scripts would run that CLI instead
	s.Env = append(s.Env, "PATH="+filepath.Join(s.Folder, "bin")+":"+os.Getenv("PATH"), "HOME="+s.Folder,
		"TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_apply=-auto-approve")
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

// unset removes a variable from the environment.
func (s *service) unset(name string) {
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}

// shell runs a script as a pipeline runs it, and checks that its output contains some texts, in this order.
func (s *service) shell(t *testing.T, wantExit int, script string, want ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-euc", script)
	c.Dir, c.Env = s.Folder, s.Env
	output, err := c.CombinedOutput()
	if exit := c.ProcessState.ExitCode(); exit != wantExit {
		t.Fatalf("%s ended with %d (%v), want %d:\n%s", script, exit, err, wantExit, output)
	}
	rest := string(output)
	for _, text := range want {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Fatalf("%q is missing in:\n%s", text, output)
		}
		rest = after
	}
}

// wantRequests checks how many jobs were started and how many links were created.
func (s *service) wantRequests(t *testing.T, jobs, links int) {
	t.Helper()
	if j, l := s.Count(simulator.EndpointStart), s.Count(simulator.EndpointBundle); j != jobs || l != links {
		t.Errorf("%d jobs and %d links, want %d and %d", j, l, jobs, links)
	}
}

var stepLine = regexp.MustCompile(`(?m)^\s+- (?:run: )?((?:exec )?(?:terraform|sh) .+)$`)

// runJob runs the steps of a job in order. A canceled job interrupts only the process of the step, so
// the last step must become the CLI. Otherwise, a lock would remain.
func (s *service) runJob(t *testing.T, job string, wantExit int) {
	t.Helper()
	steps := stepLine.FindAllStringSubmatch(job, -1)
	for i, step := range steps {
		switch {
		case i < len(steps)-1:
			s.shell(t, 0, step[1])
		case strings.HasPrefix(step[1], "exec "):
			s.shell(t, wantExit, step[1])
		default:
			t.Errorf("the step %q is not replaced by its command", step[1])
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
			s := newScripts(t)
			s.enter(t, pipelines+"main.tf", test.backend+"backend.tf")
			s.Write(t, "renew.sh", file(pipelines+"renew.sh"))
			s.NextJob(simulator.JobSpec{Queue: simulator.Forever})
			s.runJob(t, test.publish, 1)
			s.FinishJob(s.JobIDs()[1]) // after exportedJob
			s.runJob(t, test.publish, 0)
			s.unset("TF_VAR_status_id") // a run on a schedule has no update
			s.clock.Advance(time.Hour)
			s.runJob(t, test.renew, 0)
			s.wantRequests(t, 1, 2)
		})
	}
}

func TestRenewalKeepsTheJobOrStops(t *testing.T) {
	t.Parallel()
	const publication = pipelines + "main.tf"
	publish := func(t *testing.T, s *service) { s.Run(t, 0, "apply", "-auto-approve") }
	for name, test := range map[string]struct {
		configuration string
		before        func(t *testing.T, s *service)
		exit          int
		output        string
		jobs, links   int
	}{
		"a link alone":             {"guides/link-lifetime/renewal", publish, 0, "1 changed", 1, 2},
		"a link that a chart uses": {"guides/self-hosting/link-in-state", publish, 0, "2 changed", 1, 2},
		"nothing published yet": {publication, func(*testing.T, *service) {
		}, 0, "Nothing published yet.", 0, 0},
		"a first export that timed out": {publication, func(t *testing.T, s *service) {
			s.NextJob(simulator.JobSpec{Queue: simulator.Forever})
			s.Run(t, 1, "apply", "-auto-approve")
		}, 1, "The export has no link yet", 1, 0},
		"a missing job": {publication, func(t *testing.T, s *service) {
			publish(t, s)
			s.ForgetJob(s.JobIDs()[1]) // after exportedJob
		}, 1, "The plan changes job_id, so it was not applied.", 1, 1},
		"a trigger that does not have the name of its variable": {publication, func(t *testing.T, s *service) {
			s.Write(t, "main.tf", strings.Replace(read(t, s.Folder+"/main.tf"), "status_id = var.status_id # ", "update = var.status_id # ", 1))
			publish(t, s)
		}, 1, "check that each trigger has the name of the variable it is set from", 1, 1},
		"a plan that fails": {publication, func(t *testing.T, s *service) {
			publish(t, s)
			s.AddFault(simulator.Fault{Status: 401})
		}, 1, "HTTP 401", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripts(t)
			s.enter(t, test.configuration)
			s.Write(t, "renew.sh", read(t, filepath.Join(examples, pipelines, "renew.sh")))
			test.before(t, s)
			for _, variable := range []string{"status_id", "revision"} { // which a run on a schedule does not set
				s.unset("TF_VAR_" + variable)
			}
			s.clock.Advance(time.Hour)
			s.shell(t, test.exit, "exec sh renew.sh", test.output)
			s.wantRequests(t, test.jobs, test.links)
		})
	}
}

var shellBlock = regexp.MustCompile("(?ms)^```shell\n(.*?)^```$")

// commands returns the commands of a guide between two texts.
func commands(t *testing.T, guide, from, until string) string {
	t.Helper()
	_, page, found := strings.Cut(read(t, root+"/templates/guides/"+guide+".md.tmpl"), from)
	page, _, ends := strings.Cut(page, until)
	if !found || !ends {
		t.Fatalf("%s does not contain %q before %q", guide, from, until)
	}
	var script strings.Builder
	for _, match := range shellBlock.FindAllStringSubmatch(page, -1) {
		script.WriteString(match[1])
	}
	return script.String()
}

func TestCommandsOfGuidesRunInOrder(t *testing.T) {
	t.Parallel()
	const gate, export = "guides/deploy-gates/gate", "resources/docs_static_export/resource.tf"
	_, workflow, _ := strings.Cut(read(t, filepath.Join(examples, gate, "deploy.yml")), "        run: |\n")
	workflow, _, _ = strings.Cut(workflow, "      - run: ./deploy.sh")
	runOfAWorkspace := read(t, examples+"/guides/hcp-terraform/run.sh")
	troubleshoot := func(command string) string {
		page := read(t, root+"/templates/guides/errors.md.tmpl")
		script := regexp.MustCompile("```\\w+\n([^`]*\n" + command + "[^`]+)```").FindStringSubmatch(page)[1]
		return strings.NewReplacer("ADDRESS", "docs_static_export.site", "DOMAIN", "docs.example.com",
			"JOB_ID", exportedJob, "PATH", "out/site").Replace(script)
	}
	const apply = "terraform apply\n"
	makefile, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		example  string
		commands map[string]string // that take the place of others
		script   string
		exit     int
		want     []string
	}{
		"getting started": {
			"guides/getting-started", nil,
			commands(t, "getting-started", "\n## Configure", "\n## Clean up"),
			0,
			[]string{"1 added, 0 changed", "0 added, 1 changed"},
		},
		"a deployment after an update": {
			gate,
			map[string]string{"curl": `echo '{"statusId":"upd_success"}'`, "../deploy.sh": "echo deployed"},
			commands(t, "deploy-gates", "\n## A minimal gate", "\n## In CI"),
			0,
			[]string{"1 added", "deployed"},
		},
		"a workflow after a failed update": {
			gate,
			map[string]string{"curl": `echo '{"statusId":"upd_failure"}'`},
			"DOCS_TRIGGER_URL=unused\n" + workflow,
			1,
			[]string{"Error: Update failed"},
		},
		"the deployment chart": {
			"guides/self-hosting/ephemeral-link", nil,
			commands(t, "self-hosting", "\n## Ephemeral link", "\n## Link"),
			0,
			[]string{"2 added", "0 added, 2 changed"},
		},
		"object storage": {
			"guides/object-storage", nil,
			"ln -s ../out export/out\n" + // enter makes path.root the folder
				commands(t, "object-storage", "\n# ", "If `sha256sum` is not installed"),
			0,
			[]string{"s3 sync", "cloudfront create-invalidation --distribution-id computed", "https://computed", "bundle.tar.gz: OK"},
		},
		// curl prints the body, which must be JSON, and the URL.
		"a run of a workspace": {
			"guides/hcp-terraform/export",
			map[string]string{"curl": `for url; do case $url in {*) echo "$url" | jq --compact-output .data;; esac; done; echo "$7 $url"`},
			"TFE_TOKEN=token WORKSPACE_ID=ws-1 VARIABLE_ID=var-1\nset -- upd_success\n" + runOfAWorkspace,
			0,
			[]string{`"attributes":{"value":"upd_success"}`, "PATCH ", "/workspaces/ws-1/vars/var-1\n", `"id":"ws-1"`, "POST ", "/runs\n"},
		},
		// The CLI must find the provider that the repository contains, and the lock file must accept it on both systems.
		// The stubs take the place of the clone that the page names, and of the build.
		"a repository with the provider for two systems": {
			pipelines + "main.tf",
			map[string]string{
				"compile": `mkdir -p "${2%/*}"; echo "$GOOS" >"$2"`,
				"make":    `shift 2; exec '` + clitest.Program(t, "make") + `' -C '` + makefile + `' COMPILE=compile "$@"`,
			},
			"unset TF_REATTACH_PROVIDERS\n" + commands(t, "installation", "\n## Share the provider\n", "\n## ") +
				"grep -c h1: .terraform.lock.hcl\nterraform init -lockfile=readonly",
			0,
			[]string{"\n2\n", "Installed docs-hosting/docs v0.1.0"},
		},
		"a job that may have been started": {export, nil, apply + troubleshoot("terraform import"), 0, []string{"Import successful!"}},
		"a file that somebody changed": {
			"resources/docs_bundle_download/resource.tf", nil,
			apply + "echo edited >out/site/index.html\n" + troubleshoot("diff -r"),
			1,
			[]string{"diff -r out/site.old/index.html out/site/index.html"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripts(t)
			for command, script := range test.commands {
				s.command(t, command, script)
			}
			s.enter(t, test.example)
			s.shell(t, test.exit, test.script, test.want...)
		})
	}
}
