terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
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
