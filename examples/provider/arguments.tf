terraform {
  required_version = ">= 1.10" # OpenTofu: 1.11
}

# Ephemeral, so Terraform never stores the key.
variable "docs_api_key" {
  type      = string
  ephemeral = true
}

# To use this account, set provider = docs.handbook in each block that uses it.
provider "docs" {
  alias    = "handbook"
  base_url = "https://host.example/v1"
  api_key  = var.docs_api_key
}
