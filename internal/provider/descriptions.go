// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

// Descriptions of attributes that several kinds of resources share.
const (
	timeoutsDescription     = "Operation timeouts, as durations such as `30s` or `90m`."
	pollIntervalDescription = "Time between status checks. At least `1s`. By default, the provider adjusts it between 1 and 15 seconds. The service can request pauses of up to one minute."

	bundleURLDescription  = "Presigned URL of the bundle archive."
	expiresAtDescription  = "Time when `bundle_url` expires, in RFC 3339 format (UTC), such as `2030-01-31T12:00:00Z`. Null if neither the service nor the link specifies it."
	bundleSizeDescription = "Size of the bundle in bytes."
	jobStatusDescription  = "Status of the job as the service returns it. `completed` and `failed` are final. Any other value means that the job is still running."
)
