variable "docs_api_key" {
  description = "Admin API key of the documentation service."
  type        = string
  sensitive   = true
}

provider "docs" {
  base_url = "https://host.example/v1"
  api_key  = var.docs_api_key
}
