resource "docs_static_export" "site" {
  domain = "docs.example.com"
}

# The unpacked site.
resource "docs_bundle_download" "site" {
  job_id = docs_static_export.site.job_id
  path   = "${path.root}/out/site"
  unpack = true
}

# The archive. Omit the resource that you do not need.
resource "docs_bundle_download" "archive" {
  job_id = docs_static_export.site.job_id
  path   = "${path.root}/out/bundle.tar.gz"
}
