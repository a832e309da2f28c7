variable "status_id" {
  description = "ID of the update that was triggered before this run."
  type        = string
}

# Waits for the end of the update. The apply fails unless the update succeeded.
resource "docs_update_gate" "published" {
  status_id = var.status_id

  timeouts = {
    create = "20m"
  }
}

# Runs only after that.
resource "docs_static_export" "site" {
  domain = "docs.example.com"

  triggers = {
    update = docs_update_gate.published.status_id
  }

  depends_on = [docs_update_gate.published]
}
