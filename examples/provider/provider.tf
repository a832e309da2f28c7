terraform {
  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1"
    }
  }
}

# The address of the service and the API key come from DOCS_BASE_URL and DOCS_API_KEY.
provider "docs" {}
