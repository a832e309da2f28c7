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

# Waits in the apply. The plan does not read the update.
resource "docs_update_gate" "published" {
  status_id = var.status_id

  timeouts = {
    create = "20m"
  }
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    # The reference makes the export wait for the gate.
    update = docs_update_gate.published.status_id
  }
}

output "published" {
  value = docs_update_gate.published.ended_at
}
