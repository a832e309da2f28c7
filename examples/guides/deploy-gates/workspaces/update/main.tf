terraform {
  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

variable "status_id" {
  description = "Status ID of the update that must succeed."
  type        = string
}

resource "docs_update_gate" "published" {
  status_id = var.status_id

  lifecycle {
    # Keeps the gate of the last successful update if the next one fails. Otherwise, a refresh-only apply would
    # empty the output in OpenTofu.
    create_before_destroy = true
  }
}

# The ID of the last update that succeeded. Before one has succeeded, the output is missing. Without the condition, it
# would name a failed update, too.
output "status_id" {
  value = docs_update_gate.published.status == "success" ? docs_update_gate.published.status_id : null
}
