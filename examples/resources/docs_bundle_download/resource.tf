resource "docs_static_export" "site" {
  domain = "docs.example.com"
}

# Downloads the archive and unpacks the site.
resource "docs_bundle_download" "site" {
  job_id     = docs_static_export.site.job_id
  path       = "${path.root}/out/bundle.tar.gz"
  extract_to = "${path.root}/out/site"
}

output "content_sha256" {
  value = docs_bundle_download.site.content_sha256
}
