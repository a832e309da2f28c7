// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package s3test

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var versitygw = flag.String("versitygw", "", "the versitygw program to run; every test is skipped without it")

// gateway is a running versitygw. It listens on a socket in a folder of its
// own, so that no other program can be in the way or get in.
type gateway struct {
	socket          string
	accessKeyID     string
	secretAccessKey string
}

// startGateway runs a gateway until the test ends.
func startGateway(t *testing.T) *gateway {
	t.Helper()
	if *versitygw == "" {
		t.Skip("needs versitygw: run make test-s3")
	}
	folder, err := os.MkdirTemp("", "s3") //nolint:usetesting // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	objects, metadata := filepath.Join(folder, "objects"), filepath.Join(folder, "metadata")
	for _, directory := range []string{objects, metadata} {
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	g := &gateway{socket: filepath.Join(folder, "socket"), accessKeyID: rand.Text(), secretAccessKey: rand.Text()}

	ctx, cancel := context.WithDeadline(t.Context(), lastMoment(t))
	// Not every file system has the extended attributes that are the default.
	command := exec.CommandContext(ctx, *versitygw, "--quiet", "--port", g.socket, "posix", "--sidecar", metadata, objects)
	command.Env = []string{"ROOT_ACCESS_KEY_ID=" + g.accessKeyID, "ROOT_SECRET_ACCESS_KEY=" + g.secretAccessKey}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // it is killed
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("versitygw: %s\n%s", command.ProcessState, &output)
		}
	})
	g.await(ctx, t, ended)
	return g
}

// lastMoment is when the gateway must end at the latest: a test that runs into
// its timeout cleans nothing up.
func lastMoment(t *testing.T) time.Time {
	t.Helper()
	deadline, ok := t.Deadline()
	if !ok {
		return time.Now().Add(time.Hour)
	}
	return deadline.Add(-5 * time.Second)
}

// await returns when the gateway listens.
func (g *gateway) await(ctx context.Context, t *testing.T, ended <-chan struct{}) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := g.dial(ctx)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ended:
			t.Fatal("versitygw has ended")
		case <-again.C:
		}
	}
}

func (g *gateway) dial(ctx context.Context) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, "unix", g.socket)
}
