terraform {
  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

variable "domain" {
  description = "Domain of the site to export."
  type        = string
}

variable "status_id" {
  description = "ID of the update that must succeed."
  type        = string
}

resource "docs_update_gate" "published" {
  status_id = var.status_id
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    update = docs_update_gate.published.status_id
  }

  # Longer than the time between two renewals, 30 minutes, and shorter than the lifetime of a link.
  renew_before = "45m"
}

# The update whose export is published, for renew.sh. If an export fails, the output keeps the earlier
# ID.
output "status_id" {
  value = docs_static_export.site.status == "completed" ? docs_static_export.site.triggers.update : null
}

output "bundle_url" {
  value     = docs_static_export.site.bundle_url
  sensitive = true
}
