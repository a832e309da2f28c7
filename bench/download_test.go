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
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const bundleSize = 256 << 20

// BenchmarkDownload downloads and hashes a bundle from loopback, as curl and sha256sum do.
func BenchmarkDownload(b *testing.B) {
	folder := b.TempDir()
	content := strings.Repeat("\x000123456789abcde", bundleSize/16) // text is never a bundle
	if err := os.WriteFile(filepath.Join(folder, "bundle"), []byte(content), 0o600); err != nil {
		b.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(folder)))
	mux.HandleFunc("POST /v1/static-export/jobs/job/bundle", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"bundleUrl": "http://%s/bundle"}`, r.Host)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	c, err := client.New(client.Config{BaseURL: server.URL + "/v1", APIKey: "key_0123456789"})
	if err != nil {
		b.Fatal(err)
	}
	for name, download := range map[string]func(*testing.B) error{
		"ours": func(b *testing.B) error { return download(b, c, filepath.Join(b.TempDir(), "bundle")) },
		"curl": func(b *testing.B) error {
			command := exec.CommandContext(b.Context(), "sh", "-c", "curl -sfo bundle "+server.URL+"/bundle && sha256sum bundle")
			command.Dir = b.TempDir() // of its own, because some file systems write a file to the disk that replaces another
			return command.Run()
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(bundleSize)
			b.ReportAllocs()
			for b.Loop() {
				if err := download(b); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// download does what the provider does.
func download(b *testing.B, c *client.Client, target string) error {
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	staged, err := bundle.Target{Path: target}.Stage()
	if err != nil {
		return err
	}
	if err = c.DownloadBundle(ctx, "job", staged); err == nil {
		_, err = staged.Verify(ctx)
	}
	if err == nil {
		_, err = staged.Commit(&bundle.Placed{}, bundle.Found{}, nil)
	}
	return errors.Join(err, staged.Close())
}
