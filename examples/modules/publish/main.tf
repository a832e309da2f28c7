resource "docs_static_export" "site" {
  domain   = var.domain
  triggers = { revision = var.revision }

  # The download makes links of its own.
  link_renewal = "never"
}

resource "docs_bundle_download" "site" {
  job_id     = docs_static_export.site.job_id
  path       = var.archive
  sha256     = var.sha256
  extract_to = var.directory
}
