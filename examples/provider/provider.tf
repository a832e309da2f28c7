terraform {
  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

# Configured by DOCS_BASE_URL and DOCS_API_KEY.
provider "docs" {}

resource "docs_static_export" "site" {
  domain   = "docs.example.com"
  triggers = { revision = "1" } # change this value to export the site again
}

output "bundle_url" {
  value     = docs_static_export.site.bundle_url
  sensitive = true
}
