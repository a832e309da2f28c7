// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const none = -time.Second // no queue, no run

// service is a Server on a virtual clock, with a client of its own.
type service struct {
	*simulator.Server
	t      *testing.T
	clock  *simulator.VirtualClock
	client *http.Client
}

func start(t *testing.T, options simulator.Options) *service {
	t.Helper()
	clock := simulator.NewVirtualClock(epoch)
	if options.Clock == nil {
		options.Clock = clock
	}
	server, err := simulator.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return &service{server, t, clock, &http.Client{Transport: transport}}
}

// answer is a whole answer.
type answer struct {
	status int
	header http.Header
	body   string
}

// field returns a member of a JSON answer.
func (a answer) field(t *testing.T, name string) any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(a.body), &object); err != nil {
		t.Fatalf("the body %q is no JSON object: %v", a.body, err)
	}
	return object[name]
}

// call sends a request with the key to a path below the base URL, or to a
// whole URL without the key.
func (s *service) call(method, to, body string, header http.Header) answer {
	s.t.Helper()
	a, err := s.tryCall(method, to, body, header)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, to, err)
	}
	return a
}

func (s *service) tryCall(method, to, body string, header http.Header) (answer, error) {
	s.t.Helper()
	key := ""
	if strings.HasPrefix(to, "/") {
		to, key = s.BaseURL+to, "Bearer "+simulator.DefaultAPIKey
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, to, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if key != "" {
		request.Header.Set("Authorization", key)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(request.Header, header)
	response, err := s.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(text)}, err
}

func (s *service) get(to string) answer {
	s.t.Helper()
	return s.call(http.MethodGet, to, "", nil)
}

// startJob starts a job through the API and returns its id.
func (s *service) startJob() string {
	s.t.Helper()
	a := s.call(http.MethodPost, "/static-export/jobs", `{"domain":"docs.acme.example"}`, nil)
	if a.status != http.StatusAccepted {
		s.t.Fatalf("the start answered %d %s", a.status, a.body)
	}
	id, _ := a.field(s.t, "jobId").(string)
	return id
}

// bundle makes a bundle and returns its link.
func (s *service) bundle(id string) string {
	s.t.Helper()
	a := s.call(http.MethodPost, "/static-export/jobs/"+id+"/bundle", "", nil)
	if a.status != http.StatusOK {
		s.t.Fatalf("the bundle answered %d %s", a.status, a.body)
	}
	link, _ := a.field(s.t, "bundleUrl").(string)
	return link
}

// doneJob seeds a job that is completed.
func (s *service) doneJob() string {
	return s.AddJob(simulator.JobSpec{Queue: none, Run: none})
}
