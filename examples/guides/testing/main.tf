terraform {
  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

variable "status_id" {
  type = string
}

data "docs_update_status" "published" {
  status_id           = var.status_id
  wait_for_completion = true

  lifecycle {
    postcondition {
      condition     = self.succeeded
      error_message = "The update failed."
    }
  }
}
