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
