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

ephemeral "docs_static_export_bundle" "site" {
  job_id = docs_static_export.site.job_id
}

resource "helm_release" "docs" {
  name             = "docs"
  namespace        = "docs"
  create_namespace = true
  chart            = "oci://charts.example.com/docs" # the service's deployment chart

  set = [
    { name = "staticExport.enabled", value = "true" },
    { name = "staticExport.version", value = var.revision, type = "string" },
  ]

  # Terraform cannot detect changes of a write-only argument. The revision is derived from the job
  # ID, so a new job upgrades the release.
  set_wo = [
    { name = "staticExport.bundleUrl", value = replace(ephemeral.docs_static_export_bundle.site.bundle_url, ",", "\\,") },
  ]
  set_wo_revision = parseint(substr(sha256(docs_static_export.site.job_id), 0, 8), 16)
}
