terraform {
  required_version = ">= 1.11"

  cloud {
    organization = "example"

    workspaces {
      name = "docs-deployment"
    }
  }

  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
    helm = {
      source  = "hashicorp/helm"
      version = "~> 3.0"
    }
    tfe = {
      source  = "hashicorp/tfe"
      version = "~> 0.78"
    }
  }
}

variable "cluster_ca" {
  description = "CA certificate of the cluster, as PEM."
  type        = string
}

# The host and the token come from KUBE_HOST and KUBE_TOKEN.
provider "helm" {
  kubernetes = {
    cluster_ca_certificate = var.cluster_ca
  }
}

# The token comes from TFE_TOKEN.
data "tfe_outputs" "export" {
  organization = "example"
  workspace    = "docs-export"
}

locals {
  job_id = data.tfe_outputs.export.nonsensitive_values.job_id
}

ephemeral "docs_static_export_bundle" "site" {
  job_id = local.job_id
}

resource "helm_release" "docs" {
  name             = "docs"
  namespace        = "docs"
  create_namespace = true
  chart            = "oci://charts.example.com/docs" # the service's deployment chart
  version          = "1.2.3"                         # of the chart

  set = [
    { name = "staticExport.enabled", value = "true" },
    { name = "staticExport.version", value = local.job_id, type = "string" },
  ]

  set_wo = [
    { name = "staticExport.bundleUrl", value = replace(ephemeral.docs_static_export_bundle.site.bundle_url, ",", "\\,") },
  ]

  # Must increase with each change of the release, as the time does. Otherwise, the helm provider drops the link.
  set_wo_revision = parseint(formatdate("YYYYMMDDhhmmss", plantimestamp()), 10)
}
