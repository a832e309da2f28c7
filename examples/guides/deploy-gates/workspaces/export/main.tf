terraform {
  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

data "terraform_remote_state" "update" {
  backend = "local"

  config = {
    path = "../update/terraform.tfstate"
  }
}

resource "docs_static_export" "site" {
  domain = "docs.example.com"

  triggers = {
    status_id = data.terraform_remote_state.update.outputs.status_id
  }
}
