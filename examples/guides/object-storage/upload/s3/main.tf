terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.0"
    }
  }
}

variable "bucket" {
  type = string
}

variable "objects" {
  type = map(object({
    source        = string
    md5           = string # hexadecimal
    content_type  = string
    cache_control = string
  }))
}

resource "aws_s3_object" "site" {
  for_each = var.objects

  bucket        = var.bucket
  key           = each.key
  source        = each.value.source
  source_hash   = each.value.md5
  content_type  = each.value.content_type
  cache_control = each.value.cache_control
}
