terraform {
  required_version = ">= 1.14"
}

variable "status_id" {
  description = "ID of the update."
  type        = string
}

# To invoke it: terraform apply -invoke=action.docs_await_update.published
action "docs_await_update" "published" {
  config {
    status_id = var.status_id

    timeouts = {
      invoke = "20m"
    }
  }
}

# Invokes the action before the resource is created or changed.
resource "terraform_data" "announcement" {
  input = var.status_id

  lifecycle {
    action_trigger {
      events  = [before_create, before_update]
      actions = [action.docs_await_update.published]
    }
  }
}
