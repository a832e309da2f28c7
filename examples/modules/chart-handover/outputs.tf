output "values" {
  description = "Values of the deployment chart, for yamlencode. They contain the link."
  sensitive   = true
  value = {
    staticExport = {
      enabled   = true
      version   = var.revision
      bundleUrl = docs_static_export.site.bundle_url
    }
  }
}

output "job_id" {
  description = "ID of the export job, for the ephemeral resource docs_static_export_bundle."
  value       = docs_static_export.site.job_id
}

output "expires_at" {
  description = "When the link stops working: an RFC 3339 time in UTC, or null if it is unknown."
  value       = docs_static_export.site.expires_at
}

output "page_count" {
  description = "Number of pages in the bundle; null where the service does not say."
  value       = docs_static_export.site.page_count
}
