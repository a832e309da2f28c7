terraform {
  required_version = ">= 1.11"

  required_providers {
    tfe = {
      source  = "hashicorp/tfe"
      version = "~> 0.78"
    }
  }
}

variable "organization" {
  description = "HCP Terraform organization."
  type        = string
}

variable "docs_base_url" {
  description = "Base URL of the service's API."
  type        = string
}

# Ephemeral and write-only, so Terraform never stores the key.
variable "docs_api_key" {
  description = "Admin API key of the service."
  type        = string
  ephemeral   = true
}

resource "tfe_workspace" "export" {
  name         = "docs-export"
  organization = var.organization
  auto_apply   = true
}

resource "tfe_workspace" "deployment" {
  name                   = "docs-deployment"
  organization           = var.organization
  auto_apply_run_trigger = false # true deploys without approval
}

resource "tfe_workspace_settings" "export" {
  workspace_id              = tfe_workspace.export.id
  remote_state_consumer_ids = [tfe_workspace.deployment.id]
}

# Each successful apply of the export starts a deployment.
resource "tfe_run_trigger" "deployment" {
  workspace_id  = tfe_workspace.deployment.id
  sourceable_id = tfe_workspace.export.id
}

resource "tfe_variable_set" "docs" {
  name         = "Documentation service"
  organization = var.organization
}

resource "tfe_workspace_variable_set" "docs" {
  for_each = {
    export     = tfe_workspace.export.id
    deployment = tfe_workspace.deployment.id
  }

  workspace_id    = each.value
  variable_set_id = tfe_variable_set.docs.id
}

resource "tfe_variable" "base_url" {
  variable_set_id = tfe_variable_set.docs.id
  category        = "env"
  key             = "DOCS_BASE_URL"
  value           = var.docs_base_url
}

resource "tfe_variable" "api_key" {
  variable_set_id  = tfe_variable_set.docs.id
  category         = "env"
  key              = "DOCS_API_KEY"
  sensitive        = true
  value_wo         = var.docs_api_key
  value_wo_version = 1 # increase it with each new key
}
