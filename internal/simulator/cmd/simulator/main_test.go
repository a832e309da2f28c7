package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestRunServesAsTheFlagsSayUntilItIsStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reader, writer := io.Pipe()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr")) // into which requests may write at the same time
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stderr.Close() }()
	ended := make(chan error, 1)
	const flags = "-address 127.0.0.1:0 -queue 0s -job-duration 0 -link-lifetime 7s -log -fault start=503:1 -fault start=lost:1"
	go func() { ended <- run(ctx, strings.Fields(flags), writer, stderr) }()
	var baseURL, key string
	if _, err := fmt.Fscanf(reader, "export DOCS_BASE_URL=%s\nexport DOCS_API_KEY=%s\n", &baseURL, &key); err != nil || key != simulator.DefaultAPIKey {
		t.Fatalf("it prints the key %q, %v", key, err)
	}
	call := func(method, path string) string { // with the body of a start
		t.Helper()
		body := strings.NewReader(`{"domain":"docs.example.com"}`)
		request, err := http.NewRequestWithContext(t.Context(), method, baseURL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	const jobs = "/static-export/jobs"
	for _, want := range []string{`{"error":"simulated fault"}`, "EOF"} {
		if got := call("POST", jobs); !strings.HasSuffix(got, want) {
			t.Errorf("a start with a fault returns %q, want %q", got, want)
		}
	}
	id := regexp.MustCompile(`se_\w+`).FindString(call("POST", jobs))
	bundle := call("POST", jobs+"/"+id+"/bundle")
	if !strings.Contains(bundle, "X-Amz-Expires=7&") || strings.Contains(bundle, strings.TrimSuffix(baseURL, "/v1")) {
		t.Errorf("the bundle is %s", bundle)
	}
	call("GET", jobs+"/x")
	want := "service: POST /v1/static-export/jobs: fault\nservice: POST /v1/static-export/jobs: fault, job se_\n" +
		"service: POST /v1/static-export/jobs: 202, job se_, completed, 100%, page count 6\n" +
		"service: POST /v1/static-export/jobs/" + id + "/bundle: 200\n" + "service: GET /v1/static-export/jobs/x: 404\n"
	for _, status := range []string{"success", "failure", "in_progress", "queued"} {
		call("GET", "/project/update-status/upd_"+status)
		want += "service: GET /v1/project/update-status/upd_" + status + ": 200, " + status + "\n"
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := call("GET", jobs+"/x"); !strings.Contains(got, "refused") {
		t.Errorf("the service still responds with %s", got)
	}
	text, err := os.ReadFile(stderr.Name())
	_, log, _ := strings.Cut(string(text), "\n")
	if log = regexp.MustCompile(`job se_\w+`).ReplaceAllString(log, "job se_"); err != nil || log != want {
		t.Errorf("the log is\n%s%v\nwant\n%s", log, err, want)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop() // so that arguments that are accepted end, too
	for args, want := range map[string]string{
		"-port 1":            "-port",
		"serve":              `unexpected argument "serve"`,
		"-address 127.0.0.1": "missing port",
		"-fault none=503":    "ENDPOINT",
		"-fault job=200":     "STATUS",
		"-fault job=missing": "STATUS",
		"-fault job=503:0":   "TIMES",
		"-fault job=503:":    "TIMES",
	} {
		var stdout bytes.Buffer
		err := run(stopped, strings.Fields(args), &stdout, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || stdout.Len() > 0 {
			t.Errorf("%s: run prints %q and returns %v, want an error with %s", args, &stdout, err, want)
		}
	}
}

func TestFaultsOfTheTestingPageAreAccepted(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/guides/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	faults := regexp.MustCompile("`(-fault [^`]+)`").FindAllStringSubmatch(string(page), -1)
	for _, fault := range faults {
		if f, err := parse(strings.Fields(fault[1]), io.Discard); err != nil || len(f.faults) != 1 {
			t.Errorf("%s: %v", fault[1], err)
		}
	}
	if len(faults) == 0 {
		t.Error("the page has no faults")
	}
}
