// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

const startRounds = 21

// handshake is how Terraform makes itself known to a plugin.
var handshake = plugin.HandshakeConfig{
	MagicCookieKey:   "TF_PLUGIN_MAGIC_COOKIE",
	MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
}

// schemaMethods are the names of the call for the schema, by protocol version.
var schemaMethods = map[int]string{
	5: "/tfplugin5.Provider/GetSchema",
	6: "/tfplugin6.Provider/GetProviderSchema",
}

// starters are the providers whose start is measured, peers after our own.
var starters = []struct{ name, source string }{
	{"ours", ownSource},
	{"scaffolding", "registry.terraform.io/hashicorp/scaffolding"},
	{"null", "registry.terraform.io/hashicorp/null"},
}

// BenchmarkStart starts providers as Terraform does and asks for their schema.
func BenchmarkStart(b *testing.B) {
	c := newCLI(b)
	programs, measured := map[string]string{}, map[string]medians{}
	for _, s := range starters {
		measured[s.name] = medians{}
		w, err := c.workspace(b, s.source, "")
		if err != nil {
			leaveOut(s.name, err)
			continue
		}
		if programs[s.name], _, err = w.provider(); err != nil {
			b.Fatal(err)
		}
		if s.source != ownSource {
			w.announceProvider(b, s.name)
		}
		info, err := os.Stat(programs[s.name])
		if err != nil {
			b.Fatal(err)
		}
		measured[s.name].add("MiB", mebibytes(info.Size()))
	}
	for range startRounds {
		for _, s := range starters {
			if program := programs[s.name]; program != "" {
				if err := start(b.Context(), program, measured[s.name]); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	for _, s := range starters {
		measured[s.name].report(b, s.name)
	}
}

// start measures one life of a provider.
func start(ctx context.Context, program string, to medians) error {
	cmd := exec.CommandContext(ctx, program)
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake,
		VersionedPlugins: map[int]plugin.PluginSet{5: {}, 6: {}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         true,
		Cmd:              cmd,
		Logger:           hclog.NewNullLogger(),
	})
	defer client.Kill()
	began := time.Now()
	if _, err := client.Start(); err != nil {
		return err
	}
	to.add("handshake-ms", time.Since(began).Seconds()*1000)
	protocol, err := client.Client()
	if err != nil {
		return err
	}
	connection := protocol.(*plugin.GRPCClient).Conn
	// The request is empty, and an empty message takes in any answer unread.
	err = connection.Invoke(ctx, schemaMethods[client.NegotiatedVersion()], &emptypb.Empty{}, &emptypb.Empty{}, grpc.MaxCallRecvMsgSize(64<<20))
	if err != nil {
		return fmt.Errorf("asking for the schema: %w", err)
	}
	to.add("schema-ms", time.Since(began).Seconds()*1000)
	client.Kill()
	to.add("cpu-ms", (cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()*1000)
	return nil
}
