// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// lockedBuffer is a buffer that several goroutines can use.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// program is a run of the program.
type program struct {
	t            *testing.T
	baseURL, key string
	stop         context.CancelFunc
	stderr       *lockedBuffer
	ended        chan error
}

func launch(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	p := &program{t: t, stop: stop, stderr: &lockedBuffer{}, ended: make(chan error, 1)}
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

func TestFlags(t *testing.T) {
	t.Parallel()
	const start, jobs = `{"domain":"docs.example.com"}`, "/static-export/jobs"
	idOf := func(job string) string {
		_, rest, _ := strings.Cut(job, `"jobId":"`)
		id, _, _ := strings.Cut(rest, `"`)
		return id
	}
	t.Run("shape jobs and links", func(t *testing.T) {
		t.Parallel()
		p := launch(t, "-key", "sim_mine", "-queue", "0s", "-job-duration", "0", "-link-lifetime", "7s", "-keep-link")
		_, job := p.call("POST", jobs, start)
		_, first := p.call("POST", jobs+"/"+idOf(job)+"/bundle", "")
		_, second := p.call("POST", jobs+"/"+idOf(job)+"/bundle", "")
		if p.key != "sim_mine" || first != second || !strings.Contains(first, "X-Amz-Expires=7&") {
			t.Errorf("with the key %s, the bundles are %s and %s", p.key, first, second)
		}
	})
	t.Run("log requests", func(t *testing.T) {
		t.Parallel()
		p := launch(t, "-log", "-queue", "0s", "-job-duration", "0")
		_, job := p.call("POST", jobs, start)
		p.call("POST", jobs+"/"+idOf(job)+"/bundle", "")
		p.call("GET", "/project/update-status/upd_failure", "")
		p.call("GET", jobs+"/x", "")
		p.stop()
		if err := <-p.ended; err != nil {
			t.Fatal(err)
		}
		_, log, _ := strings.Cut(p.stderr.String(), "\n")
		want := "service: POST /v1/static-export/jobs: 202, completed, 100 %, 6 pages\n" +
			"service: POST /v1/static-export/jobs/" + idOf(job) + "/bundle: 200\n" +
			"service: GET /v1/project/update-status/upd_failure: 200, failure\n" +
			"service: GET /v1/static-export/jobs/x: 404\n"
		if log != want {
			t.Errorf("the log is\n%s\nwant\n%s", log, want)
		}
	})
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
