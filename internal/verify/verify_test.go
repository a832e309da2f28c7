package verify

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

var reportFile = flag.String("report", "", "file for the report of TestService")

// TestService is `make verify-service`, which asks before it sends anything.
func TestService(t *testing.T) {
	if *reportFile == "" {
		t.Skip("needs a real service: run make verify-service")
	}
	network := http.DefaultTransport.(*http.Transport).Clone()
	network.DisableKeepAlives = true // so that a start is never sent on a connection that the service has closed
	r := &run{
		baseURL: os.Getenv("DOCS_BASE_URL"), apiKey: os.Getenv("DOCS_API_KEY"), domain: os.Getenv("DOCS_DOMAIN"),
		statusID: os.Getenv("DOCS_STATUS_ID"), commit: os.Getenv("COMMIT"), network: network, clock: clock.System{}, console: os.Stderr,
	}
	if !r.verify(t) {
		t.Error("the export failed")
	}
	if err := os.WriteFile(*reportFile, []byte(r.report()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// mark is part of every value that a report must not show.
const mark = "marked4711"

func TestReport(t *testing.T) {
	t.Parallel()
	wrongKey := func(r simulator.Request) bool { return r.Header.Get("Authorization") != "Bearer key_"+mark }
	unknown := func(r simulator.Request) bool { return strings.HasPrefix(r.ID, "verify_") }
	for name, test := range map[string]struct {
		options simulator.Options
		job     simulator.JobSpec
		rewrite func(endpoint string, body map[string]any) any
		faults  []simulator.Fault
		fails   bool
		want    []string
	}{
		"a service that keeps to what is typical": {
			want: []string{
				". The export succeeded.\n",
				"| POST /static-export/jobs | 202, application/json, `{createdAt: string, jobId: string, pageCount: number, " +
					"progress: number, status: string, updatedAt: string}` | 1 |\n",
				"| POST /static-export/jobs/{id}/bundle | 200, application/json, `{bundleUrl: string, expiresAt: string, " +
					"jobId: string, sizeBytes: number}` | 3 |\n",
				"| GET /project/update-status/{id} | 404, application/json, `{error: string}` | 1 |\n",
				"| `queued` after 0s (`progress` `0`, `pageCount` `0`), `running` after ", "s (`progress` `100`, `pageCount` `6`) |\n",
				"| `expiresAt` | `9999-99-99T99:99:99Z`, a lifetime of 1",
				"| Another request before the link expires | a new link |\n",
				"| Archive | application/x-gzip of ", " bytes; `.html` files at the top: 2 |\n",
				"| Limits | not seen |\n",
				"| Request ID | `X-Request-Id`: `aaa_9",
				"| Wrong API key | 401, application/json, `{error: string}` |\n",
				"## Differences from api/openapi.yaml\n\nNone.\n",
			},
		},
		"a service that differs wherever the contract is open": {
			options: simulator.Options{KeepLink: true},
			job:     simulator.JobSpec{RunningStatus: "behind `|" + mark + strings.Repeat("é", 50), Progress: func(share float64) any { return share }},
			rewrite: func(endpoint string, body map[string]any) any {
				switch endpoint {
				case simulator.EndpointJob:
					body["jobId"] = "alias_" + mark
				case simulator.EndpointUpdate:
					body["_id"] = "alias_" + mark
				}
				body["trace"] = map[string]any{mark + ".example.com": []any{mark, 1, nil}}
				body["privatesite"], body[mark+".example.com"] = true, 1
				delete(body, "pageCount")
				if expires, err := time.Parse(time.RFC3339, fmt.Sprint(body["expiresAt"])); err == nil {
					body["expiresAt"] = expires.UnixMilli()
				}
				return body
			},
			faults: []simulator.Fault{
				{Match: unknown, Status: http.StatusForbidden, Body: `{"fault":{"` + mark + `.example.com":"` + mark + `"}}`},
				{Header: http.Header{
					"X-Request-Id": nil, "X-Transaction-Id": {"4711"}, "X-Ratelimit-Limit": {"100"}, "Retry-After": {"3"}, "Ratelimit-Policy": {mark},
				}},
			},
			want: []string{
				"| `queued` after 0s (`progress` `0`, `pageCount` none), `aaaaaa aaaaaaaa9999" + strings.Repeat("a", 21) + "` after ",
				"`completed` after ", "s (`progress` `1`, `pageCount` none) |\n",
				"| `expiresAt` | `9999999999999`, a lifetime of 1",
				"| Another request before the link expires | the same link |\n",
				"| Limits | `Ratelimit-Policy`: `aaaaaa9999`, `Retry-After`: `3`, `X-Ratelimit-Limit`: `100` |\n",
				"`X-Transaction-Id`: `9999` |\n",
				"| Unknown job | 403, application/json, `{fault: {NAME: string}}` |\n",
				"trace: {NAME: [null or number or string]}",
				"| POST /static-export/jobs | NAME is not in the contract, which allows it | 1 |\n",
				"| POST /static-export/jobs | trace is not in the contract, which allows it | 1 |\n",
			},
		},
		"a service that breaks the contract, and fails the job": {
			options: simulator.Options{Fail: mark},
			rewrite: func(_ string, body map[string]any) any {
				body["createdAt"], body["error"] = true, []any{mark}
				return body
			},
			faults: []simulator.Fault{
				{
					Endpoint: simulator.EndpointUpdate, Status: http.StatusOK, Body: "<title>" + mark + "</title>",
					Header: http.Header{"Content-Type": {"text/html; charset=" + mark}},
				},
				{Match: unknown, Cut: simulator.CutAfter},
				{Endpoint: simulator.EndpointJob, Match: wrongKey, Status: http.StatusOK, Body: "{}"},
			},
			fails: true,
			want: []string{
				". The export failed. Error: Static export job failed.\n",
				"| Archive | not seen |\n",
				"| Wrong API key | 200, application/json, `{}` |\n",
				"| GET /static-export/jobs/{id} | status is missing | 1 |\n",
				"| Unknown job | no response |\n",
				"| Unknown update | 200, text/html |\n",
				"| GET /static-export/jobs/{id} | there is no complete response | 1 |\n",
				"| the response: the content type is (hidden) | 2 |\n",
				"| POST /static-export/jobs | createdAt breaks the rule `type` | 1 |\n",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			virtual := clocktest.NewVirtual(time.Now())
			test.options.Now, test.options.APIKey, test.job.ID = virtual.Now, "key_"+mark, "se_"+mark
			s := contract.Listen(t, test.options)
			s.Rewrite(test.rewrite)
			s.NextJob(test.job)
			s.AddUpdate(simulator.UpdateSpec{ID: "upd_" + mark, Queue: -1, Run: -1})
			for _, fault := range test.faults {
				s.AddFault(fault)
			}
			var console bytes.Buffer
			r := &run{
				baseURL: s.BaseURL, apiKey: test.options.APIKey, domain: "privatesite", statusID: "upd_" + mark,
				network: http.DefaultTransport, clock: virtual, console: &console,
			}
			if r.verify(t) == test.fails || strings.Contains(console.String(), mark) != test.fails {
				t.Errorf("it succeeds: %t; the console:\n%s", !test.fails, &console)
			}
			report := r.report()
			for _, text := range test.want {
				if !strings.Contains(report, text) {
					t.Errorf("the report has no %q", text)
				}
			}
			for _, private := range []string{mark, "4711", r.domain, r.base.Host, r.base.Hostname()} {
				if strings.Contains(report, private) {
					t.Errorf("the report contains %q", private)
				}
			}
			if s.Count(simulator.EndpointStart) != 1 || s.Count(simulator.EndpointUpdate) != 2 {
				t.Errorf("%d jobs were started, and %d updates were read", s.Count(simulator.EndpointStart), s.Count(simulator.EndpointUpdate))
			}
			if t.Failed() {
				t.Log(report)
			}
		})
	}
}
