terraform {
  required_version = ">= 1.5"

  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1.0"
    }
  }
}

variable "domain" {
  type = string
}

resource "docs_static_export" "site" {
  domain       = var.domain
  renew_before = "10m"
}

# Warns about an expired link in refresh-only plans and health assessments.
check "bundle_link" {
  assert {
    condition     = try(timecmp(docs_static_export.site.expires_at, plantimestamp()) > 0, true)
    error_message = "The bundle link expired at ${coalesce(docs_static_export.site.expires_at, "an unknown time")}. Apply to renew it."
  }
}

output "bundle_url" {
  value     = docs_static_export.site.bundle_url
  sensitive = true
}

output "expires_at" {
  value = docs_static_export.site.expires_at
}
