variable "status_id" {
  description = "Status id of the update that was triggered before this run."
  type        = string
}

# Waits until the update has ended; the apply fails unless it succeeded.
resource "docs_update_gate" "published" {
  status_id = var.status_id

  timeouts = {
    create = "20m"
  }
}

# Is exported only then.
resource "docs_static_export" "site" {
  domain = "docs.example.com"

  triggers = {
    update = docs_update_gate.published.status_id
  }

  depends_on = [docs_update_gate.published]
}
