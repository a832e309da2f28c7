package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// cli runs commands of the real CLI with the provider of a harness, in a folder of its own.
type cli struct {
	*harness
	terraform *clitest.CLI
}

// cli returns a CLI with a configuration. It skips the test if there is no CLI.
func (h *harness) cli(t *testing.T, config string) *cli {
	t.Helper()
	c := &cli{h, clitest.New(t, "docs-hosting/docs", h.server())}
	c.write(t, config)
	return c
}

// write replaces the configuration.
func (c *cli) write(t *testing.T, config string) {
	t.Helper()
	c.terraform.Write(t, "main.tf", c.terraform.Require()+config)
}

// wantEmptyPlan checks that there is nothing to do.
func (c *cli) wantEmptyPlan(t *testing.T, flags ...string) {
	t.Helper()
	c.terraform.Run(t, 0, append([]string{"plan", "-input=false", "-detailed-exitcode"}, flags...)...)
}

// values returns the attributes of everything in the state, by addresses. It reads the file itself: `show` would cost a
// process, in which the CLI asks the provider for its schema.
func (c *cli) values(t *testing.T) map[string]map[string]any {
	t.Helper()
	var state struct {
		Resources []struct {
			Mode, Type, Name string
			Instances        []struct{ Attributes map[string]any }
		}
	}
	content, err := os.ReadFile(c.inFolder("terraform.tfstate"))
	if err == nil {
		err = json.Unmarshal(content, &state)
	}
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]map[string]any{}
	for _, r := range state.Resources {
		address := strings.TrimPrefix(r.Mode+".", "managed.") + r.Type + "." + r.Name
		switch len(r.Instances) {
		case 0: // what OpenTofu may leave after an interrupt
		case 1:
			values[address] = r.Instances[0].Attributes
		default:
			t.Fatalf("%s has %d instances, and the tests expect one", address, len(r.Instances))
		}
	}
	return values
}

// interrupt runs a command that must fail, interrupts it during its first request to
// the endpoint, and returns its output.
func (c *cli) interrupt(t *testing.T, endpoint string, args ...string) string {
	t.Helper()
	defer c.service.AddFault(simulator.Fault{Endpoint: endpoint, Delay: simulator.Forever})()
	return c.interruptWhen(t, func() bool { return c.service.Count(endpoint) > 0 }, args...)
}

// interruptWhen runs a command that must fail, interrupts it when its requests fulfill a condition, and returns its
// output, unwrapped.
func (c *cli) interruptWhen(t *testing.T, fulfilled func() bool, args ...string) string {
	t.Helper()
	// Older ones run as a child of a process that ignores the signal.
	c.terraform.SkipBelow(t, 2, 0, "a single process to interrupt")
	c.service.ResetRequests()
	command, output := c.terraform.Command(append(args, "-no-color")...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !fulfilled() {
		select {
		case err := <-ended:
			t.Fatalf("the command ended before it was interrupted: %v\n%s", err, output)
		case <-look.C:
		}
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Errorf("the interrupted command succeeded:\n%s", output)
	}
	return unwrapped(output.String())
}

// site is the address of the export in the tests' configurations.
const site = "docs_static_export.site"

// siteExport returns the configuration of an export with further arguments.
func siteExport(arguments ...string) string {
	return fmt.Sprintf("resource \"docs_static_export\" \"site\" {\n  domain = \"docs.example.com\"\n  %s\n}\n", strings.Join(arguments, "\n  "))
}

// apply applies the configuration and returns the output, unwrapped.
func (c *cli) apply(t *testing.T, wantExit int, flags ...string) string {
	t.Helper()
	return unwrapped(c.terraform.Run(t, wantExit, append([]string{"apply", "-input=false", "-auto-approve"}, flags...)...))
}

var lineBreak = regexp.MustCompile(`[\s│]+`)

// unwrapped returns the output of the CLI as one line. Terraform wraps diagnostics
// and draws a border next to them.
func unwrapped(output string) string { return lineBreak.ReplaceAllString(output, " ") }

// download checks that a link leads to an archive.
func download(link string) error {
	response, err := http.Get(link)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, 512))
	if kind := http.DetectContentType(content); response.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "application/") {
		return fmt.Errorf("the link returns %s, %s", response.Status, kind)
	}
	return err
}
