terraform {
  required_version = ">= 1.10"
}

# Ephemeral, so Terraform never stores the key in a plan or state.
variable "docs_api_key" {
  description = "Admin API key of the documentation service."
  type        = string
  ephemeral   = true
}

provider "docs" {
  base_url = "https://host.example/v1"
  api_key  = var.docs_api_key
}
