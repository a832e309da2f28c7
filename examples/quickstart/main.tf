# Exports a documentation site, once its latest update succeeded, and hands out the bundle's link.

terraform {
  required_version = ">= 1.2"

  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = ">= 0.1"
    }
  }
}

# Configured by DOCS_BASE_URL and DOCS_API_KEY in the environment.
provider "docs" {}

variable "domain" {
  description = "The domain of the site to export."
  type        = string
  default     = "docs.example.com"
}

variable "status_id" {
  description = "The status identifier of the update that must have succeeded."
  type        = string
  default     = "upd_success"
}

data "docs_update_status" "latest" {
  status_id = var.status_id

  lifecycle {
    postcondition {
      condition     = self.succeeded
      error_message = "Update ${self.id} is ${self.status}: the site is not exported."
    }
  }
}

resource "docs_static_export" "site" {
  domain = var.domain

  # Waits for the postcondition above.
  depends_on = [data.docs_update_status.latest]
}

output "update_status" {
  value = data.docs_update_status.latest.status
}

output "job_id" {
  value = docs_static_export.site.job_id
}

output "page_count" {
  value = docs_static_export.site.page_count
}

output "expires_at" {
  value = docs_static_export.site.expires_at
}

# A presigned link is a credential: read it with `terraform output -raw bundle_url`.
output "bundle_url" {
  value     = docs_static_export.site.bundle_url
  sensitive = true
}
