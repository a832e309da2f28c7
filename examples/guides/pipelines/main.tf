terraform {
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

variable "gate" {
  description = "Whether to wait for the update. A renewal does not."
  type        = bool
  default     = true
}

resource "docs_update_gate" "published" {
  count     = var.gate ? 1 : 0
  status_id = var.status_id

  # A waiting gate holds the state lock.
  timeouts {
    create = "5m"
  }

  lifecycle {
    # A failed gate then leaves the state unchanged, so the plan of a waiting renewal stays valid.
    create_before_destroy = true
  }
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    status_id = var.status_id # renew.sh needs a variable of the same name
  }

  # Longer than the time between two renewals (5 minutes) plus the timeout of the gate (5 minutes),
  # and shorter than the link lifetime.
  renew_before = "12m"

  depends_on = [docs_update_gate.published]
}

output "bundle_url" {
  value     = docs_static_export.site.bundle_url
  sensitive = true
}
