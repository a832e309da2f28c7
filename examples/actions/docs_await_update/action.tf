variable "status_id" {
  description = "Status ID of the update that must succeed."
  type        = string
}

action "docs_await_update" "published" {
  config {
    status_id = var.status_id
  }
}

resource "docs_static_export" "site" {
  domain = "docs.example.com"

  triggers = {
    status_id = var.status_id
  }

  # A renewal of the link would trigger the action, too.
  link_renewal = "never"

  lifecycle {
    # If the action fails, the export does not start.
    action_trigger {
      events  = [before_create, before_update]
      actions = [action.docs_await_update.published]
    }
  }
}
