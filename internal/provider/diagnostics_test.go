package provider

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	api := func(status int) *client.APIError {
		e := &client.APIError{}
		e.Method, e.Path, e.StatusCode, e.RequestID = "GET", "/v1/a", status, "req_1"
		return e
	}
	const (
		gateway    = "HTTP 502 Bad Gateway for GET /v1/a (request ID req_1), without a message."
		checkProxy = "The proxy refused the request. Check the credentials in HTTPS_PROXY, or list the host in NO_PROXY."
		apiURL     = "Check that base_url is the base URL of the service's API, not of a website, a proxy, or a login page."
		increase   = "If the operation normally takes longer, increase timeouts.read."
		network    = "Check base_url, the network, and the proxy settings (HTTPS_PROXY, NO_PROXY). The service may also be down, or slower than request_timeout allows."
		intercepts = "Check whether a proxy, a sign-in page, or a maintenance page answers requests to storage.example.com. If not, contact the service's support."
	)
	refused, slowDown, moved, page := api(400), api(429), api(308), api(404)
	refused.Message = "no such theme."
	slowDown.RetryAfter = 90 * time.Second
	moved.Redirect = "https://new.example.com/v1"
	page.Page = true
	proxied := api(403)
	proxied.Page = true
	login := &client.UnexpectedResponseError{Exchange: api(200).Exchange, NotJSON: true, Problem: "the body is a web page", Message: "Log in"}
	broken := &client.UnexpectedResponseError{Exchange: api(200).Exchange, Problem: "the response has no field \"status\""}
	lost := &client.ConnectionError{Method: "GET", Path: "/v1/a", Host: "docs.example.com", Reason: "EOF"}
	busy, mixed, timeout := errors.New("busy"), errors.New("consecutive requests failed for different reasons"), &timeoutError{90 * time.Second, "read"}
	for name, test := range map[string]struct {
		err  error
		want explanation
	}{
		"refusal":     {refused, explanation{"The service returned HTTP 400 Bad Request for GET /v1/a (request ID req_1): no such theme.", badRequest}},
		"rate limit":  {slowDown, explanation{"The service returned HTTP 429 Too Many Requests for GET /v1/a (request ID req_1), without a message. The service asked the provider to wait 1m30s before the next request.", "Reduce -parallelism, or try again later."}},
		"redirect":    {moved, explanation{"The service returned HTTP 308 Permanent Redirect for GET /v1/a (request ID req_1), a redirect to https://new.example.com/v1, without a message.", "If the API has moved, set base_url to its new base URL. If the redirect leads to a sign-in page, check the proxy settings (HTTPS_PROXY, NO_PROXY)."}},
		"web page":    {page, explanation{"The service returned HTTP 404 Not Found for GET /v1/a (request ID req_1), a web page, without a message.", apiURL}},
		"login page":  {login, explanation{"The service returned HTTP 200 OK for GET /v1/a (request ID req_1), but the body is a web page. The message in the body: Log in.", apiURL}},
		"no contract": {broken, explanation{"The service returned HTTP 200 OK for GET /v1/a (request ID req_1), but the response has no field \"status\".", "The response does not match the API contract. Contact the service's support, and report the response to the provider's maintainers: " + issuesPage + "."}},
		"request to wait for longer than the timeout": {
			&client.GaveUpError{Cause: busy, Last: api(502), RetryAt: startOfTime},
			explanation{"The service asked the provider to wait until 2130-01-31T12:00:00Z, but this operation times out before then. The last response was " + gateway, "Try again after that time."},
		},
		"timeout": {timeout, explanation{"The operation did not finish within 1m30s (timeouts.read).", increase}},
		"timeout while the service limits the rate": {
			&client.GaveUpError{Cause: timeout, Last: api(429)},
			explanation{"The operation did not finish within 1m30s (timeouts.read). The last response was HTTP 429 Too Many Requests for GET /v1/a (request ID req_1), without a message.", "Reduce -parallelism, or try again later. " + increase},
		},
		"timeout while the network fails": {
			&client.GaveUpError{Cause: timeout, Last: lost},
			explanation{"The operation did not finish within 1m30s (timeouts.read). The request GET /v1/a to docs.example.com failed: EOF.", network + " " + increase},
		},
		"request that was repeated": {
			&client.GaveUpError{Cause: lost, Last: lost, Attempts: 44, Elapsed: 5 * time.Minute},
			explanation{"The request GET /v1/a to docs.example.com failed: EOF. The provider made 44 attempts over 5m.", network},
		},
		"several ways": {
			&client.GaveUpError{Cause: mixed, Outage: true, Last: api(502), Attempts: 30, Elapsed: time.Minute},
			explanation{"Consecutive requests failed for different reasons. The last response was " + gateway + " The provider made 30 attempts over 1m.", "Try again later. If it still fails, see \"Requests fail intermittently\" in " + errorsPage + "."},
		},
		"interrupt after one attempt": {
			&client.GaveUpError{Cause: context.Canceled, Last: api(502), Attempts: 1},
			explanation{"Terraform was interrupted. The last response was " + gateway, "To continue, run the same command again."},
		},
		"object store": {
			&client.StorageError{Host: "storage.example.com", StatusCode: 403, Message: "AccessDenied"},
			explanation{"The object store storage.example.com returned HTTP 403 Forbidden: AccessDenied.", "Try again. If the request still fails, the bundle may have been deleted. To export the site again, change triggers in the docs_static_export resource that exports it."},
		},
		"text of the object store": {
			&client.StorageError{Host: "storage.example.com", StatusCode: 200, Problem: "a web page instead of the bundle"},
			explanation{"The object store storage.example.com returned HTTP 200 OK with a web page instead of the bundle.", intercepts},
		},
		"redirect of the object store": {
			&client.StorageError{Host: "storage.example.com", StatusCode: 302},
			explanation{
				"The object store storage.example.com returned HTTP 302 Found, a redirect that the provider does not follow.",
				"Check whether a proxy or a sign-in page intercepts requests to storage.example.com.",
			},
		},
		"outage of the object store": {
			&client.StorageError{Host: "storage.example.com", StatusCode: 503},
			explanation{"The object store storage.example.com returned HTTP 503 Service Unavailable.", "Try again later."},
		},
		"anything else": {errors.New("disk full"), explanation{"Disk full.", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := explain(test.err); got != test.want {
				t.Errorf("got\n%s\n\n%s\nwant\n%s\n\n%s", got.what, got.advice, test.want.what, test.want.advice)
			}
		})
	}
	const badSignature = "Try again. If the request still fails, the object store refuses the link's signature or the credential that signed it: contact the service's support."
	gone := api(410)
	gone.Page = true
	for err, want := range map[error]string{
		api(401):                              "Check that api_key or DOCS_API_KEY holds a current admin API key for the service at base_url.",
		api(402):                              "The organization's subscription does not cover this request.",
		api(403):                              "Check that the key is an admin API key of the organization that owns the site.",
		gone:                                  apiURL,
		proxied:                               "Check that the key is an admin API key of the organization that owns the site. If a proxy sent this page instead, allow connections to the host of base_url.",
		api(425):                              "Try again later.",
		api(404):                              "Check the ID, and that the API key belongs to the organization that owns it. Make sure that base_url ends with a version segment, such as /v1.",
		api(407):                              checkProxy,
		api(408):                              "Try again later.",
		api(409):                              "The request conflicts with the current state of the job or site, for example because another export is running. Wait, and then try again.",
		api(410):                              unknownID,
		api(413):                              "If the request has additional_parameters, shorten them. Otherwise, raise the request size limit of your proxy.",
		api(418):                              "Check base_url and the arguments. If they are correct, contact the service's support.",
		api(422):                              "If the message points to an invalid value, correct it. Otherwise, check base_url and the arguments.",
		api(500):                              "Try again later. If it still fails, check the service's status page.",
		api(503):                              "Try again later. If it still fails, check the service's status page, or reduce -parallelism: some gateways return this status to limit requests.",
		&client.StorageError{StatusCode: 400}: badSignature,
		&client.StorageError{StatusCode: 401}: badSignature,
		&client.StorageError{StatusCode: 404}: missingBundle,
		api(501):                              "The service does not support this request. " + apiURL,
		&client.ConnectionError{ProxyStatus: 407}: checkProxy,
		&client.ConnectionError{Untrusted: true}:  "The server's certificate is not trusted. If the service uses a private certificate authority, set ca_cert_pem. Otherwise, check this machine's clock and whether a proxy intercepts the connection.",
		&client.ConnectionError{PlainHTTP: true}:  "The server does not use TLS on this port. Correct the port of base_url. Plain http is allowed only for localhost and loopback addresses.",
	} {
		if got := explain(err).advice; got != want {
			t.Errorf("%v: the advice is %q, want %q", err, got, want)
		}
	}
}

func TestErrorSaysWhatHappenedWhatHoldsAndWhatToDo(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	addError(&diags, "Could not do it", errors.New("it failed"), "", "")
	addError(&diags, "Could not do it", &timeoutError{limit: time.Minute}, "Nothing was done.", "Do it by hand.")
	for i, want := range []string{"It failed.", "The operation did not finish within 1m.\n\nNothing was done.\n\nTry again later. Do it by hand."} {
		if got := diags[i].Detail(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
