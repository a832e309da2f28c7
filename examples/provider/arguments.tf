terraform {
  required_version = ">= 1.10"
}

# Ephemeral, so Terraform never stores the key in a plan or state.
variable "docs_api_key" {
  description = "Admin API key of the second account."
  type        = string
  ephemeral   = true
}

# The first account: configured by DOCS_BASE_URL and DOCS_API_KEY.
provider "docs" {}

# The second account. Its objects set provider = docs.handbook.
provider "docs" {
  alias    = "handbook"
  base_url = "https://host.example/v1"
  api_key  = var.docs_api_key
}
