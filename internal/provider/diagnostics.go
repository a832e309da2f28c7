// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// addError adds the diagnostic of a failed call: what happened, the state after it,
// and the next step. An empty state is left out. If next is empty, the error itself
// suggests the next step.
func addError(diags *diag.Diagnostics, summary string, err error, state, next string) {
	what, advice := explain(err)
	if next == "" {
		next = advice
	}
	diags.AddError(summary, paragraphs(what, state, next))
}

// paragraphs joins texts, without the empty ones.
func paragraphs(texts ...string) string {
	var kept []string
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n\n")
}

// explain says why a call failed, and what to do about it.
func explain(err error) (what, advice string) {
	var api *client.APIError
	var unexpected *client.UnexpectedResponseError
	var connection *client.ConnectionError
	var busy *client.BusyError
	var storage *client.StorageError
	var timeout *timeoutError
	switch {
	case interrupted(err):
		return "Terraform was interrupted.", ""
	case errors.As(err, &busy):
		service := "The service"
		if errors.As(err, &api) {
			service = fmt.Sprintf("The service returned %s. It", describeResponse(api))
		}
		return fmt.Sprintf("%s asked the provider to wait until %s, which is after the timeout of this operation.", service, busy.RetryAt.UTC().Format(time.RFC3339)),
			"Try again after that time, or set a longer timeout in `timeouts`."
	case errors.As(err, &timeout):
		what = sentence(timeout.Error())
		if errors.As(err, &api) {
			what += fmt.Sprintf(" The last response was %s.", describeResponse(api))
		} else if errors.As(err, &connection) {
			what += " " + describeConnection(connection)
		}
		return what, fmt.Sprintf("If this is normal, increase `timeouts.%s`.", timeout.field)
	case errors.As(err, &api):
		what = fmt.Sprintf("The service returned %s.", describeResponse(api))
		if api.RetryAfter > 0 {
			what += fmt.Sprintf(" It asked the provider to wait %s before the next request.", api.RetryAfter.Round(time.Second))
		}
		return what, advise(api)
	case errors.As(err, &unexpected):
		what = fmt.Sprintf("The service returned HTTP %d for %s %s%s, but %s.", unexpected.StatusCode, unexpected.Method, unexpected.Path, inRequest(unexpected.RequestID), unexpected.Problem)
		if unexpected.Message != "" {
			what += " The service's message: " + unexpected.Message
		}
		if !unexpected.NotJSON {
			return what, "The response does not match the contract of the API. Contact the service's support."
		}
		return what, wrongBaseURL
	case errors.As(err, &connection):
		return describeConnection(connection), adviseConnection(connection)
	case errors.As(err, &storage):
		return sentence(storage.Error()), "Try again. If it fails again, the bundle may have been deleted: export the site again."
	}
	return sentence(err.Error()), ""
}

// adviseVersion returns the advice for a 404 if base_url has no version segment, or ""
// if that is not the cause.
func adviseVersion(c *client.Client, err error) string {
	var api *client.APIError
	if !errors.As(err, &api) || api.StatusCode != 404 || client.HasVersion(c.BaseURL()) {
		return ""
	}
	return fmt.Sprintf("Add the version segment, such as /v1, to base_url (%s).", c.BaseURL())
}

const (
	errorsPage     = "https://registry.terraform.io/providers/docs-hosting/docs/latest/docs/guides/errors"
	wrongBaseURL   = "Check that base_url is the address of the service's API, not of a website, a proxy, or a login page."
	stateUnchanged = "The state is unchanged."
)

// timeoutError is the cause of a context that ended because of a timeout.
type timeoutError struct {
	after time.Duration
	field string // of the timeouts argument
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the operation did not finish within %s (`timeouts.%s`)", e.after, e.field)
}

// interrupted reports whether Terraform was asked to stop.
func interrupted(err error) bool { return errors.Is(err, context.Canceled) }

// tooSlow reports whether a timeout ended an operation, or would have during a wait that
// the service asked for.
func tooSlow(err error) bool {
	var timeout *timeoutError
	var busy *client.BusyError
	return errors.As(err, &timeout) || errors.As(err, &busy)
}

// describeResponse describes a response of the service, without a final period.
func describeResponse(e *client.APIError) string {
	text := fmt.Sprintf("HTTP %s for %s %s", e.Status(), e.Method, e.Path)
	if e.Redirect != "" {
		text += ", a redirect to " + e.Redirect
	}
	text += inRequest(e.RequestID)
	if e.Message == "" {
		return text + ", without a message"
	}
	return text + ": " + strings.TrimSuffix(e.Message, ".")
}

// describeConnection describes a request without a complete response.
func describeConnection(e *client.ConnectionError) string {
	return fmt.Sprintf("The request %s %s to %s failed: %s.", e.Method, e.Path, e.Host, e.Reason)
}

func inRequest(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf(" (request ID %s)", id)
}

// adviceByStatus says what the user can do about a response. The contract leaves open
// what the service means by a status, so the advice relies on HTTP and documented rules.
var adviceByStatus = map[int]string{
	400: "Correct the arguments that the message names.",
	401: "Check that api_key or DOCS_API_KEY holds a current admin API key for the service at base_url.",
	402: "The organization's subscription does not include this. Static export requires an Enterprise subscription.",
	403: "Use an admin API key of the organization that owns the site. Static export also requires an Enterprise subscription.",
	404: "Check the ID, and that it belongs to the organization of the API key.",
	407: "A proxy requires credentials. Add them to HTTPS_PROXY, or list the host in NO_PROXY.",
	409: "Wait for other work on the site to finish, and try again.",
	410: "Check the ID, and that it belongs to the organization of the API key.",
	413: "Shorten additional_parameters.",
	422: "Correct the arguments that the message names.",
	429: "Try again later, or reduce -parallelism.",
}

// advise says what the user can do about a response.
func advise(e *client.APIError) string {
	if e.Page && (e.StatusCode == 404 || e.StatusCode == 405) {
		return wrongBaseURL
	}
	known := adviceByStatus[e.StatusCode]
	switch {
	case known != "":
		return known
	case e.StatusCode/100 == 3:
		return "If the service has moved, set base_url to its new URL. To protect the API key, the provider follows redirects only on the same host, and none when it starts an export."
	case e.StatusCode >= 500:
		return "Try again later. If it still fails, check the service's status page."
	}
	return "Check the arguments and the provider configuration."
}

func adviseConnection(e *client.ConnectionError) string {
	if e.Untrusted {
		return "The server's certificate is not trusted. If the service uses a private certificate authority, set ca_cert_pem. Otherwise, check this machine's clock and whether a proxy intercepts the connection."
	}
	return "Check base_url, the network, and the proxy settings (HTTPS_PROXY, NO_PROXY)."
}

// sentence turns an error text into a sentence.
func sentence(text string) string {
	text = strings.TrimSuffix(text, ".")
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text + "."
}
