// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

type (
	// APIError is a response that is not a success.
	APIError = transport.APIError
	// UnexpectedAnswerError is a success with an unusable body.
	UnexpectedAnswerError = transport.UnexpectedAnswerError
	// ConnectionError is a request without a complete response.
	ConnectionError = transport.ConnectionError
	// BusyError means that the service asks to wait longer than the operation may take.
	BusyError = transport.BusyError
	// StorageError is a response of the object store without data.
	StorageError = transport.StorageError
)

// Redact returns text of the service in a form that can be shown.
func Redact(text string) string { return transport.Redact(text) }

// CheckCertificates checks PEM text for [Config.RootCAs].
func CheckCertificates(pem []byte) error {
	_, err := transport.CertPool(pem)
	return err
}

// JobFailedError means that a static export job ended with status "failed".
type JobFailedError struct{ Job *StaticExportJob }

func (e *JobFailedError) Error() string {
	if e.Job.Error == "" {
		return fmt.Sprintf("static export job %s failed; the service gave no reason", e.Job.ID)
	}
	return fmt.Sprintf("static export job %s failed: %s", e.Job.ID, e.Job.Error)
}

// IsGone reports whether err means that the service does not know the object, or
// no longer does. A 404 that is a web page does not mean that: it comes from
// something other than the API.
func IsGone(err error) bool {
	api, ok := errors.AsType[*APIError](err)
	return ok && (api.StatusCode == http.StatusGone || api.StatusCode == http.StatusNotFound && !api.Page)
}

// MayHaveStarted reports whether [Client.StartStaticExport] may have started a job
// although it failed with err.
func MayHaveStarted(err error) bool { return transport.MayHaveActed(err) }
