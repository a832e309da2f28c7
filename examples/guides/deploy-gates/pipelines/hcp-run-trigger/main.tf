terraform {
  required_providers {
    tfe = {
      source = "hashicorp/tfe"
    }
  }
}

variable "organization" {
  description = "HCP Terraform organization."
  type        = string
}

variable "docs_api_key" {
  description = "Admin API key of the documentation service."
  type        = string
  sensitive   = true
}

data "tfe_workspace" "export" {
  name         = "docs-export"
  organization = var.organization
}

data "tfe_workspace" "deployment" {
  name         = "docs-deployment"
  organization = var.organization
}

# A successful apply of the export, its gate included, starts a run of the deployment.
resource "tfe_run_trigger" "deployment" {
  workspace_id  = data.tfe_workspace.deployment.id
  sourceable_id = data.tfe_workspace.export.id
}

resource "tfe_variable" "base_url" {
  workspace_id = data.tfe_workspace.export.id
  category     = "env"
  key          = "DOCS_BASE_URL"
  value        = "https://host.example/v1"
}

resource "tfe_variable" "api_key" {
  workspace_id = data.tfe_workspace.export.id
  category     = "env"
  key          = "DOCS_API_KEY"
  value        = var.docs_api_key
  sensitive    = true
}
