package client

import (
	"errors"
	"net/http"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
)

// classify describes the error of an attempt, as [retry.Loop] requires.
func classify(err error) retry.Failure {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		switch {
		case connection.Untrusted, connection.PlainHTTP, connection.ProxyStatus == http.StatusProxyAuthRequired:
			return retry.Failure{Kind: retry.Permanent}
		case connection.Sent:
			return retry.Failure{Kind: retry.Temporary, Progress: connection.Progress}
		}
		return retry.Failure{Kind: retry.Unconnected}
	}
	if unexpected, ok := errors.AsType[*UnexpectedResponseError](err); ok {
		if unexpected.NotJSON {
			return retry.Failure{Kind: retry.Temporary}
		}
		return retry.Failure{Kind: retry.Other} // unusable JSON breaks the contract, and probably will again
	}
	status, retryAfter := statusOf(err)
	return retry.Failure{Kind: kindOf(err, status), RetryAfter: retryAfter}
}

// kindOf returns the kind of a failed response; status is zero if there was none.
func kindOf(err error, status int) retry.Kind {
	_, ofStorage := errors.AsType[*StorageError](err)
	switch {
	case status == 0:
		return retry.Permanent
	case status == http.StatusTooManyRequests:
		return retry.Throttled
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported:
		return retry.Other
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		return retry.Temporary
	case IsNotFound(err), ofStorage && status/100 != 3: // a store may return 403, or a page, for what it does not have
		return retry.NotFound
	}
	return retry.Other
}
