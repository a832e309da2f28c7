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

variable "status_id" {
  description = "Status id of the update that has to have succeeded."
  type        = string
}

# Waits during apply. The plan is made at once, whatever the update does.
resource "docs_update_gate" "published" {
  status_id = var.status_id

  timeouts = {
    create = "20m"
  }
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    update = docs_update_gate.published.status_id
  }

  # Not before the gate has been passed.
  depends_on = [docs_update_gate.published]
}

output "published" {
  value = docs_update_gate.published.ended_at
}
