terraform {
  required_version = ">= 1.3"

  required_providers {
    docs = {
      source  = "docs-hosting/docs"
      version = "~> 0.1"
    }
    helm = {
      source  = "hashicorp/helm"
      version = "~> 3.0"
    }
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.0"
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

variable "bucket" {
  description = "Bucket that the cluster can read over HTTPS."
  type        = string
}

resource "docs_static_export" "site" {
  domain = var.domain

  triggers = {
    revision = var.revision
  }

  # The download creates its own link.
  link_renewal = "never"
}

resource "docs_bundle_download" "site" {
  job_id = docs_static_export.site.job_id
  path   = "${path.root}/out/bundle.tar.gz"
}

# One object for each job. On a fresh disk, source_hash stays known, so nothing is uploaded twice.
resource "aws_s3_object" "bundle" {
  bucket       = var.bucket
  key          = "bundles/${docs_static_export.site.job_id}.tar.gz"
  source       = docs_bundle_download.site.path
  source_hash  = docs_bundle_download.site.content_sha256
  content_type = "application/gzip"

  lifecycle {
    # The old object stays until the release uses the new one.
    create_before_destroy = true
  }
}

resource "helm_release" "docs" {
  name      = "docs"
  namespace = "docs"
  chart     = "oci://charts.example.com/docs" # the service's deployment chart

  values = [yamlencode({
    staticExport = {
      enabled   = true
      version   = var.revision
      bundleUrl = "https://${aws_s3_object.bundle.bucket}.s3.amazonaws.com/${aws_s3_object.bundle.key}"
    }
  })]
}
