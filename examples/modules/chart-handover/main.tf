resource "docs_update_gate" "published" {
  count = var.status_id == null ? 0 : 1

  status_id = var.status_id
}

resource "docs_static_export" "site" {
  domain       = var.domain
  triggers     = { revision = var.revision }
  renew_before = var.renew_before

  depends_on = [docs_update_gate.published]
}
