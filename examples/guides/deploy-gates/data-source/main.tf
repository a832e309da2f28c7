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

# Read in the plan, because the ID is known.
data "docs_update_status" "latest" {
  status_id           = var.status_id
  wait_for_completion = true
  fail_on_failure     = true

  timeouts = {
    read = "20m"
  }
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    update = data.docs_update_status.latest.status_id
  }
}

output "published" {
  value = data.docs_update_status.latest.ended_at
}
