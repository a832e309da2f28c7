variable "status_id" {
  description = "Status ID of the update that must succeed."
  type        = string
}

resource "docs_update_gate" "published" {
  status_id = var.status_id

  lifecycle {
    # Keeps the gate of the last successful update if the next one fails.
    create_before_destroy = true
  }
}

resource "docs_static_export" "site" {
  domain = "docs.example.com"

  triggers = {
    # The reference makes the export wait for the gate.
    status_id = docs_update_gate.published.status_id
  }
}

# For other configurations: the ID of the last update that succeeded. A failed apply keeps it, because the status is
# unknown until the gate passes.
output "status_id" {
  value = docs_update_gate.published.status == "success" ? docs_update_gate.published.status_id : null
}
