package simulator_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// The tests of the provider, which run against the service, show what it does with a good request and with faults.
// These tests show what it refuses.

const (
	jobs   = "/v1/static-export/jobs"
	key    = "Bearer " + simulator.DefaultAPIKey
	noTime = -time.Second // no queue, no run
)

func newService() (*simulator.Service, *clocktest.Virtual) {
	clock := clocktest.NewVirtual(time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC))
	return simulator.New(simulator.Options{Now: clock.Now, Queue: noTime, Run: noTime}), clock
}

func send(s *simulator.Service, method, target, authorization, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Authorization", authorization)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestAPIRefuses(t *testing.T) {
	t.Parallel()
	s, _ := newService()
	running := s.AddJob(simulator.JobSpec{Run: time.Hour})
	failed := s.AddJob(simulator.JobSpec{Fail: "no pages"})
	for name, test := range map[string]struct {
		method, path, authorization, body string
		want                              int
	}{
		"another key":                {"GET", jobs + "/" + running, "Bearer sim_secret", "", 401},
		"an unknown path":            {"GET", "/v1/nothing", key, "", 404},
		"a bundle of an unknown job": {"POST", jobs + "/se_0/bundle", key, "", 404},
		"a bundle of a running job":  {"POST", jobs + "/" + running + "/bundle", key, "", 409},
		"a bundle of a failed job":   {"POST", jobs + "/" + failed + "/bundle", key, "", 409},
		"a start without a domain":   {"POST", jobs, key, `{"version":"1"}`, 400},
	} {
		w := send(s, test.method, test.path, test.authorization, test.body)
		if body := w.Body.String(); w.Code != test.want || !strings.Contains(body, `"error":"`) || strings.Contains(body, "sim_") {
			t.Errorf("%s: %d %s, want %d and an error without a key", name, w.Code, w.Body, test.want)
		}
	}
	if got := s.JobIDs(); !slices.Equal(got, []string{running, failed}) {
		t.Errorf("the jobs are %v", got)
	}
}

// link returns a new link to a job's bundle.
func link(s *simulator.Service, id string) string {
	_, link, _ := strings.Cut(send(s, "POST", jobs+"/"+id+"/bundle", key, "").Body.String(), `"bundleUrl":"`)
	link, _, _ = strings.Cut(link, `"`)
	return link
}

func TestLinkIsForOneGETRequestUntilItExpires(t *testing.T) {
	t.Parallel()
	s, clock := newService()
	good := link(s, s.AddJob(simulator.JobSpec{}))
	plain, _, _ := strings.Cut(good, "?")
	for _, test := range []struct {
		name                        string
		after                       time.Duration
		method, link, authorization string
		status                      int
		code                        string
	}{
		{"PUT", 0, "PUT", good, "", 403, "AccessDenied"},
		{"an Authorization header", 0, "GET", good, key, 400, "InvalidArgument"},
		{"no signature", 0, "GET", plain, "", 403, "AccessDenied"},
		{"before the expiry", 15*time.Minute - 1, "GET", good, "", http.StatusOK, ""},
		{"at the expiry", 1, "GET", good, "", 403, "expired"},
	} {
		clock.Advance(test.after)
		if w := send(s, test.method, test.link, test.authorization, ""); w.Code != test.status || !strings.Contains(w.Body.String(), test.code) {
			t.Errorf("%s: %d %s, want %d %s", test.name, w.Code, w.Body, test.status, test.code)
		}
	}
}

// Package contract does not check altered responses.
func TestExchangeIsAlteredOnlyByATest(t *testing.T) {
	t.Parallel()
	altered := []bool{}
	s := simulator.New(simulator.Options{Observe: func(x simulator.Exchange) { altered = append(altered, x.Altered) }})
	job := func() { send(s, "GET", jobs+"/"+s.AddJob(simulator.JobSpec{}), key, "") }
	update := func(status string) {
		send(s, "GET", "/v1/project/update-status/"+s.AddUpdate(simulator.UpdateSpec{RunningStatus: status}), key, "")
	}
	job()
	update("")
	update("waiting")
	s.Rewrite(func(_ string, body map[string]any) any { return body })
	job()
	s.Rewrite(nil)
	s.AddFault(simulator.Fault{Status: 500})
	job()
	if want := []bool{false, false, true, true, true}; !slices.Equal(altered, want) {
		t.Errorf("altered: %v, want %v", altered, want)
	}
}
