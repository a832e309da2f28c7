output "archive" {
  description = "The downloaded file."
  value       = docs_bundle_download.site.path
}

output "directory" {
  description = "Where the site was unpacked; null if it was not."
  value       = docs_bundle_download.site.extract_to
}

output "sha256" {
  description = "SHA-256 checksum of the archive, in hexadecimal. It changes with the content."
  value       = docs_bundle_download.site.sha256
}

output "file_count" {
  description = "Number of files that were unpacked; null if none were."
  value       = docs_bundle_download.site.file_count
}

output "job_id" {
  description = "Id of the export job."
  value       = docs_static_export.site.job_id
}
