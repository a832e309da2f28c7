//go:build linux

package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	downloadRounds = 5
	smallBundle    = 1 << 10
	largeBundle    = 256 << 20
)

// TestMain makes the test program one that downloads, if SERVICE is in its environment:
// memory is that of a process.
func TestMain(m *testing.M) {
	if service := os.Getenv("SERVICE"); service != "" {
		if err := download(service, os.Getenv("JOB"), os.Getenv("TARGET")); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}

// download downloads and hashes a bundle as the provider does, and prints its peak
// memory.
func download(service, jobID, target string) error {
	c, err := client.New(client.Config{BaseURL: service + "/v1", APIKey: "key_0123456789"})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	staged, err := bundle.Target{Path: target}.Stage()
	if err != nil {
		return err
	}
	err = c.Begin().DownloadBundle(ctx, jobID, staged)
	if err == nil {
		_, err = staged.Verify(ctx)
	}
	if err == nil {
		_, err = staged.Commit(&bundle.Placed{}, bundle.Found{}, nil)
	}
	if err := errors.Join(err, staged.Close(ctx)); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Fprintln(os.Stdout, after)
	return err
}

// BenchmarkDownload downloads from loopback beside curl.
func BenchmarkDownload(b *testing.B) {
	folder, targets := b.TempDir(), b.TempDir()
	for _, size := range []int{smallBundle, largeBundle} {
		content := strings.Repeat("\x000123456789abcde", size/16) // text is never a bundle
		if err := os.WriteFile(filepath.Join(folder, strconv.Itoa(size)), []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	// The bundle of job 1024 is the file of that name.
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(folder)))
	mux.HandleFunc("POST /v1/static-export/jobs/{id}/bundle", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"bundleUrl": "http://%s/%s"}`, r.Host, r.PathValue("id"))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	speed := func(command *exec.Cmd) (mebibytesPerSecond float64, output string) {
		began := time.Now()
		all, err := command.CombinedOutput()
		if err != nil {
			b.Fatalf("%q: %v\n%s", command.Args, err, all)
		}
		return largeBundle / (1 << 20) / time.Since(began).Seconds(), string(all)
	}
	// ours returns the speed of a download and the peak memory of its process.
	ours := func(size int) (mebibytesPerSecond, kibibytes float64) {
		target := filepath.Join(targets, strconv.Itoa(size))
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "SERVICE="+server.URL, "JOB="+strconv.Itoa(size), "TARGET="+target)
		mebibytesPerSecond, output := speed(command)
		_, err := fmt.Sscan(output, &kibibytes)
		if err := errors.Join(err, os.Remove(target)); err != nil {
			b.Fatal(err)
		}
		return mebibytesPerSecond, kibibytes
	}
	provider, curl := medians{}, medians{}
	for range downloadRounds {
		_, idle := ours(smallBundle)
		mebibytesPerSecond, peak := ours(largeBundle)
		provider.add("MiB/s", mebibytesPerSecond)
		provider.add("over-idle-MiB", (peak-idle)/1024)
		large := server.URL + "/" + strconv.Itoa(largeBundle)
		mebibytesPerSecond, _ = speed(exec.Command("curl", "-sf", "-o", filepath.Join(targets, "curl"), large))
		curl.add("MiB/s", mebibytesPerSecond)
	}
	provider.report(b, "ours")
	curl.report(b, "curl")
}

// medians are the figures of several runs, by unit.
type medians map[string][]float64

func (m medians) add(unit string, value float64) { m[unit] = append(m[unit], value) }

// report reports earlier measurements, which alternated with the peers', as a benchmark.
func (m medians) report(b *testing.B, name string) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() { //nolint:revive // it was measured before
		}
		for unit, values := range m {
			slices.Sort(values)
			b.ReportMetric(values[len(values)/2], unit)
		}
		b.ReportMetric(0, "ns/op")
	})
}
