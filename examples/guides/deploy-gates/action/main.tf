terraform {
  required_version = ">= 1.14"

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
    # If the update fails, so does the action, and the export is not started.
    action_trigger {
      events  = [before_create, before_update]
      actions = [action.docs_await_update.published]
    }
  }
}
