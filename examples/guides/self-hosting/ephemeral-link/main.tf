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
  type = string
}

variable "revision" {
  type = string
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    revision = var.revision
  }

  # Nothing uses the link in the state.
  link_renewal = "never"
}

ephemeral "docs_static_export_bundle" "site" {
  job_id = docs_static_export.site.job_id
}

resource "helm_release" "docs" {
  name             = "docs"
  namespace        = "docs"
  create_namespace = true
  chart            = "oci://charts.example.com/docs" # the service's deployment chart
  version          = "1.2.3"                         # of the chart

  set = [
    { name = "staticExport.enabled", value = "true" },
    { name = "staticExport.version", value = var.revision, type = "string" },
  ]

  # Helm treats an unescaped comma as the end of the value.
  set_wo = [
    { name = "staticExport.bundleUrl", value = replace(ephemeral.docs_static_export_bundle.site.bundle_url, ",", "\\,") },
  ]

  # Must increase with each change of the release, as the time does. Otherwise, the helm provider drops the link.
  set_wo_revision = parseint(formatdate("YYYYMMDDhhmmss", plantimestamp()), 10)
}
