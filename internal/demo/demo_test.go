// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const signature = "X-Amz-Signature=0f1e2d3c"

func TestListPages(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		status  int
		body    []byte
		printed string
		err     string
	}{
		"prints the pages and counts the rest": {
			http.StatusOK, bundle(t, "index.html", "guides/links.html", "site.css"),
			"       5  index.html\n       5  guides/links.html\n2 pages, 3 files\n", "",
		},
		"fails on a bundle without pages": {http.StatusOK, bundle(t, "site.css"), "0 pages, 1 files\n", "the bundle holds no page"},
		"fails on a bundle that is cut":   {http.StatusOK, bundle(t, "index.html")[:40], "", "reading the bundle: unexpected EOF"},
		"fails on what is no gzip":        {http.StatusOK, []byte("<html></html>"), "", "reading the bundle: gzip: invalid header"},
		"fails on an expired link":        {http.StatusForbidden, nil, "", "the storage answered 403 Forbidden"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RawQuery != signature {
					t.Errorf("query is %q, want %q", r.URL.RawQuery, signature)
				}
				w.WriteHeader(test.status)
				_, _ = w.Write(test.body)
			}))
			defer storage.Close()

			var out bytes.Buffer
			err := listPages(t.Context(), &out, storage.URL+"/bundle.tar.gz?"+signature)
			checkError(t, err, test.err)
			if out.String() != test.printed {
				t.Errorf("printed %q, want %q", out.String(), test.printed)
			}
		})
	}
}

func TestListPagesKeepsTheLinkOutOfTheError(t *testing.T) {
	t.Parallel()

	storage := httptest.NewServer(http.NotFoundHandler())
	storage.Close()
	for _, link := range []string{storage.URL + "/?" + signature, "http://%zz/?" + signature} {
		err := listPages(t.Context(), io.Discard, link)
		if err == nil || strings.Contains(err.Error(), signature) {
			t.Errorf("error is %v, want one without the query", err)
		}
	}
}

func TestRunSaysWhatToInstallWhereThereIsNoCLI(t *testing.T) {
	t.Parallel()

	missing := filepath.Join(t.TempDir(), "terraform")
	err := run(t.Context(), []string{"-tf", missing}, io.Discard)
	for _, want := range []string{missing + " is not on PATH", "hc-install", "make demo TF="} {
		checkError(t, err, want)
	}
}

func TestCommandIsInterruptedOnceAndLeavesNoProcess(t *testing.T) {
	t.Parallel()

	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	stdout, out := io.Pipe()
	cmd := (&demo{out: out}).command(ctx, "sh", "-c", `trap 'echo interrupted' INT; sleep 60 & echo ready; wait; wait`)
	cmd.WaitDelay = 200 * time.Millisecond // the second wait outlasts the first interrupt

	// Only the children hold the writing end, so the reading end ends when they have.
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alive.Close() }()
	cmd.ExtraFiles = []*os.File{held}

	ended := make(chan error, 1)
	go func() {
		err := cmd.run()
		_ = out.Close()
		ended <- err
	}()

	var lines []string
	for printed := bufio.NewScanner(stdout); printed.Scan(); {
		lines = append(lines, printed.Text())
		if printed.Text() == "ready" {
			_ = held.Close()
			interrupt()
		}
	}
	if err := <-ended; err == nil {
		t.Error("an interrupted command is no success")
	}
	if want := []string{"ready", "interrupted"}; !slices.Equal(lines, want) {
		t.Errorf("printed %q, want %q", lines, want)
	}
	if err := alive.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(alive); err != nil {
		t.Errorf("a child lives on: %v", err)
	}
}

func TestStartSimulator(t *testing.T) {
	t.Parallel()

	tests := map[string]struct{ program, start, stop string }{
		"reads the address and the key": {
			`trap 'exit 0' INT; echo base_url=http://127.0.0.1:1/v1; echo api_key=sim_1; sleep 60 & wait`, "", "",
		},
		"fails where the program ends":                {`exit 3`, "did not print its base_url", "exit status 3"},
		"fails where it prints something else":        {`trap 'exit 0' INT; echo base_url=x; echo hello`, "did not print its api_key", ""},
		"tells of a simulator that does not end well": {`trap 'exit 4' INT; echo base_url=x; echo api_key=y; sleep 60 & wait`, "", "exit status 4"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := &demo{out: io.Discard, scratch: t.TempDir()}
			if err := os.WriteFile(d.simulatorPath(), []byte("#!/bin/sh\n"+test.program+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			checkError(t, d.startSimulator(t.Context()), test.start)
			checkError(t, d.sim.stop(), test.stop)
			if test.start == "" && !slices.Contains(d.env, "DOCS_API_KEY="+d.sim.apiKey) {
				t.Error("the key did not reach the environment")
			}
		})
	}
}

// checkError fails unless err says want; an empty want is no error.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error is %v, want none", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error is %v, want %q in it", err, want)
	}
}

// bundle is a gzip tar of files of five bytes each.
func bundle(t *testing.T, names ...string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, name := range names {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 5}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
