terraform {
  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

variable "domain" {
  type = string
}

variable "revision" {
  type = string
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    revision = var.revision
  }

  # The download creates its own link.
  link_renewal = "never"
}

# For S3.
resource "docs_bundle_download" "site" {
  job_id = docs_static_export.site.job_id
  path   = "${path.root}/out/site"
  unpack = true
}

# For an air-gapped network.
resource "docs_bundle_download" "archive" {
  job_id = docs_static_export.site.job_id
  path   = "${path.root}/out/bundle.tar.gz"
}

output "directory" {
  description = "Directory of the unpacked site."
  value       = abspath(docs_bundle_download.site.path)
}

output "checksum" {
  description = "Input for sha256sum --check."
  value       = "${docs_bundle_download.archive.sha256}  bundle.tar.gz"
}
