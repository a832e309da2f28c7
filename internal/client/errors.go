// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"errors"
	"net/http"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

type (
	// APIError reports a response that is not a success.
	APIError = transport.APIError
	// UnexpectedResponseError reports a successful response with an unusable body.
	UnexpectedResponseError = transport.UnexpectedResponseError
	// ConnectionError reports a request without a complete response.
	ConnectionError = transport.ConnectionError
	// EndedError reports a call or a wait that was ended after an attempt had failed.
	EndedError = transport.EndedError
	// BusyError reports that the next attempt would come after the timeout.
	BusyError = transport.BusyError
	// StorageError reports a response of the object store without data.
	StorageError = transport.StorageError
)

// JobFailedError means that a static export job ended with status "failed".
type JobFailedError struct{ Job *StaticExportJob }

func (e *JobFailedError) Error() string { return "static export job " + e.Job.ID + " failed" }

// IsNotFound reports whether err is a response that says that the object does not exist,
// or no longer exists. The response must come from the API, so its body must not be a web
// page.
func IsNotFound(err error) bool {
	api, ok := errors.AsType[*APIError](err)
	return ok && (api.StatusCode == http.StatusNotFound || api.StatusCode == http.StatusGone) && !api.Page
}

// MayHaveStarted reports whether [Client.StartStaticExport] may have started a job
// even though it failed with err.
func MayHaveStarted(err error) bool { return transport.MayHaveActed(err) }
