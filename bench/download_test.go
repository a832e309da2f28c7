// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	downloadRounds = 5
	smallBundle    = 1 << 10
	largeBundle    = 64 << 20
	largestBundle  = 256 << 20

	// With this in the environment, the program of the tests is one that downloads.
	linkVariable, targetVariable = "BENCH_LINK", "BENCH_TARGET"
)

func TestMain(m *testing.M) {
	if link := os.Getenv(linkVariable); link != "" {
		if err := download(link, os.Getenv(targetVariable)); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}

// download fetches a bundle, which hashes it, and leaves beside it how much
// memory that took.
func download(link, target string) error {
	c, err := client.New(client.Config{BaseURL: "https://service.invalid/v1", APIKey: "key_0123456789"})
	if err != nil {
		return err
	}
	_, err = c.DownloadBundle(context.Background(), client.DownloadRequest{
		Path: target,
		Link: func(context.Context, bool) (*client.Bundle, error) { return &client.Bundle{URL: link}, nil },
	})
	if err != nil {
		return err
	}
	return os.WriteFile(target+".memory", strconv.AppendInt(nil, peakMemory(os.Getpid()), 10), 0o600)
}

// BenchmarkDownload fetches a bundle from loopback, in a process of its own.
func BenchmarkDownload(b *testing.B) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		leaveOut("curl", err)
	}
	folder := b.TempDir()
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	for _, size := range []int64{smallBundle, largeBundle, largestBundle} {
		writeBundle(b, filepath.Join(folder, fmt.Sprint(size)), size)
	}
	target := filepath.Join(b.TempDir(), "bundle")
	ours, theirs := medians{}, medians{}
	for range downloadRounds {
		memory := map[int64]int64{}
		for _, size := range []int64{smallBundle, largeBundle, largestBundle} {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), linkVariable+"="+server.URL+"/"+fmt.Sprint(size), targetVariable+"="+target)
			addSpeed(b, ours, cmd, size)
			memory[size] = reported(b, target+".memory")
		}
		ours.add("over-idle-MiB", mebibytes(memory[largestBundle]-memory[smallBundle]))
		ours.add("growth-MiB", mebibytes(memory[largestBundle]-memory[largeBundle]))
		if curl != "" {
			addSpeed(b, theirs, exec.Command(curl, "--silent", "--fail", "--output", target, server.URL+"/"+fmt.Sprint(largestBundle)), largestBundle)
		}
	}
	ours.report(b, "ours")
	theirs.report(b, "curl")
}

// addSpeed runs a download and notes how fast it was, if it was the largest.
func addSpeed(b *testing.B, to medians, cmd *exec.Cmd, size int64) {
	b.Helper()
	spent, err := measure(cmd)
	if err != nil {
		b.Fatal(err)
	}
	if size == largestBundle {
		to.add("MiB/s", mebibytes(size)/spent.wall.Seconds())
		to.add("cpu-s", spent.cpu.Seconds())
	}
}

func reported(b *testing.B, path string) int64 {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	number, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return number
}

// writeBundle writes a file that is in memory rather than read from disk when it
// is served.
func writeBundle(b *testing.B, path string, size int64) {
	b.Helper()
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	block := make([]byte, min(size, 1<<20))
	for i := range block {
		block[i] = byte(i * i >> 3)
	}
	for written := int64(0); written < size; written += int64(len(block)) {
		if _, err := file.Write(block); err != nil {
			b.Fatal(err)
		}
	}
}
