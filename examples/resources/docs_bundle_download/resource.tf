resource "docs_static_export" "site" {
  domain = "docs.example.com"
}

# An archive, and the site unpacked from it.
resource "docs_bundle_download" "site" {
  job_id     = docs_static_export.site.job_id
  path       = "${path.root}/out/bundle.tar.gz"
  extract_to = "${path.root}/out/site"
}

output "sha256" {
  value = docs_bundle_download.site.sha256
}
