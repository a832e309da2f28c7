terraform {
  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

# Configured by DOCS_BASE_URL and DOCS_API_KEY.
provider "docs" {}

variable "domain" {
  description = "Domain of the site to export."
  type        = string
}

variable "revision" {
  description = "Identifies the content, such as a commit. A new value exports the site again."
  type        = string
  default     = "1"
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    revision = var.revision
  }
}

output "pages" {
  value = docs_static_export.site.page_count
}

output "expires_at" {
  value = docs_static_export.site.expires_at
}

# Anyone who has the link can download the site.
output "bundle_url" {
  value     = docs_static_export.site.bundle_url
  sensitive = true
}
