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

  # An apply renews a link that would not last for ten more minutes.
  renew_before = "10m"
}

# A new link is a new value of the chart, so that the release is upgraded.
module "release" {
  source = "./release"

  bundle_url = docs_static_export.site.bundle_url
  revision   = var.revision
}
