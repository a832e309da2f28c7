package provider

import (
	"context"
	"errors"
	"fmt"
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

// explain explains the error of a call. If the call was repeated, explain also says how often and how the last
// attempt failed.
func explain(err error) explanation {
	gaveUp, ok := errors.AsType[*client.GaveUpError](err)
	if !ok {
		return explainCause(err)
	}
	cause := explainCause(gaveUp.Cause)
	switch {
	case gaveUp.Outage:
		cause.advice = "Try again later. If it still fails, see " + errorsPage + "#requests-fail-intermittently"
	case !gaveUp.RetryAt.IsZero():
		at := gaveUp.RetryAt.UTC().Format(time.RFC3339)
		cause = explanation{"The service asked the provider to wait until " + at + ", but this operation times out before then.", "Try again after that time."}
	}
	if !errors.Is(gaveUp.Cause, gaveUp.Last) {
		last := explainCause(gaveUp.Last)
		if api, ok := errors.AsType[*client.APIError](gaveUp.Last); ok {
			last.what = "The last response was " + api.Error() + "."
		}
		cause.what = sentences(cause.what, last.what)
		if timedOut(err) {
			cause.advice = sentences(last.advice, cause.advice)
		}
	}
	if gaveUp.Attempts > 1 {
		cause.what = sentences(cause.what, fmt.Sprintf("The provider made %d attempts over %s.", gaveUp.Attempts, shortDuration(gaveUp.Elapsed.Round(time.Second))))
	}
	return cause
}

// explainCause explains an error without attempts.
func explainCause(err error) explanation {
	if interrupted(err) {
		return explanation{"Terraform was interrupted.", "To continue, " + sameCommand}
	}
	if timeout, ok := errors.AsType[*timeoutError](err); ok {
		return explanation{sentence(timeout.Error()), timeout.advice()}
	}
	if api, ok := errors.AsType[*client.APIError](err); ok {
		what := "The service returned " + api.Error() + "."
		if api.RetryAfter > 0 {
			what += fmt.Sprintf(" The service asked the provider to wait %s before the next request.", shortDuration(api.RetryAfter.Round(time.Second)))
		}
		return explanation{what, advise(api)}
	}
	if unexpected, ok := errors.AsType[*client.UnexpectedResponseError](err); ok {
		advice := "The response does not match the API contract. Contact the service's support, " +
			"and report the response to the provider's maintainers: " + issuesPage
		if unexpected.NotJSON {
			advice = wrongBaseURL
		}
		return explanation{"The service returned " + unexpected.Error() + ".", advice}
	}
	advice := ""
	if connection, ok := errors.AsType[*client.ConnectionError](err); ok {
		advice = adviseConnection(connection)
	} else if storage, ok := errors.AsType[*client.StorageError](err); ok {
		advice = adviseStorage(storage)
	}
	return explanation{sentence(err.Error()), advice}
}

const (
	wrongBaseURL = "Check that base_url is the base URL of the service's API, not of a website, a proxy, or a sign-in page."
	sameCommand  = "run the same command again."
	// destroyWithoutRead is for data sources, which a destroy reads first.
	destroyWithoutRead = "To destroy without this read, use -refresh=false."
	checkService       = "Check base_url and the API key."
	missingBundle      = "Try again. If the request still fails, the bundle may have been deleted. " +
		"To export the site again, change triggers in the docs_static_export resource that exports it."
	tryLater     = "Try again later. If it still fails, check the service's status page."
	badSignature = "the object store refuses the link's signature or the credential that signed it: contact the service's support."
	badRequest   = "If the message points to an invalid value, correct it. Otherwise, check base_url and the arguments."
	unknownID    = "Check the ID, and that the API key belongs to the organization that owns it. " +
		"Make sure that base_url ends with a version segment, such as /v1."
)

// notFoundLimit is how long the service may return "not found", for messages.
var notFoundLimit = fmt.Sprintf("%d seconds", int(client.NotFoundLimit.Seconds()))

// interrupted reports whether Terraform was asked to stop.
func interrupted(err error) bool { return errors.Is(err, context.Canceled) }

// timedOut reports whether a timeout ended an operation.
func timedOut(err error) bool {
	_, ok := errors.AsType[*timeoutError](err)
	return ok
}

// adviceByStatus says what the user can do about a response. The contract leaves open what the service means by a
// status, so the advice relies on HTTP and documented rules.
var adviceByStatus = map[int]string{
	400: badRequest,
	401: "Check that api_key or DOCS_API_KEY holds a current admin API key for the service at base_url.",
	402: "The organization's subscription does not cover this request.",
	403: "Check that the key is an admin API key of the organization that owns the site.",
	404: unknownID,
	407: "The proxy refused the request. Check the credentials in HTTPS_PROXY, or list the host in NO_PROXY.",
	408: "Try again later.",
	409: "The request conflicts with the current state of the job or site, for example because another export is running. Wait, and then try again.",
	410: unknownID,
	413: "If the request has additional_parameters, shorten them. Otherwise, raise the request size limit of your proxy.",
	422: badRequest,
	425: "Try again later.",
	429: "Reduce -parallelism, or try again later.",
	503: tryLater + " Some gateways return this status to limit requests: reduce -parallelism.",
}

// advise says what the user can do about a response.
func advise(e *client.APIError) string {
	if e.Page && (e.StatusCode == 404 || e.StatusCode == 405 || e.StatusCode == 410) {
		return wrongBaseURL + " If a proxy replaces the service's responses with pages of its own, let it pass them on."
	}
	known := adviceByStatus[e.StatusCode]
	switch {
	case e.Page && e.StatusCode == 403:
		return known + " If a proxy sent this page instead, allow connections to the host of base_url."
	case known != "":
		return known
	case e.StatusCode/100 == 3:
		return "If the API has moved, set base_url to its new base URL. If the redirect leads to a sign-in page, check the proxy settings (HTTPS_PROXY, NO_PROXY)."
	case e.StatusCode == 501 || e.StatusCode == 505:
		return "The service does not support this request. " + wrongBaseURL
	case e.StatusCode >= 500:
		return tryLater
	}
	return "Check base_url and the arguments. If they are correct, contact the service's support."
}

func adviseConnection(e *client.ConnectionError) string {
	if e.Untrusted {
		return "The server's certificate is not trusted. If the service uses a private certificate authority, set ca_cert_pem. " +
			"Otherwise, check this machine's clock and whether a proxy intercepts the connection."
	}
	if e.PlainHTTP && !e.Storage {
		return "The server does not use TLS on this port. Correct the port of base_url. Plain http is allowed only for localhost and loopback addresses."
	}
	if e.ProxyStatus == 407 {
		return adviceByStatus[407]
	}
	if e.Storage {
		return "Check the network and the proxy settings (HTTPS_PROXY, NO_PROXY), and try again. If it still fails, contact the service's support."
	}
	return "Check base_url, the network, and the proxy settings (HTTPS_PROXY, NO_PROXY). The service may also be down, or slower than request_timeout allows."
}

func adviseStorage(e *client.StorageError) string {
	switch status := e.StatusCode; {
	case status/100 == 2:
		return "Check whether a proxy, a sign-in page, or a maintenance page answers requests to " + e.Host + ". If not, contact the service's support."
	case status/100 == 3 && e.Message != "":
		return "The service's link leads to the wrong address of the object store. Contact the service's support."
	case status/100 == 3:
		return "Check whether a proxy or a sign-in page intercepts requests to " + e.Host + "."
	case status == 400 || status == 401:
		return "Try again. If the request still fails, " + badSignature
	case status == 403:
		return missingBundle + " If the message is about the signature or the credential, " + badSignature
	case status/100 == 4 && status != 408 && status != 425 && status != 429:
		return missingBundle
	}
	return "Try again later."
}

// sentence turns an error text into a sentence.
func sentence(text string) string {
	text = strings.TrimSuffix(text, ".")
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text + "."
}
