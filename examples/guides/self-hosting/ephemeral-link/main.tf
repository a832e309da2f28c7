terraform {
  required_version = ">= 1.11"

  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
    helm = {
      source  = "hashicorp/helm"
      version = "~> 3.0"
    }
  }
}

variable "domain" {
  description = "Domain of the site to export."
  type        = string
}

variable "revision" {
  description = "Identifies the content, such as a commit. A new value starts a new export."
  type        = string
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    revision = var.revision
  }

  # Nothing uses the link in the state.
  link_renewal = "never"
}
