terraform {
  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1"
    }
  }
}

variable "domain" {
  description = "Domain of the site to export."
  type        = string
}

variable "revision" {
  description = "Stands for the content of the site. Another value exports it anew."
  type        = string
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    revision = var.revision
  }

  # The download makes links of its own.
  link_renewal = "never"
}

resource "docs_bundle_download" "site" {
  job_id     = docs_static_export.site.job_id
  path       = "${path.root}/out/bundle.tar.gz"
  extract_to = "${path.root}/out/site"
}

output "directory" {
  description = "Where the site is, once this is applied."
  value       = abspath(docs_bundle_download.site.extract_to)
}

output "file_count" {
  value = docs_bundle_download.site.file_count
}
