terraform {
  required_version = ">= 1.3"

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

  # Longer than the time between two runs (such as 5 minutes), and shorter than the link lifetime.
  renew_before = "10m"
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
  set_sensitive = [
    { name = "staticExport.bundleUrl", value = replace(docs_static_export.site.bundle_url, ",", "\\,") },
  ]

  lifecycle {
    # Stops a late apply from using an expired link. If the expiry is unknown (null), the condition is true.
    precondition {
      condition     = try(timecmp(docs_static_export.site.expires_at, timestamp()) > 0, true)
      error_message = "The bundle link expired at ${coalesce(docs_static_export.site.expires_at, "an unknown time")}. Create a new plan."
    }
  }
}
