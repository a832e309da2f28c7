# Exports a site after each successful update and outputs the link to the bundle.

terraform {
  required_version = ">= 1.0"

  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

# Configured by DOCS_BASE_URL and DOCS_API_KEY in the environment.
provider "docs" {}

variable "domain" {
  description = "Domain of the site to export."
  type        = string
  default     = "docs.example.com"
}

variable "status_id" {
  description = "Status ID of the latest update of the site."
  type        = string
  default     = "upd_success"
}

# Waits for the update and fails unless it succeeds.
resource "docs_update_gate" "latest" {
  status_id = var.status_id
}

resource "docs_static_export" "site" {
  domain = var.domain

  # A new update exports the site again, after the gate.
  triggers = {
    update = docs_update_gate.latest.status_id
  }
}

# Missing until the job has completed.
output "job_id" {
  value = docs_static_export.site.status == "completed" ? docs_static_export.site.job_id : null
}

output "page_count" {
  value = docs_static_export.site.page_count
}

output "expires_at" {
  value = docs_static_export.site.expires_at
}

# Anyone who has the link can download the site. To print it, run `terraform output -raw bundle_url`.
output "bundle_url" {
  value     = docs_static_export.site.bundle_url
  sensitive = true
}
