// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// program is run in the background.
type program struct {
	baseURL, key string
	stop         context.CancelFunc
	stderr       *bytes.Buffer // complete once ended has a value
	ended        chan error
}

func launch(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	p := &program{stop: stop, stderr: &bytes.Buffer{}, ended: make(chan error, 1)}
	go func() {
		err := run(ctx, args, writer, p.stderr)
		_ = writer.CloseWithError(io.ErrUnexpectedEOF)
		p.ended <- err
	}()
	lines := bufio.NewReader(reader)
	p.baseURL = setting(t, lines, "base_url=")
	p.key = setting(t, lines, "api_key=")
	t.Cleanup(stop)
	return p
}

func setting(t *testing.T, lines *bufio.Reader, name string) string {
	t.Helper()
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	value, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), name)
	if !found {
		t.Fatalf("the line %q does not begin with %s", line, name)
	}
	return value
}

func (p *program) call(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, p.baseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestRunServesUntilItIsStopped(t *testing.T) {
	t.Parallel()
	p := launch(t)
	for _, state := range []string{"success", "failure", "in_progress", "queued"} {
		status, body := p.call(t, http.MethodGet, "/project/update-status/upd_"+state, "")
		if status != 200 || !strings.Contains(body, `"status":"`+state+`"`) {
			t.Errorf("upd_%s answered %d %s", state, status, body)
		}
	}
	p.stop()
	if err := <-p.ended; err != nil {
		t.Errorf("run ended with %v", err)
	}
	if !strings.Contains(p.stderr.String(), "upd_in_progress") {
		t.Errorf("the seeded updates are not named: %s", p.stderr)
	}
	if response, err := http.Get(p.baseURL); err == nil {
		_ = response.Body.Close()
		t.Error("the service answers after the end")
	}
}

func TestRunTakesItsFlags(t *testing.T) {
	t.Parallel()
	p := launch(t, "-key", "sim_mine", "-queue", "0s", "-job-duration", "0", "-link-lifetime", "7s", "-keep-link")
	if p.key != "sim_mine" {
		t.Errorf("the key is %q", p.key)
	}
	status, body := p.call(t, http.MethodPost, "/static-export/jobs", `{"domain":"docs.acme.example"}`)
	if status != 202 || !strings.Contains(body, `"status":"completed"`) {
		t.Errorf("the start answered %d %s", status, body)
	}
	_, rest, _ := strings.Cut(body, `"jobId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	_, first := p.call(t, http.MethodPost, "/static-export/jobs/"+id+"/bundle", "")
	_, second := p.call(t, http.MethodPost, "/static-export/jobs/"+id+"/bundle", "")
	if first != second || !strings.Contains(first, "X-Amz-Expires=7&") {
		t.Errorf("the bundles are %s and %s", first, second)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":           {[]string{"-port", "1"}, "-port"},
		"an argument":               {[]string{"serve"}, `unexpected argument "serve"`},
		"an empty key":              {[]string{"-key", ""}, "-key"},
		"a negative duration":       {[]string{"-job-duration", "-1s"}, "-job-duration"},
		"a negative queue":          {[]string{"-queue", "-1s"}, "-queue"},
		"a link of half a second":   {[]string{"-link-lifetime", "500ms"}, "-link-lifetime"},
		"an address of the outside": {[]string{"-address", "0.0.0.0:0"}, "loopback"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout bytes.Buffer
			err := run(t.Context(), test.args, &stdout, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("run ended with %v, want an error about %q", err, test.want)
			}
			if stdout.Len() > 0 {
				t.Errorf("run printed %q", stdout.String())
			}
		})
	}
}

func TestRunPrintsHelp(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	if err := run(t.Context(), []string{"-help"}, io.Discard, &stderr); err != nil {
		t.Errorf("run ended with %v", err)
	}
	for _, name := range []string{"-address", "-key", "-job-duration", "-queue", "-link-lifetime", "-keep-link"} {
		if !strings.Contains(stderr.String(), name+" ") && !strings.Contains(stderr.String(), name+"\n") {
			t.Errorf("the help does not name %s:\n%s", name, stderr.String())
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestRunEndsWhenNobodyReads(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), nil, brokenPipe{}, io.Discard); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("run ended with %v", err)
	}
}
