output "values" {
  description = "Values for the deployment chart, to pass to yamlencode. They contain the link."
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
  value       = docs_static_export.site.status == "completed" ? docs_static_export.site.job_id : null
}

output "expires_at" {
  description = "Time when the link expires (RFC 3339, UTC). Null if it is unknown."
  value       = docs_static_export.site.expires_at
}

output "page_count" {
  description = "Number of exported pages. Null if the service does not return it."
  value       = docs_static_export.site.page_count
}
