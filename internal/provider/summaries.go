package provider

// Every diagnostic that this package writes itself takes its summary from here. A test compares the summaries that
// the documentation quotes with these constants.

// Errors.
const (
	summaryMissingArgument = "Missing provider argument"
	summaryInvalidArgument = "Invalid provider argument"
	summaryUnknownProvider = "Provider configuration is not known yet"

	summaryInvalidID         = "Invalid ID"
	summaryInvalidDomain     = "Invalid domain"
	summaryInvalidPath       = "Invalid path"
	summaryInvalidParameters = "Invalid additional parameters"
	summaryInvalidDuration   = "Invalid duration"
	summaryInvalidImport     = "Invalid import ID"

	summaryPrivateUnreadable = "Private state is unreadable"

	summaryStartFailed     = "Could not start the static export"
	summaryExportTimedOut  = "Static export timed out"
	summaryExportFailed    = "Could not finish the static export"
	summaryJobUnreadable   = "Could not read the static export job"
	summaryImportFailed    = "Could not import the static export job"
	summaryLinkFailed      = "Could not create a bundle link"
	summaryRenewalFailed   = "Could not renew the bundle link"
	summaryJobNotCompleted = "Static export job has not completed"

	summaryUpdateFailed      = "Update failed"
	summaryUpdateTimedOut    = "Timed out waiting for the update"
	summaryUpdateInterrupted = "Interrupted while waiting for the update"
	summaryUpdateUnreadable  = "Could not read the update"

	summaryChecksumMismatch = "Checksum of the bundle does not match"
	summaryContentChanged   = "Content of the bundle has changed"
	summaryUnpackFailed     = "Could not unpack the bundle"
	summaryDamaged          = "Bundle is damaged"
	summaryDownloadFailed   = "Could not download the bundle"
	summaryInspectFailed    = "Could not inspect the downloaded bundle"
	summaryDeleteFailed     = "Could not delete the downloaded bundle"
)

// Warnings. Each is followed by what it is about: the CLI shows only one of several warnings with the same first
// line.
const (
	summaryBundleMissing = "Bundle was not found"
	summaryOtherDomain   = "Imported job is for another domain"
	summaryUnknownExpiry = "Expiry of the bundle link is unknown"
	summaryLinkDueAtOnce = "New link is already due for renewal"
	summaryKeepsLinks    = "Renewal did not extend the link"

	summaryNotDeleted = "Files were not deleted"
)

// Errors or warnings.
const (
	summaryJobFailed         = "Static export job failed"
	summaryExportInterrupted = "Static export interrupted"
	summaryJobNotFound       = "Static export job not found"
	summaryPathInUse         = "Unexpected files at the bundle's path"
)

// Pages that messages name.
const (
	errorsPage = "https://github.com/docs-hosting/terraform-provider-docs/blob/main/docs/guides/errors.md"
	issuesPage = "https://github.com/docs-hosting/terraform-provider-docs/issues"
)
