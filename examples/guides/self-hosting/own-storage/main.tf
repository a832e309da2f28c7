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
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.0"
    }
  }
}

variable "domain" {
  type = string
}

variable "revision" {
  type = string
}

variable "bucket" {
  description = "Name of the bucket to create, in the region of the cluster."
  type        = string
}

variable "vpc_endpoint_id" {
  description = "ID of the S3 endpoint of the cluster's VPC."
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

resource "aws_s3_bucket" "bundles" {
  bucket = var.bucket
}

# Pods do not sign requests: everything that uses the endpoint may read the bundles.
resource "aws_s3_bucket_policy" "bundles" {
  bucket = aws_s3_bucket.bundles.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "${aws_s3_bucket.bundles.arn}/bundles/*"
      Condition = { StringEquals = { "aws:SourceVpce" = var.vpc_endpoint_id } }
    }]
  })
}

# Each export overwrites the S3 object, so pods always find one. source_hash stays known on a fresh disk.
resource "aws_s3_object" "bundle" {
  bucket       = aws_s3_bucket.bundles.id
  key          = "bundles/site.tar.gz"
  source       = docs_bundle_download.site.path
  source_hash  = docs_bundle_download.site.content_sha256
  content_type = "application/gzip"
}

resource "helm_release" "docs" {
  name             = "docs"
  namespace        = "docs"
  create_namespace = true
  chart            = "oci://charts.example.com/docs" # the service's deployment chart
  version          = "1.2.3"                         # of the chart

  values = [yamlencode({
    staticExport = {
      enabled   = true
      version   = var.revision
      bundleUrl = "https://${aws_s3_bucket.bundles.bucket_regional_domain_name}/${aws_s3_object.bundle.key}"
    }
  })]

  depends_on = [aws_s3_bucket_policy.bundles]
}
