terraform {
  required_version = ">= 1.0"

  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}
