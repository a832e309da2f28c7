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

  # Kept out of what Terraform prints. Helm reads an unescaped comma as the end of the value.
  set_sensitive = [
    { name = "staticExport.bundleUrl", value = replace(var.bundle_url, ",", "\\,") },
  ]
}
