terraform {
  required_providers {
    docs = { source = "docs-hosting/docs", version = "~> 0.1.0" }
  }
}

variable "status_id" {}

resource "docs_update_gate" "published" {
  status_id = var.status_id
}
