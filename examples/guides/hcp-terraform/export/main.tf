terraform {
  cloud {
    organization = "example"

    workspaces {
      name = "docs-export"
    }
  }

  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

variable "domain" {
  type = string
}

variable "status_id" {
  description = "Status ID of the update that must succeed."
  type        = string
}

resource "docs_update_gate" "published" {
  status_id = var.status_id
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    status_id = docs_update_gate.published.status_id
  }

  # Otherwise, each renewal would start a run of the deployment.
  link_renewal = "never"
}

# Missing until the job has completed.
output "job_id" {
  value = docs_static_export.site.status == "completed" ? docs_static_export.site.job_id : null
}
