resource "docs_update_gate" "published" {
  status_id = var.status_id
  triggers  = var.triggers

  timeouts = {
    create = var.timeout
  }
}
