terraform {
  required_version = ">= 1.11"

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

  link_renewal = "never"
}

ephemeral "docs_static_export_bundle" "site" {
  job_id = docs_static_export.site.job_id
}

module "release" {
  source = "./release"

  bundle_url = ephemeral.docs_static_export_bundle.site.bundle_url
  job_id     = docs_static_export.site.job_id
  revision   = var.revision
}
