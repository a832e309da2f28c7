terraform {
  required_providers {
    google = {
      source = "hashicorp/google"
    }
  }
}

resource "google_storage_bucket_object" "site" {
  for_each = var.objects

  bucket         = var.bucket
  name           = each.key
  source         = each.value.source
  source_md5hash = each.value.md5
  content_type   = each.value.content_type
  cache_control  = each.value.cache_control
}
