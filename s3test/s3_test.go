// Package s3test downloads a bundle from a real S3 server, versitygw, through links
// that the AWS SDK has signed. It is a module of its own, so that the SDK is
// not a dependency of the provider.
package s3test

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

var versitygw = flag.String("versitygw", "", "the versitygw program to run")

// The first link is refused, and the download through the second one is cut off and
// resumed.
func TestBundleFromRealObjectStore(t *testing.T) {
	if *versitygw == "" && os.Getenv("CI") != "" {
		t.Fatal("needs versitygw: run make test-s3")
	}
	if *versitygw == "" {
		t.Skip("needs versitygw: run make test-s3")
	}
	store := startStore(t)
	service, err := simulator.Listen(simulator.Options{Queue: -1, Run: -1, Store: store.put})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = service.Close() })
	jobID := service.AddJob(simulator.JobSpec{Queue: -1, Run: -1})
	c, err := client.New(client.Config{BaseURL: service.BaseURL, APIKey: simulator.DefaultAPIKey})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var received memory

	store.cutAfter = 500
	if err := c.Begin().DownloadBundle(ctx, jobID, &received); err != nil {
		t.Fatal(err)
	}
	if want := []string{"403", "200", "bytes=500-: 206"}; !slices.Equal(store.log, want) {
		t.Errorf("the object store returned %q, want %q", store.log, want)
	}
	if !bytes.Equal(received.Bytes(), store.object) {
		t.Errorf("received %d bytes, which are not the %d of the object", received.Len(), len(store.object))
	}
}

// memory is a destination.
type memory struct{ bytes.Buffer }

func (m *memory) Restart() error {
	m.Reset()
	return nil
}

// store is a bucket of a running versitygw, behind a proxy that logs the responses to
// presigned links and cuts one of them.
type store struct {
	client *s3.Client
	bucket string

	mu       sync.Mutex
	links    int   // of which the first is not valid
	cutAfter int64 // bytes of the body of the next 200
	log      []string
	object   []byte // stored last
}

func startStore(t *testing.T) *store {
	t.Helper()
	folder, err := os.MkdirTemp("", "s3") //nolint:usetesting // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket, objects, metadata := filepath.Join(folder, "socket"), filepath.Join(folder, "objects"), filepath.Join(folder, "metadata")
	for _, directory := range []string{objects, metadata} {
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	key, secret := rand.Text(), rand.Text()
	command := exec.CommandContext(t.Context(), *versitygw, "--quiet", "--port", socket, "posix", "--sidecar", metadata, objects)
	command.Env = []string{"ROOT_ACCESS_KEY_ID=" + key, "ROOT_SECRET_ACCESS_KEY=" + secret}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("versitygw: %s", &output)
		}
	})

	s := &store{bucket: "bundles"}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "store"})
			r.Out.Host = r.In.Host // the signature covers it
		},
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, socket) },
			DisableCompression: true,
		},
		ModifyResponse: s.logResponse,
		FlushInterval:  -1, // what comes before the cut arrives
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	s.client = s3.New(s3.Options{
		BaseEndpoint: aws.String(front.URL),
		Credentials:  credentials.NewStaticCredentialsProvider(key, secret, ""),
		Region:       "us-east-1",
		UsePathStyle: true, // the bucket is not a host name on loopback
	})
	if _, err := s.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &s.bucket}); err != nil {
		t.Fatal(err)
	}
	return s
}

// dial connects to the server, which may still be starting.
func dial(ctx context.Context, socket string) (conn net.Conn, err error) {
	var dialer net.Dialer
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for range 500 {
		if conn, err = dialer.DialContext(ctx, "unix", socket); err == nil {
			return conn, nil
		}
		<-ticker.C
	}
	return nil, err
}

// logResponse logs the response to a presigned link, and cuts its body if that is asked for.
func (s *store) logResponse(resp *http.Response) error {
	if !resp.Request.URL.Query().Has("X-Amz-Signature") {
		return nil // the SDK's own request
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := ""
	if r := resp.Request.Header.Get("Range"); r != "" {
		asked = r + ": "
	}
	s.log = append(s.log, fmt.Sprint(asked, resp.StatusCode))
	if resp.StatusCode == http.StatusOK && s.cutAfter > 0 {
		start := io.LimitReader(resp.Body, s.cutAfter)
		resp.Body = cutBody{io.MultiReader(start, iotest.ErrReader(http.ErrAbortHandler)), resp.Body}
		s.cutAfter = 0
	}
	return nil
}

// put implements simulator.Options.Store.
func (s *store) put(ctx context.Context, name string, archive []byte, lifetime time.Duration) (string, error) {
	s.object = archive
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &name, Body: bytes.NewReader(archive)})
	if err != nil {
		return "", err
	}
	request, err := s3.NewPresignClient(s.client).
		PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &name}, s3.WithPresignExpires(lifetime))
	if err != nil {
		return "", err
	}
	if s.links++; s.links == 1 {
		request.URL += "0" // which ends with the signature
	}
	return request.URL, nil
}

// cutBody fails after some bytes.
type cutBody struct {
	io.Reader
	io.Closer
}
