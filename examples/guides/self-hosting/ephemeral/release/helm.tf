terraform {
  required_providers {
    helm = {
      source  = "hashicorp/helm"
      version = "~> 3.0"
    }
  }
}

resource "helm_release" "docs" {
  name      = "docs"
  namespace = "docs"
  chart     = "oci://charts.example.com/docs" # the service's deployment chart

  set = [
    { name = "staticExport.enabled", value = "true" },
    { name = "staticExport.version", value = var.revision, type = "string" },
  ]

  # Write-only: handed to Helm, and kept in no plan and no state. Terraform cannot see it change,
  # so a number made of the job's id tells when the release has to be upgraded.
  set_wo = [
    { name = "staticExport.bundleUrl", value = replace(var.bundle_url, ",", "\\,") },
  ]
  set_wo_revision = parseint(substr(sha256(var.job_id), 0, 8), 16)
}
