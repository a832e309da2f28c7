// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program is a run of the program.
type program struct {
	t            *testing.T
	baseURL, key string
	stop         context.CancelFunc
	stderr       *os.File
	ended        chan error
}

func launch(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stderr.Close() })
	p := &program{t: t, stop: stop, stderr: stderr, ended: make(chan error, 1)}
	go func() {
		err := run(ctx, args, writer, p.stderr)
		_ = writer.Close()
		p.ended <- err
	}()
	lines := bufio.NewReader(reader)
	for _, setting := range []struct {
		name  string
		value *string
	}{{"export DOCS_BASE_URL=", &p.baseURL}, {"export DOCS_API_KEY=", &p.key}} {
		line, err := lines.ReadString('\n')
		value, found := strings.CutPrefix(strings.TrimSpace(line), setting.name)
		if err != nil || !found {
			t.Fatalf("the line %q, %v, does not begin with %s", line, err, setting.name)
		}
		*setting.value = value
	}
	t.Cleanup(stop)
	return p
}

func (p *program) call(method, path, body string) (int, string) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.baseURL+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestRunServesUntilItIsStopped(t *testing.T) {
	t.Parallel()
	p := launch(t)
	for _, state := range []string{"success", "failure", "in_progress", "queued"} {
		status, body := p.call("GET", "/project/update-status/upd_"+state, "")
		if status != 200 || !strings.Contains(body, `"status":"`+state+`"`) {
			t.Errorf("upd_%s returns %d %s", state, status, body)
		}
	}
	p.stop()
	if err := <-p.ended; err != nil {
		t.Errorf("run returns %v", err)
	}
	if response, err := http.Get(p.baseURL); err == nil {
		_ = response.Body.Close()
		t.Error("the service still responds")
	}
}

func TestFlagsShapeJobsAndLinksAndLogRequests(t *testing.T) {
	t.Parallel()
	p := launch(t, "-key", "sim_mine", "-queue", "0s", "-job-duration", "0", "-link-lifetime", "7s", "-keep-link", "-log")
	const jobs = "/static-export/jobs"
	_, job := p.call("POST", jobs, `{"domain":"docs.example.com"}`)
	_, rest, _ := strings.Cut(job, `"jobId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	_, first := p.call("POST", jobs+"/"+id+"/bundle", "")
	_, second := p.call("POST", jobs+"/"+id+"/bundle", "")
	if p.key != "sim_mine" || first != second || !strings.Contains(first, "X-Amz-Expires=7&") || strings.Contains(first, strings.TrimSuffix(p.baseURL, "/v1")) {
		t.Errorf("with the key %s, the bundles are %s and %s", p.key, first, second)
	}
	p.call("GET", "/project/update-status/upd_failure", "")
	p.call("GET", jobs+"/x", "")
	p.stop()
	if err := <-p.ended; err != nil {
		t.Fatal(err)
	}
	stderr, err := os.ReadFile(p.stderr.Name())
	if err != nil {
		t.Fatal(err)
	}
	_, log, _ := strings.Cut(string(stderr), "\n")
	link := "service: POST /v1/static-export/jobs/" + id + "/bundle: 200\n"
	want := "service: POST /v1/static-export/jobs: 202, completed, 100 %, 6 pages\n" + link + link +
		"service: GET /v1/project/update-status/upd_failure: 200, failure\n" +
		"service: GET /v1/static-export/jobs/x: 404\n"
	if log != want {
		t.Errorf("the log is\n%s\nwant\n%s", log, want)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-port 1":              "-port",
		"serve":                `unexpected argument "serve"`,
		"-key=":                "-key",
		"-job-duration -1s":    "negative",
		"-link-lifetime 500ms": "-link-lifetime",
		"-address 0.0.0.0:0":   "loopback",
		"-address 192.0.2.1:0": "loopback",
		"-address :0":          "loopback",
		"-address 127.0.0.1":   "missing port",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			var stdout bytes.Buffer
			err := run(t.Context(), strings.Fields(args), &stdout, io.Discard)
			if err == nil || !strings.Contains(err.Error(), want) || stdout.Len() > 0 {
				t.Errorf("run prints %q and returns %v, want an error with %s", stdout.String(), err, want)
			}
		})
	}
}
