resource "docs_static_export" "site" {
  domain                = "docs.example.com"
  triggers              = { revision = "1" }
  additional_parameters = jsonencode({ version = "v7" })
  renew_before          = "5m"
  poll_interval         = "2s"
  timeouts              = { create = "30m" }
}

resource "docs_static_export" "least" {
  domain = "least.example.com"
}

resource "docs_update_gate" "deployed" {
  status_id = "upd_1"
  triggers  = { revision = "1" }
}
