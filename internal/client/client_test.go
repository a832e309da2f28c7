package client

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestStartSendsTheDomainAndTheParameters(t *testing.T) {
	for name, test := range map[string]struct {
		domain     string
		parameters map[string]any
		want       string
	}{
		"a domain":              {"docs.example.com", nil, `{"domain":"docs.example.com"}`},
		"further fields":        {"docs.example.com", map[string]any{"version": json.Number("12345678901234567890"), "paths": []any{"/a"}}, `{"domain":"docs.example.com","paths":["/a"],"version":12345678901234567890}`},
		"a domain among them":   {"docs.example.com", map[string]any{"domain": "other"}, `{"domain":"docs.example.com"}`},
		"a domain with a quote": {`a","b":"c`, nil, `{"domain":"a\",\"b\":\"c"}`},
	} {
		inSimulation(t, func(t *testing.T, w *simulation) {
			job, err := w.StartStaticExport(bounded(t, time.Hour), test.domain, test.parameters)
			if err != nil || w.Requests()[0].Body != test.want || !slices.Equal(w.JobIDs(), []string{job.ID}) || job.Status != "queued" {
				t.Errorf("%s: got %s, %v after sending %s, want %s", name, show(job), err, w.Requests()[0].Body, test.want)
			}
			started := fmt.Sprintf("INFO Started a static export job map[domain:%s job_id:%s]", test.domain, w.JobIDs()[0])
			if logged := w.logged.above(); !slices.Equal(logged, []string{started}) {
				t.Errorf("%s: logged %q, want %q", name, logged, started)
			}
		})
	}
}

// calls are the methods that read a response.
var calls = map[string]func(context.Context, *Client) (any, error){
	"update": func(ctx context.Context, c *Client) (any, error) { return c.GetUpdateStatus(ctx, "se_1") },
	"start":  func(ctx context.Context, c *Client) (any, error) { return c.StartStaticExport(ctx, "d", nil) },
	"job":    func(ctx context.Context, c *Client) (any, error) { return c.GetStaticExportJob(ctx, "se_1") },
	"bundle": func(ctx context.Context, c *Client) (any, error) { return c.GenerateBundle(ctx, "se_1", Plain) },
}

func TestRecordToleratesAnyFieldType(t *testing.T) {
	const link = "https://s.test/b?X-Amz-Date=20260301T120000Z&X-Amz-Expires=600"
	for name, test := range map[string]struct{ call, body, want, ignored string }{
		"a whole update": {
			"update", `{"_id":"a","projectId":"b","createdAt":"c","endedAt":"d","status":"success","summary":"e","logs":["f",7],
				"subdomain":"g","screenshot":"h","screenshotLight":"i","screenshotDark":"j","source":"api","more":{},
				"author":{"name":"k","avatarUrl":"l","vcsUserId":9007199254740993},
				"commit":{"sha":"m","ref":"n","message":"o","filesChanged":{"added":["p"],"modified":[],"removed":["q","r"]}}}`,
			`{"ID":"a","ProjectID":"b","CreatedAt":"c","EndedAt":"d","Status":"success","Summary":"e","Logs":["f","7"],"Subdomain":"g",` +
				`"Screenshot":"h","ScreenshotLight":"i","ScreenshotDark":"j","Author":{"Name":"k","AvatarURL":"l","VCSUserID":9007199254740993},` +
				`"Commit":{"SHA":"m","Ref":"n","Message":"o","FilesChanged":{"Added":["p"],"Modified":[],"Removed":["q","r"]}},"Source":"api"}`, "",
		},
		"nested other types": {
			"update", `{"status":"x","author":{"name":[],"vcsUserId":"7"},"commit":{"sha":{},"filesChanged":{"added":"a","removed":[{},"b"]}}}`,
			`{"Status":"x","Author":{"VCSUserID":7},"Commit":{"FilesChanged":{"Removed":["b"]}}}`, "author.name, commit.sha, commit.filesChanged.added",
		},
		"an empty commit":                   {"update", `{"status":"x","commit":{}}`, `{"Status":"x","Commit":{}}`, ""},
		"a started job":                     {"start", `{"jobId":12345678901234567890}`, `{"ID":"12345678901234567890"}`, ""},
		"a job whose status is unprintable": {"start", `{"jobId":"se_1","status":"a\u202eb"}`, `{"ID":"se_1"}`, ""},
		"a job's status with the key":       {"job", `{"status":"at ` + testKey + `"}`, `{"ID":"se_1","Status":"at (redacted)"}`, ""},
		"a new job's status with the key":   {"start", `{"jobId":"se_1","status":"at ` + testKey + `"}`, `{"ID":"se_1","Status":"at (redacted)"}`, ""},
		"an error":                          {"job", `{"status":"failed","error":{"code":"E7","message":"see https://h/?` + signature + `"}}`, `{"ID":"se_1","Status":"failed","Error":"see https://h/?(redacted)"}`, ""},
		"an error that is text":             {"job", `{"status":"failed","error":" line 1\nline 2 "}`, `{"ID":"se_1","Status":"failed","Error":"line 1\nline 2"}`, ""},
		"a whole bundle":                    {"bundle", `{"bundleUrl":"` + link + `","expiresAt":"2026-03-01T12:09:00Z","sizeBytes":12}`, `{"URL":"` + link + `","ExpiresAt":"2026-03-01T12:09:00Z","SizeBytes":12}`, ""},
		"an expiry after that of the link":  {"bundle", `{"bundleUrl":"` + link + `","expiresAt":"2026-03-01T13:00:00Z"}`, `{"URL":"` + link + `","ExpiresAt":"2026-03-01T12:10:00Z"}`, ""},
		"the expiry of a link":              {"bundle", `{"bundleUrl":"` + link + `","expiresAt":"soon","sizeBytes":1.5}`, `{"URL":"` + link + `","ExpiresAt":"2026-03-01T12:10:00Z","UnreadableExpiry":"soon"}`, "sizeBytes, expiresAt"},
		"an expiry that is an object":       {"bundle", `{"bundleUrl":"https://s.test/b","expiresAt":{"see":"https://h/?a&` + signature + `","n":1}}`, `{"URL":"https://s.test/b","ExpiresAt":"0001-01-01T00:00:00Z","UnreadableExpiry":"{\"n\":1,\"see\":\"https://h/?(redacted)\"}"}`, "expiresAt"},
		"an expiry that the link lacks":     {"bundle", `{"bundleUrl":"https:\/\/s.test\/b","sizeBytes":"12","expiresAt":"2026-03-01T12:09:00Z"}`, `{"URL":"https://s.test/b","ExpiresAt":"2026-03-01T12:09:00Z","SizeBytes":12}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			log := &logbook{}
			got, err := calls[test.call](bounded(t, time.Hour), receiving(t, test.body, log))
			if err != nil || show(got) != test.want {
				t.Errorf("got  %s, %v\nwant %s", show(got), err, test.want)
			}
			ignored := []string{}
			for _, line := range log.above() {
				_, line, _ = strings.Cut(line, "INFO Ignored fields that could not be read map[fields:")
				fields, _, _ := strings.Cut(line, " path:")
				ignored = append(ignored, fields)
			}
			if strings.Join(ignored, "\n") != test.ignored {
				t.Errorf("logged %q, want %q", ignored, test.ignored)
			}
		})
	}
}

func TestResponseWithoutARequiredFieldIsAnError(t *testing.T) {
	long := strings.Repeat("é", 2048)
	for name, test := range map[string]struct{ call, body, problem string }{
		"an update without a status": {"update", `{"_id":"up_1"}`, `the response has no field "status"`},
		"a start with an object":     {"start", `{"jobId":{"id":"se_1"}}`, `the field "jobId" is neither a string nor a number`},
		"a start with null":          {"start", `{"jobId":null}`, `the response has no field "jobId"`},
		"a start without an ID":      {"start", `{"jobId":"","error":"no such plan"}`, `the field "jobId" is empty. The message in the body: no such plan`},
		"2048 characters":            {"start", `{"jobId":"` + long + `"}`, ""},
		"2049 characters":            {"start", `{"jobId":"` + long + `x"}`, `the field "jobId" is longer than 2048 characters`},
		"an escape sequence":         {"start", `{"jobId":"\u001b[31mse_1"}`, `the field "jobId" contains an unprintable character`},
		"whitespace around":          {"job", `{"status":" x"}`, `the field "status" has leading or trailing whitespace`},
		"no link":                    {"bundle", `{"error":"still packing"}`, `the response has no field "bundleUrl". The message in the body: still packing`},
		"an empty link":              {"bundle", `{"bundleUrl":""}`, `the field "bundleUrl" is not an absolute http or https URL`},
		"a link without a host":      {"bundle", `{"bundleUrl":"https:///b?` + signature + `"}`, `the field "bundleUrl" is not an absolute http or https URL`},
		"a link of another scheme":   {"bundle", `{"bundleUrl":"ftp://h/b?` + signature + `"}`, `the field "bundleUrl" is not an absolute http or https URL`},
		"a broken link":              {"bundle", `{"bundleUrl":"https://h/%zz?` + signature + `"}`, `the field "bundleUrl" is not an absolute http or https URL`},
		"a plain http link":          {"bundle", `{"bundleUrl":"http://h/b?` + signature + `"}`, `the field "bundleUrl" uses plain http instead of https`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := calls[test.call](bounded(t, time.Hour), receiving(t, test.body, &logbook{}))
			if test.problem == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, ok := errors.AsType[*UnexpectedResponseError](err); !ok || !strings.HasSuffix(err.Error(), ", but "+test.problem) {
				t.Errorf("got %v, want %q", err, test.problem)
			}
		})
	}
}

func TestNewChecksTheConfiguration(t *testing.T) {
	for _, config := range []Config{
		{BaseURL: "docs.test/v1", APIKey: "docs_1"},
		{BaseURL: "https://docs.test/v1", APIKey: " "},
		{BaseURL: "https://docs.test/v1", APIKey: "docs_1", RootCAs: []byte("x")},
	} {
		if _, err := New(config); err == nil {
			t.Errorf("no error for %+v", config)
		}
	}
}

func TestDownloadBundleMakesItsLinks(t *testing.T) {
	const many = 9
	gone := simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 404, Skip: 1}
	for name, test := range map[string]struct {
		faults []simulator.Fault
		made   int // links; many for as long as attempts are repeated
		err    string
	}{
		"a single one":             {nil, 1, ""},
		"another one after a page": {[]simulator.Fault{{Status: 200, Body: " <!DOCTYPE html><title>Sign in</title>", Times: 1}}, 2, ""},
		"one for each refusal":     {[]simulator.Fault{{Status: 403}}, many, "the object store localhost returned HTTP 403"},
		"none if the store asks for a wait that is too long": {[]simulator.Fault{{Status: 429, Header: http.Header{"Retry-After": {"720000"}}}}, 1, "the service accepts no request before"},
		"none as long as there is progress":                  {[]simulator.Fault{{TruncateBody: 9, Times: 6}}, 1, ""},
		"none if the same bytes come again":                  {[]simulator.Fault{{TruncateBody: 9, Header: http.Header{"Etag": nil}}}, 1, "to the object store localhost failed"},
		"none if there is no bundle":                         {[]simulator.Fault{{Status: 403}, gone}, many, "HTTP 404"},
	} {
		inSimulation(t, func(t *testing.T, w *simulation) {
			id := w.AddJob(simulator.JobSpec{Queue: noTime, Run: noTime})
			for _, fault := range test.faults {
				fault.Endpoint = cmp.Or(fault.Endpoint, simulator.EndpointDownload)
				w.AddFault(fault)
			}
			to := &memory{}
			err := w.DownloadBundle(bounded(t, time.Hour), id, to)
			made := w.Count(simulator.EndpointBundle)
			again := made + w.Count(simulator.EndpointDownload) - 1 // a new connection after each failure
			if min(made, many) != test.made || w.dials < again {
				t.Errorf("%s: created %d links over %d connections, want %d links", name, made, w.dials, test.made)
			}
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%s: %v; want %q", name, err, test.err)
				}
				return
			}
			if unzipped, failed := gzip.NewReader(to); err != nil || failed != nil {
				t.Errorf("%s: %v, %v", name, err, failed)
			} else if _, err := io.Copy(io.Discard, unzipped); err != nil {
				t.Errorf("%s: the bundle is not whole: %v", name, err)
			}
		})
	}
}
