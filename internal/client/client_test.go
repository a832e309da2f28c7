package client

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const aStartRequest = `{"domain":"d","version":12345678901234567890}`

// calls are the methods that read a response.
var calls = map[string]func(context.Context, *Operation) (any, error){
	"update": func(ctx context.Context, o *Operation) (any, error) { return o.GetUpdateStatus(ctx, "se_1") },
	"start": func(ctx context.Context, o *Operation) (any, error) {
		return o.StartStaticExport(ctx, aStartRequest)
	},
	"job":    func(ctx context.Context, o *Operation) (any, error) { return o.GetStaticExportJob(ctx, "se_1") },
	"bundle": func(ctx context.Context, o *Operation) (any, error) { return o.GenerateBundle(ctx, "se_1") },
	"wait":   func(ctx context.Context, o *Operation) (any, error) { return o.WaitForStaticExport(ctx, "se_1", 0) },
	"wait for an update": func(ctx context.Context, o *Operation) (any, error) {
		return o.WaitForUpdate(ctx, "se_1", 0, nil)
	},
}

func TestEachOperationOfTheContractIsCalledAndSimulated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := func(context.Context, string, []byte, time.Duration) (string, error) { return "https://s.test/b", nil }
		service := simulator.New(simulator.Options{Queue: -1, Run: -1, APIKey: testKey, Store: store, Observe: contract.New(t).Check})
		service.AddJob(simulator.JobSpec{ID: "se_1"})
		service.AddUpdate(simulator.UpdateSpec{ID: "se_1"})
		c := exchanging(t, func(r *http.Request) (*http.Response, error) {
			recorder := httptest.NewRecorder()
			service.ServeHTTP(recorder, r)
			return recorder.Result(), nil
		})
		for name, call := range calls {
			if _, err := call(bounded(t, time.Minute), c.Begin()); err != nil {
				t.Errorf("the call %q fails in the simulator: %v", name, err)
			}
		}
		for _, r := range service.Requests() {
			h := r.Header.Get
			isRead, hasBody := r.Method == http.MethodGet, r.Body != ""
			if h("Accept") != "application/json" || h("User-Agent") != "test/1" || (h("Cache-Control") == "no-cache") != isRead ||
				(h("Content-Type") == "application/json") != hasBody || hasBody && r.Body != aStartRequest {
				t.Errorf("sent %+v", r)
			}
		}
		unused, err := contract.Unused(service.Requests())
		if err != nil {
			t.Fatal(err)
		}
		for _, operation := range unused {
			t.Errorf("nothing calls %s of api/openapi.yaml: add a method to Client, a row to calls, and a route to internal/simulator", operation)
		}
	})
}

func TestRecordToleratesAnyFieldType(t *testing.T) {
	const link = "https://s.test/b?X-Amz-Date=20260301T120000Z&X-Amz-Expires=600"
	for name, test := range map[string]struct{ call, body, want, ignored string }{
		"a whole update": {
			"update", `{"_id":"a","projectId":"b","createdAt":"c","endedAt":"d","status":"success","summary":"e","logs":["f",7,true],
				"subdomain":"g","screenshot":"h","screenshotLight":"i","screenshotDark":"j","source":"api","more":{},
				"author":{"name":"k","avatarUrl":"l","vcsUserId":9007199254740993},
				"commit":{"sha":"m","ref":"n","message":"o","filesChanged":{"added":["p"],"modified":[],"removed":["q","r"]}}}`,
			`{"ID":"a","ProjectID":"b","CreatedAt":"c","EndedAt":"d","Status":"success","Summary":"e","Logs":["f","7","true"],"Subdomain":"g",` +
				`"Screenshot":"h","ScreenshotLight":"i","ScreenshotDark":"j","Author":{"Name":"k","AvatarURL":"l","VCSUserID":9007199254740993},` +
				`"Commit":{"SHA":"m","Ref":"n","Message":"o","FilesChanged":{"Added":["p"],"Modified":[],"Removed":["q","r"]}},"Source":"api"}`, "",
		},
		"nested other types": {
			"update", `{"status":"x","author":{"name":[],"vcsUserId":"7"},"commit":{"sha":{},"filesChanged":{"added":"a","removed":[{},"b"]}}}`,
			`{"Status":"x","Author":{"VCSUserID":7},"Commit":{"FilesChanged":{"Removed":["b"]}}}`,
			"author.name (an object or array), commit.sha (an object or array), commit.filesChanged.added (a)",
		},
		"an empty commit": {"update", `{"status":"x","commit":{}}`, `{"Status":"x","Commit":{}}`, ""},
		"a started job":   {"start", `{"jobId":12345678901234567890}`, `{"ID":"12345678901234567890"}`, ""},
		"numbers": {
			"job", `{"status":"x","progress":1.5,"pageCount":9007199254740993,"createdAt":1772366400}`,
			`{"ID":"se_1","Status":"x","Progress":1.5,"PageCount":9007199254740993,"CreatedAt":"2026-03-01T12:00:00Z"}`, "",
		},
		"numbers in strings": {
			"job", `{"status":"x","progress":"1.5 %","pageCount":" 7 "}`,
			`{"ID":"se_1","Status":"x","Progress":1.5,"PageCount":7}`, "",
		},
		"numbers of zero": {"job", `{"status":"x","progress":0,"pageCount":0}`, `{"ID":"se_1","Status":"x","Progress":0,"PageCount":0}`, ""},
		"a count with an exponent": {
			"job", `{"status":"x","pageCount":9.007199254740992e15}`, `{"ID":"se_1","Status":"x","PageCount":9007199254740992}`, "",
		},
		"a count that no float holds": {
			"job", `{"status":"x","pageCount":1.8014398509481985e17}`, `{"ID":"se_1","Status":"x"}`,
			"pageCount (1.8014398509481985e17)",
		},
		"words instead of numbers": {
			"job", `{"status":"x","progress":"half","pageCount":"many","createdAt":"soon"}`, `{"ID":"se_1","Status":"x"}`,
			"progress (half), pageCount (many), createdAt (soon)",
		},
		"not a number, and half a page": {
			"job", `{"status":"x","progress":"NaN","pageCount":7.5}`, `{"ID":"se_1","Status":"x"}`,
			"progress (NaN), pageCount (7.5)",
		},
		"infinity, and a count in percent": {
			"job", `{"status":"x","progress":"Inf","pageCount":"12 %"}`, `{"ID":"se_1","Status":"x"}`,
			"progress (Inf), pageCount (12 %)",
		},
		"a negative count":                  {"job", `{"status":"x","pageCount":-7}`, `{"ID":"se_1","Status":"x"}`, "pageCount (-7)"},
		"a negative count with an exponent": {"job", `{"status":"x","pageCount":-1e3}`, `{"ID":"se_1","Status":"x"}`, "pageCount (-1e3)"},
		"other types than numbers": {
			"job", `{"status":"x","progress":{},"pageCount":true}`, `{"ID":"se_1","Status":"x"}`,
			"progress (an object or array), pageCount (true)",
		},
		"a job whose status is unprintable": {"start", `{"jobId":"se_1","status":"a\u202eb"}`, `{"ID":"se_1"}`, ""},
		"a job's status with the key":       {"job", `{"status":"at ` + testKey + `"}`, `{"ID":"se_1","Status":"at (redacted)"}`, ""},
		"a new job's status with the key":   {"start", `{"jobId":"se_1","status":"at ` + testKey + `"}`, `{"ID":"se_1","Status":"at (redacted)"}`, ""},
		"an error": {
			"job", `{"status":"failed","error":{"code":"E7","message":"see https://h/?` + signature + `"}}`,
			`{"ID":"se_1","Status":"failed","Error":"see https://h/?` + signature + `","Message":"see https://h/?(redacted)"}`, "",
		},
		"an error that is text": {
			"job", `{"status":"failed","error":" 1\n2 "}`, `{"ID":"se_1","Status":"failed","Error":"1\n2","Message":"1\n  | 2"}`, "",
		},
		"a whole bundle": {
			"bundle", `{"bundleUrl":"` + link + `","expiresAt":"2026-03-01T12:09:00Z","sizeBytes":12}`,
			`{"URL":"` + link + `","ExpiresAt":"2026-03-01T12:09:00Z","SizeBytes":12}`, "",
		},
		"an expiry after that of the link": {
			"bundle", `{"bundleUrl":"` + link + `","expiresAt":"2026-03-01T13:00:00Z"}`,
			`{"URL":"` + link + `","ExpiresAt":"2026-03-01T12:10:00Z"}`, "",
		},
		"the expiry of a link": {
			"bundle", `{"bundleUrl":"` + link + `","expiresAt":"soon","sizeBytes":1.5}`,
			`{"URL":"` + link + `","ExpiresAt":"2026-03-01T12:10:00Z"}`, "sizeBytes (1.5), expiresAt (soon)",
		},
		"an expiry that is an object": {
			"bundle", `{"bundleUrl":"https://s.test/b","expiresAt":{"see":"https://h/?a&` + signature + `","n":1}}`,
			`{"URL":"https://s.test/b","ExpiresAt":"0001-01-01T00:00:00Z"}`, "expiresAt (an object or array)",
		},
		"an expiry that the link lacks": {
			"bundle", `{"bundleUrl":"https:\/\/s.test\/b","sizeBytes":"12","expiresAt":"2026-03-01T12:09:00Z"}`,
			`{"URL":"https://s.test/b","ExpiresAt":"2026-03-01T12:09:00Z","SizeBytes":12}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, log := receiving(t, 200, test.body), &logbook{}
			c.config.Log = log.add
			got, err := calls[test.call](bounded(t, time.Hour), c.Begin())
			if err != nil || show(got) != test.want {
				t.Errorf("got  %s, %v\nwant %s", show(got), err, test.want)
			}
			ignored := []string{}
			for _, line := range log.above() {
				_, line, _ = strings.Cut(line, "WARN Ignored fields that could not be read map[fields:")
				fields, _, _ := strings.Cut(line, " response:")
				ignored = append(ignored, fields)
			}
			if strings.Join(ignored, "\n") != test.ignored {
				t.Errorf("logged %q, want %q", ignored, test.ignored)
			}
		})
	}
}

func TestResponseWithoutARequiredFieldIsAnError(t *testing.T) {
	for name, call := range calls {
		if _, err := call(bounded(t, time.Hour), receiving(t, 200, "{}").Begin()); ReasonOf(err) != ReasonOffContract {
			t.Errorf("the call %q reads {}: %v", name, err)
		}
	}
	long := strings.Repeat("é", 2048)
	for name, test := range map[string]struct{ call, body, problem string }{
		"an update without a status": {"update", `{"_id":"up_1"}`, `the response has no field "status"`},
		"a start with an object":     {"start", `{"jobId":{"id":"se_1"}}`, `the field "jobId" is neither a string nor a number`},
		"a start with null":          {"start", `{"jobId":null}`, `the response has no field "jobId"`},
		"a start without an ID":      {"start", `{"jobId":"","error":"no such plan"}`, `the field "jobId" is empty: no such plan`},
		"2048 characters":            {"start", `{"jobId":"` + long + `"}`, ""},
		"2049 characters":            {"start", `{"jobId":"` + long + `x"}`, `the field "jobId" is longer than 2048 characters`},
		"an escape sequence":         {"start", `{"jobId":"\u001b[31mse_1"}`, `the field "jobId" contains an unprintable character`},
		"an ID that is a link":       {"start", `{"jobId":"https://h/b?` + signature + `"}`, `the field "jobId" contains a URL with a query`},
		"whitespace around":          {"job", `{"status":" x"}`, `the field "status" has leading or trailing whitespace`},
		"no link":                    {"bundle", `{"error":"still packing"}`, `the response has no field "bundleUrl": still packing`},
		"an empty link":              {"bundle", `{"bundleUrl":""}`, `the field "bundleUrl" is not an absolute http or https URL`},
		"a link without a host":      {"bundle", `{"bundleUrl":"https:///b?` + signature + `"}`, `the field "bundleUrl" is not an absolute http or https URL`},
		"a link of another scheme":   {"bundle", `{"bundleUrl":"ftp://h/b?` + signature + `"}`, `the field "bundleUrl" is not an absolute http or https URL`},
		"a broken link": {
			"bundle", `{"bundleUrl":"https://h/%zz?` + signature + `"}`,
			`the field "bundleUrl" is not an absolute http or https URL`,
		},
		"a plain http link": {"bundle", `{"bundleUrl":"http://h/b?` + signature + `"}`, `the field "bundleUrl" uses plain http instead of https`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := calls[test.call](bounded(t, time.Hour), receiving(t, 200, test.body).Begin())
			if test.problem == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, may := MayHaveStarted(err); ReasonOf(err) != ReasonOffContract || !may || !strings.HasSuffix(err.Error(), ", but "+test.problem) {
				t.Errorf("got %v, want %q", err, test.problem)
			}
		})
	}
}

// The archive has its own half minute after the bundle had one.
func TestLinkEndsTheFailuresBeforeIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		since := map[string]time.Time{}
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if since[r.Host].IsZero() {
				since[r.Host] = time.Now()
			}
			switch {
			case time.Since(since[r.Host]) < 20*second:
				reply(404, "")(w, r)
			case r.Host == "store.test":
				sends(content, `"v1"`)(w, r)
			default:
				reply(200, `{"bundleUrl":"http://store.test/b"}`)(w, r)
			}
		})
		if err := c.Begin().DownloadBundle(bounded(t, time.Hour), "se_1", &memory{}); err != nil {
			t.Error(err)
		}
	})
}

func TestDownloadBundleMakesItsLinks(t *testing.T) {
	const many = 9
	refusal, part, whole := reply(403, ""), cuts(4000, content, `"v1"`), sends(content, `"v1"`)
	var growing []http.HandlerFunc // for longer than a streak may last
	for n := range 20 {
		growing = append(growing, cuts(100*n+100, content, ""))
	}
	type handlers []http.HandlerFunc // of the object store, in turn
	type row struct {
		store handlers
		gone  bool // after the first link
		links int  // many for as long as attempts are repeated
		err   string
	}
	inBubbles(t, map[string]row{
		"a single one":                       {handlers{whole}, false, 1, ""},
		"another one after a page":           {handlers{reply(200, " <!DOCTYPE html><title>Sign in</title>"), whole}, false, 2, ""},
		"one for all refusals":               {handlers{refusal}, false, 2, "the object store store.test returned HTTP 403"},
		"one for the refusals between parts": {handlers{refusal, refusal, part, refusal, refusal, whole}, false, 3, ""},
		"none if the store asks for a wait that is too long": {
			handlers{reply(429, "", "Retry-After: 720000")}, false, 1, "after the timeout of this operation",
		},
		"another one after a wait":          {handlers{refusal, reply(429, "", "Retry-After: 20"), refusal, whole}, false, 3, ""},
		"none as long as there is progress": {append(growing, whole), false, 1, ""},
		"none if the same bytes come again": {handlers{cuts(9, content, "")}, false, 1, "to the object store store.test failed"},
		"none if there is no bundle":        {handlers{refusal}, true, many, "HTTP 404"},
	}, func(t *testing.T, test row) {
		links, store := 0, inTurn(test.store...)
		c, s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Host == "store.test" {
				store(w, r)
			} else if links++; test.gone && links > 1 {
				reply(404, "")(w, r)
			} else {
				reply(200, `{"bundleUrl":"http://store.test/b"}`)(w, r)
			}
		})
		to := &memory{}
		err := c.Begin().DownloadBundle(bounded(t, time.Hour), "se_1", to)
		if min(links, many) != test.links || time.Since(s.began) > 6*time.Minute {
			t.Errorf("created %d links in %s, want %d", links, time.Since(s.began), test.links)
		}
		if test.err == "" && (err != nil || !bytes.Equal(to.Bytes(), content)) || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("received %d bytes, %v; want %q", to.Len(), err, test.err)
		}
	})
}
