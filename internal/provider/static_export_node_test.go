// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// balancer stands in front of the service. Once it is armed, the node behind the connection of the
// next GET answers every request on that connection with the given status.
type balancer struct {
	mu     sync.Mutex
	armed  bool
	status int
	broken net.Conn
	asked  int // requests to the broken node
}

type connKey struct{}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request, next http.Handler) {
	conn := r.Context().Value(connKey{}).(net.Conn)
	b.mu.Lock()
	if b.armed && r.Method == http.MethodGet {
		b.armed, b.broken = false, conn
	}
	broken := b.broken == conn
	if broken {
		b.asked++
	}
	b.mu.Unlock()
	if broken {
		http.Error(w, `{"error":"this node is broken"}`, b.status)
		return
	}
	next.ServeHTTP(w, r)
}

func (b *balancer) arm() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed, b.asked = true, 0
}

// Behind a load balancer, one node can be broken while the others work, and a connection stays
// with its node.
func TestOneBrokenNodeCostsNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 500} {
		for _, exports := range []int{1, 10} {
			t.Run(fmt.Sprintf("%d, %d exports", status, exports), func(t *testing.T) {
				t.Parallel()
				h := newHarness(t, simulator.Options{})
				b := &balancer{status: status}
				front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.ServeHTTP(w, r, h.service) }))
				front.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
					return context.WithValue(ctx, connKey{}, conn)
				}
				front.Start()
				t.Cleanup(front.Close)
				h.env.Store(baseURLVariable, front.URL+"/v1")
				c := h.cli(t, strings.Replace(export(), `"docs.example.com"`, fmt.Sprintf("\"${count.index}.example.com\"\n  count = %d", exports), 1))

				b.arm() // the first polls of the new jobs
				c.apply(t, 0)
				if starts := h.service.Count(simulator.EndpointStart); starts != exports || b.asked == 0 {
					t.Errorf("%d starts and %d requests to the broken node, want %d and some", starts, b.asked, exports)
				}
				b.arm() // the refresh
				began := h.clock.Now()
				c.wantEmptyPlan(t)
				if took := h.clock.Now().Sub(began); took > 20*time.Second || b.asked == 0 {
					t.Errorf("the plan took %s, with %d requests to the broken node", took, b.asked)
				}
			})
		}
	}
}
