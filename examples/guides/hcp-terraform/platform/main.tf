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

variable "domain" {
  description = "Domain of the site to export."
  type        = string
}

variable "status_id" {
  description = "Status ID of the first update to export."
  type        = string
}

variable "docs_base_url" {
  description = "Base URL of the service's API."
  type        = string
}

# Secrets are ephemeral here and write-only below, so Terraform never stores them.
variable "docs_api_key" {
  description = "Admin API key of the service."
  type        = string
  ephemeral   = true
}

variable "kube_host" {
  description = "URL of the cluster's API, which HCP Terraform can reach."
  type        = string
}

variable "kube_token" {
  description = "Token of a service account that can install the chart."
  type        = string
  ephemeral   = true
}

variable "cluster_ca" {
  description = "CA certificate of the cluster, as PEM."
  type        = string
}

variable "outputs_token" {
  description = "Token of a team that can read the outputs of docs-export."
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

resource "tfe_variable" "docs_base_url" {
  variable_set_id = tfe_variable_set.docs.id
  category        = "env"
  key             = "DOCS_BASE_URL"
  value           = var.docs_base_url
}

resource "tfe_variable" "docs_api_key" {
  variable_set_id  = tfe_variable_set.docs.id
  category         = "env"
  key              = "DOCS_API_KEY"
  sensitive        = true
  value_wo         = var.docs_api_key
  value_wo_version = 1 # increase it with each new key
}

resource "tfe_variable" "domain" {
  workspace_id = tfe_workspace.export.id
  category     = "terraform"
  key          = "domain"
  value        = var.domain
}

resource "tfe_variable" "status_id" {
  workspace_id = tfe_workspace.export.id
  category     = "terraform"
  key          = "status_id"
  value        = var.status_id

  lifecycle {
    ignore_changes = [value] # run.sh changes it
  }
}

resource "tfe_variable" "kube_host" {
  workspace_id = tfe_workspace.deployment.id
  category     = "env"
  key          = "KUBE_HOST"
  value        = var.kube_host
}

resource "tfe_variable" "kube_token" {
  workspace_id     = tfe_workspace.deployment.id
  category         = "env"
  key              = "KUBE_TOKEN"
  sensitive        = true
  value_wo         = var.kube_token
  value_wo_version = 1
}

# Not an environment variable, which cannot contain line breaks.
resource "tfe_variable" "cluster_ca" {
  workspace_id = tfe_workspace.deployment.id
  category     = "terraform"
  key          = "cluster_ca"
  value        = var.cluster_ca
}

resource "tfe_variable" "outputs_token" {
  workspace_id     = tfe_workspace.deployment.id
  category         = "env"
  key              = "TFE_TOKEN"
  sensitive        = true
  value_wo         = var.outputs_token
  value_wo_version = 1
}

output "workspace_id" {
  value = tfe_workspace.export.id
}

output "variable_id" {
  value = tfe_variable.status_id.id
}
