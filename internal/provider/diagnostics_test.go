// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
)

func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	api := func(status int, message string) *client.APIError {
		e := &client.APIError{Message: message}
		e.Method, e.Path, e.StatusCode, e.RequestID = "GET", "/v1/a", status, "req_1"
		return e
	}
	connection := func(reason string) error {
		return &client.ConnectionError{Method: "GET", Path: "/v1/a", Host: "docs.example.com", Reason: reason, Untrusted: reason == "unknown authority"}
	}
	busy := &retry.BusyError{RetryAt: startOfTime}
	timeout := &timeoutError{90 * time.Second, "read"}
	slowDown := api(429, "")
	slowDown.RetryAfter = 90 * time.Second
	login := &client.UnexpectedResponseError{NotJSON: true, Problem: "the body is a web page", Message: "Log in"}
	login.Exchange = api(200, "").Exchange
	moved := api(308, "")
	bad, page := api(502, ""), api(404, "Not found")
	page.Page = true
	sameTwice := &retry.EndedError{Cause: bad, Last: bad, Attempts: 44, Elapsed: 5 * time.Minute}
	moved.Redirect = "https://new.example.com/v1"

	once := &retry.EndedError{Cause: context.Canceled, Last: bad, Attempts: 1, Elapsed: time.Second}
	if got, want := explain(once).what, "Terraform was interrupted. The last response was "+bad.Error()+"."; got != want {
		t.Errorf("after one attempt: got %q, want %q", got, want)
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"400":   {api(400, "no such theme."), "The service returned HTTP 400 Bad Request for GET /v1/a (request ID req_1): no such theme.\n\n" + badRequest},
		"401":   {api(401, ""), "The service returned HTTP 401 Unauthorized for GET /v1/a (request ID req_1), without a message.\n\nCheck that api_key or DOCS_API_KEY holds a current admin API key for the service at base_url."},
		"402":   {api(402, "a"), "HTTP 402 Payment Required for GET /v1/a (request ID req_1): a.\n\nThe organization's subscription does not include this request."},
		"403":   {api(403, "a"), "Use an admin API key of the organization that owns the site."},
		"404":   {api(404, "a"), "Check the ID and the organization of the API key, and make sure that base_url ends with a version segment, such as /v1."},
		"proxy": {&client.ConnectionError{ProxyStatus: 407}, "The proxy refused the request. Check the credentials in HTTPS_PROXY, or list the host in NO_PROXY."},
		"407":   {api(407, "a"), "The proxy refused the request. Check the credentials in HTTPS_PROXY, or list the host in NO_PROXY."},
		"409":   {api(409, "a"), "The service is busy with other work on the site, or the job is not in the right state. Wait, then try again."},
		"410":   {api(410, "a"), "Check the ID and the organization of the API key, and make sure that base_url ends with a version segment, such as /v1."},
		"413":   {api(413, "a"), "If the request has additional_parameters, shorten them. Otherwise, raise the request size limit of your proxy."},
		"418":   {api(418, "a"), "Check base_url and the arguments."},
		"422":   {api(422, "a"), badRequest},
		"429":   {slowDown, "without a message. The service asked the provider to wait 1m30s before the next request.\n\nReduce -parallelism."},
		"500":   {api(500, "a"), "Try again later. If it still fails, check the service's status page."},
		"redirect": {
			moved, "HTTP 308 Permanent Redirect for GET /v1/a (request ID req_1), a redirect to https://new.example.com/v1, without a message.\n\n" +
				"If the service has moved, set base_url to its new URL.",
		},
		"request to wait for longer than the timeout": {
			&retry.EndedError{Cause: busy, Last: api(503, "overloaded")}, "The service asked the provider to wait until 2130-01-31T12:00:00Z, but this operation times out before then. " +
				"The last response was HTTP 503 Service Unavailable for GET /v1/a (request ID req_1): overloaded.\n\nTry again after that time.",
		},
		"timeout": {timeout, "The operation did not finish within 1m30s (timeouts.read).\n\nIf the operation normally takes longer, increase timeouts.read."},
		"timeout while the service fails": {
			&retry.EndedError{Cause: timeout, Last: api(502, "")}, "The operation did not finish within 1m30s (timeouts.read). The last response was HTTP 502 Bad Gateway for GET /v1/a (request ID req_1), without a message.\n\n",
		},
		"timeout while the service limits the rate": {
			&retry.EndedError{Cause: timeout, Last: api(429, "")}, "The last response was HTTP 429 Too Many Requests for GET /v1/a (request ID req_1), without a message.\n\nReduce -parallelism. If the operation normally takes longer, increase timeouts.read.",
		},
		"a request that was repeated": {
			sameTwice, "The service returned HTTP 502 Bad Gateway for GET /v1/a (request ID req_1), without a message. The provider made 44 attempts over 5m.\n\nTry again later.",
		},
		"timeout while the network fails": {
			&retry.EndedError{Cause: timeout, Last: connection("connection refused")}, " The request GET /v1/a to docs.example.com failed: connection refused.\n\n",
		},
		"interrupt":               {&retry.EndedError{Cause: context.Canceled, Last: api(502, "")}, "Terraform was interrupted. The last response was HTTP 502 Bad Gateway for GET /v1/a (request ID req_1), without a message."},
		"page of another website": {page, wrongBaseURL},
		"login page": {
			login, "The service returned HTTP 200 OK for GET /v1/a (request ID req_1), but the body is a web page. The service's message: Log in.\n\nCheck that base_url is the base URL of the service's API, not of a website, a proxy, or a login page.",
		},
		"lost connection": {
			connection("EOF"), "The request GET /v1/a to docs.example.com failed: EOF.\n\nCheck base_url, the network, and the proxy settings (HTTPS_PROXY, NO_PROXY). The service may also be down, or slower than request_timeout allows.",
		},
		"certificate": {
			connection("unknown authority"),
			"unknown authority.\n\nThe server's certificate is not trusted. If the service uses a private certificate authority, set ca_cert_pem.",
		},
		"object store": {
			&client.StorageError{Host: "storage.example.com", StatusCode: 403, Message: "AccessDenied"},
			"The object store storage.example.com returned HTTP 403 Forbidden: AccessDenied.\n\nTry again. If it fails again, the bundle may have been deleted. To export the site again, change triggers in the docs_static_export resource that exports it.",
		},
		"plain http": {&client.ConnectionError{PlainHTTP: true}, "The server does not use TLS on this port. Correct the port of base_url."},
		"page of the object store": {
			&client.StorageError{Host: "storage.example.com", StatusCode: 200},
			"The object store storage.example.com returned HTTP 200 OK with an HTML or XML page instead of the bundle.\n\nCheck whether a proxy or a sign-in page intercepts requests to storage.example.com.",
		},
		"redirect of the object store": {
			&client.StorageError{Host: "storage.example.com", StatusCode: 302},
			"returned HTTP 302 Found, a redirect that the provider does not follow.\n\nCheck whether",
		},
		"several ways": {
			&retry.EndedError{Cause: retry.ErrMixed, Last: api(404, "a"), Attempts: 30, Elapsed: time.Minute},
			"The requests failed in several ways in a row. The last response was HTTP 404 Not Found for GET /v1/a (request ID req_1): a. The provider made 30 attempts over 1m.\n\nTry again later.",
		},
		"anything else": {errors.New("disk full"), "Disk full."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			cause := explain(test.err)
			addError(&diags, "Could not do it", cause, "", "")
			wantPhrases(t, diags[0].Detail(), test.want)
			diags = nil
			addError(&diags, "Could not do it", cause, "Nothing was done.", "Do it by hand.")
			if got, want := diags[0].Detail(), cause.what+"\n\nNothing was done.\n\nDo it by hand."; got != want {
				t.Errorf("with a state and a next step: got %q, want %q", got, want)
			}
		})
	}
}
