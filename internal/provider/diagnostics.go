// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// addError makes the diagnostic of a failed call. The summary says what failed
// in the user's words; the detail what the service said and what to do. More
// paragraphs, such as how to go on with a job, come last.
func addError(diags *diag.Diagnostics, summary string, err error, more ...string) {
	diags.AddError(summary, detail(err, more...))
}

func detail(err error, more ...string) string {
	var paragraphs []string
	add := func(format string, args ...any) { paragraphs = append(paragraphs, fmt.Sprintf(format, args...)) }

	var api *client.APIError
	var answer *client.UnexpectedAnswerError
	var connection *client.ConnectionError
	var busy *client.BusyError
	switch {
	case interrupted(err):
		add("Terraform was interrupted before this was done.")
	case errors.As(err, &busy):
		if errors.As(err, &api) {
			add("The service answered %s.", said(api))
		} else {
			add("The service limits how many requests it takes.")
		}
		add("It asked to wait until %s, which is after this operation's timeout.", busy.RetryAt.UTC().Format(time.RFC3339))
		add("Try again after that time, or raise the timeout in the timeouts argument.")
	case errors.Is(err, client.ErrTimeout):
		add("The operation's timeout was reached. If it takes this long as a rule, raise it in the timeouts argument.")
		if errors.As(err, &api) {
			add("The last answer of the service was: %s.", said(api))
		} else if errors.As(err, &connection) {
			add("The last request got no answer from %s: %s.", connection.Host, connection.Err)
		}
	case errors.As(err, &api):
		add("The service answered %s.", said(api))
		if api.RetryAfter > 0 {
			add("It asked to wait %s before the next request.", api.RetryAfter.Round(time.Second))
		}
		add("%s", advice(api))
	case errors.As(err, &answer):
		add("The service answered HTTP %d to %s %s, but %s.", answer.StatusCode, answer.Method, answer.Path, answer.Problem)
		if answer.Message != "" {
			add("It said: %s", answer.Message)
		}
		if answer.RequestID != "" {
			add("Request id: %s", answer.RequestID)
		}
		add("Check that base_url is the address of the service's API, not of its web site, a proxy or a login page.")
	case errors.As(err, &connection):
		add("%s %s got no answer from %s: %s.", connection.Method, connection.Path, connection.Host, connection.Err)
		add("%s", connectionAdvice(connection))
	default:
		add("%s.", strings.TrimSuffix(capitalized(err.Error()), "."))
	}
	for _, paragraph := range more {
		if paragraph != "" {
			add("%s", paragraph)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// said is one answer of the service in a sentence.
func said(e *client.APIError) string {
	text := fmt.Sprintf("HTTP %d", e.StatusCode)
	if name := http.StatusText(e.StatusCode); name != "" {
		text += " " + name
	}
	text += fmt.Sprintf(" to %s %s", e.Method, e.Path)
	if e.Redirect != "" {
		text += ", a redirect to " + e.Redirect
	}
	if e.RequestID != "" {
		text += fmt.Sprintf(" (request id %s)", e.RequestID)
	}
	if e.Message == "" {
		return text + ", without a message"
	}
	return text + ": " + strings.TrimSuffix(e.Message, ".")
}

// advice is what the user can do about an answer. What a status means is not
// documented (API document, section 7), so this keeps to what HTTP says and to
// the rules that are.
func advice(e *client.APIError) string {
	switch e.StatusCode {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return "The service did not accept the values it was sent. Compare the arguments with what the message says."
	case http.StatusUnauthorized:
		return "Check the API key: api_key or " + apiKeyVariable + " must hold a current admin API key of the organization, made for the service at base_url."
	case http.StatusPaymentRequired:
		return "The organization's plan does not include this. Static export requires an Enterprise plan."
	case http.StatusForbidden:
		return "The key was recognized, but may not do this. It must be an admin API key of the organization that owns the site, and static export requires an Enterprise plan."
	case http.StatusNotFound, http.StatusGone:
		return "Check the id, that it belongs to the organization of the API key, and that base_url ends with the version segment, such as /v1."
	case http.StatusProxyAuthRequired:
		return "A proxy on the way wants credentials. Put them into HTTPS_PROXY, or name the host in NO_PROXY."
	case http.StatusConflict:
		return "The service says that this does not fit the current state of the object. Wait until other work on it is over."
	case http.StatusRequestEntityTooLarge:
		return "The request is larger than the service accepts. Shorten additional_parameters."
	case http.StatusTooManyRequests:
		return "The service limits how many requests it takes. Wait a while, or run with a lower -parallelism."
	}
	switch {
	case e.StatusCode/100 == 3:
		return "A redirect is followed only for a read, and only on the same host: the API key must not go anywhere else. If the service has moved, set base_url to its new address."
	case e.StatusCode >= 500:
		return "The service has a fault or is overloaded, which may take a while to pass."
	}
	return "Check the arguments and the provider's configuration."
}

func connectionAdvice(e *client.ConnectionError) string {
	var certificate *tls.CertificateVerificationError
	if errors.As(e.Err, &certificate) {
		return "The server's certificate is not trusted. If the service is a private deployment with its own certificate authority, give that in ca_cert_pem; otherwise something on the way intercepts the connection, or this machine's clock is wrong."
	}
	return "Check base_url, the network and, if one is needed, the proxy settings (HTTPS_PROXY, NO_PROXY)."
}

func capitalized(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
