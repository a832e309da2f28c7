package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// addError adds the diagnostic of a failed call: what happened, what holds now, and what to do, which ends with the
// given sentence. holds and next may be empty.
func addError(diags *diag.Diagnostics, summary string, err error, holds, next string) {
	cause := explain(err)
	diags.AddError(summary, paragraphs(cause.what, holds, sentences(cause.advice, next)))
}

// addBundleError is addError for a request for the bundle of a job that is known to exist.
func addBundleError(diags *diag.Diagnostics, summary string, err error, holds string) {
	cause := explain(err)
	if client.IsNotFound(err) {
		cause.advice = missingBundle
	}
	diags.AddError(summary, paragraphs(cause.what, holds, cause.advice))
}

// aboutJob returns the summary of a warning about a job.
func aboutJob(summary, jobID string) string { return summary + ": job " + jobID }

// paragraphs joins texts, without the empty ones.
func paragraphs(texts ...string) string { return join(texts, "\n\n") }

// sentences joins sentences of one paragraph, without the empty ones.
func sentences(texts ...string) string { return join(texts, " ") }

func join(texts []string, separator string) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	return strings.Join(texts, separator)
}

// explanation says why a call failed, and what to do about it.
type explanation struct{ what, advice string }

// explain explains the error of a call. What the user can do about a timeout is what helps against the failure of the
// last attempt, if there is one.
func explain(err error) explanation {
	what, reason := sentence(err.Error()), client.ReasonOf(err)
	timeout, ok := errors.AsType[*timeoutError](err)
	switch {
	case interrupted(err):
		var interrupt client.Error
		if failure, ok := errors.AsType[*client.Error](err); ok {
			interrupt = *failure
		}
		interrupt.Text = "the operation was interrupted"
		return explanation{sentence(interrupt.Error()), runAgain}
	case ok && reason == client.ReasonNone:
		return explanation{what, timeout.advice()}
	}
	return explanation{what, advice[reason]}
}

const (
	// runAgain does not name a command: that of a saved plan cannot be run again.
	runAgain = "Run Terraform again to continue."
	// destroyWithoutRead is for data sources, which a destroy reads first.
	destroyWithoutRead = "To destroy without this read, use -refresh=false."
	exportAgain        = "To export the site again, change triggers in the docs_static_export resource that exports it."
	missingBundle      = "Try again. If the request still fails, the bundle may have been deleted. " + exportAgain
)

// interrupted reports whether Terraform was asked to stop.
func interrupted(err error) bool { return errors.Is(err, context.Canceled) }

// timedOut reports whether a timeout ended an operation.
func timedOut(err error) bool {
	_, ok := errors.AsType[*timeoutError](err)
	return ok
}

// timeoutError is the cause of a context that ended because of a timeout.
type timeoutError struct {
	limit time.Duration
	field string // of the timeouts block; "" if it has none for the operation
}

func (e *timeoutError) Error() string {
	text := "the operation did not finish within " + shortDuration(e.limit)
	if e.field != "" {
		text += " (timeouts." + e.field + ")"
	}
	return text
}

// advice says how to allow the operation more time.
func (e *timeoutError) advice() string {
	if e.field == "" {
		return "Try again later."
	}
	return "If the operation normally takes longer, increase timeouts." + e.field + "."
}

// advice says what the user can do about a failure, by its reason.
var advice = map[client.Reason]string{
	client.ReasonRejected: "If the message points to an invalid value, correct it. " +
		"Otherwise, check base_url and the arguments. If they are correct, contact the service's support.",
	client.ReasonUnauthorized: "Check that api_key or DOCS_API_KEY holds a current admin API key " +
		"for the service at base_url.",
	client.ReasonForbidden: "Check that the key is an admin API key of the organization that owns the site, " +
		"and that its subscription covers this request.",
	client.ReasonNotFound: "Check the ID. Make sure that the API key belongs to the organization that owns it, " +
		"and that base_url ends with a version segment, such as /v1.",
	client.ReasonConflict: "Wait, and then try again. If it still fails, contact the service's support.",
	client.ReasonTooLarge: "If the request has additional_parameters, shorten them. " +
		"Otherwise, raise the request size limit of your proxy.",
	client.ReasonRateLimited: "Reduce -parallelism, or try again later.",
	client.ReasonOverloaded: "Try again later. " +
		"Some gateways respond like this to limit requests: reduce -parallelism.",
	client.ReasonUnavailable: "Try again later. If it still fails, contact the service's support.",
	client.ReasonRedirected: "If the API has moved, set base_url to its new base URL. " +
		"If the redirect leads to a sign-in page, check the proxy settings (HTTPS_PROXY, NO_PROXY).",
	client.ReasonNotTheAPI: "Check that base_url is the base URL of the service's API, not of a website. " +
		"If it is, a proxy, a firewall, or a sign-in page responded: " +
		"sign in, or have it let the service's responses through.",
	client.ReasonOffContract: "The response does not match the API contract. Contact the service's support, " +
		"and report this message to the provider's maintainers (" + issuesPage + ").",

	client.ReasonProxyCredentials: "Check the credentials in HTTPS_PROXY, or list the host in NO_PROXY.",
	client.ReasonProxyRefused: "Configure the proxy in HTTPS_PROXY to allow this host, " +
		"or list the host in NO_PROXY.",
	client.ReasonUntrusted: "The server's certificate is not trusted. " +
		"If the service uses a private certificate authority, set ca_cert_pem. " +
		"Otherwise, check this machine's clock and whether a proxy intercepts the connection.",
	client.ReasonClientCertificate: "The server asks for a client certificate, which the provider does not have. " +
		"Use an address of the service that does not require one.",
	client.ReasonPlainHTTP: "The server does not use TLS on this port. " +
		"For localhost or a loopback address, write http instead of https in base_url; otherwise, correct the port.",
	client.ReasonNoResponse: "Check base_url, the network, and the proxy settings (HTTPS_PROXY, NO_PROXY). " +
		"The service may also be down.",
	client.ReasonTooSlow: "Check base_url, the network, and the proxy settings (HTTPS_PROXY, NO_PROXY). " +
		"If the service normally takes this long, increase request_timeout.",

	client.ReasonStoreNoResponse: "Check the network and the proxy settings (HTTPS_PROXY, NO_PROXY), " +
		"and try again. If it still fails, contact the service's support.",
	client.ReasonNotTheStore: "Check whether a proxy, a sign-in page, or a maintenance page responds " +
		"instead of the object store. If not, the link may lead to the wrong address: contact the service's support.",
	client.ReasonLinkRefused: missingBundle + " If that does not help, contact the service's support.",

	client.ReasonOutage: "Try again later. If it still fails, see " + errorsPage +
		"#requests-fail-intermittently for a likely cause.",
}

// sentence turns an error text into a sentence.
func sentence(text string) string {
	text = strings.TrimSuffix(text, ".")
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text + "."
}
