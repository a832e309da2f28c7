terraform {
  required_version = ">= 1.14"

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

action "docs_await_update" "published" {
  config {
    status_id = var.status_id

    timeouts = {
      invoke = "20m"
    }
  }
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    update = var.status_id
  }

  lifecycle {
    # If the update fails, the action fails and the export does not start.
    action_trigger {
      events  = [before_create, before_update]
      actions = [action.docs_await_update.published]
    }
  }
}
