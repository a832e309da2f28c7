terraform {
  required_version = ">= 1.10"

  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

variable "domain" {
  description = "Domain of the site to export."
  type        = string
}

resource "docs_static_export" "site" {
  domain = var.domain

  # Nothing uses the link in the state.
  link_renewal = "never"
}

# Creates a link in each plan and again in the apply, even if the plan was saved hours ago.
ephemeral "docs_static_export_bundle" "site" {
  job_id = docs_static_export.site.job_id
}

# Replace the command with your deployment.
resource "terraform_data" "deployment" {
  triggers_replace = docs_static_export.site.job_id

  provisioner "local-exec" {
    command = "test -n \"$BUNDLE_URL\" # ./deploy.sh"
    environment = {
      BUNDLE_URL = ephemeral.docs_static_export_bundle.site.bundle_url
    }
  }
}
