terraform {
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.0"
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

resource "google_storage_bucket" "site" {
  name                        = var.bucket
  location                    = "EU"
  uniform_bucket_level_access = true

  website {
    main_page_suffix = "index.html"
    not_found_page   = "404.html"
  }
}

resource "google_storage_bucket_iam_member" "readers" {
  bucket = google_storage_bucket.site.name
  role   = "roles/storage.objectViewer"
  member = "allUsers"
}

resource "google_storage_bucket_object" "site" {
  for_each = var.objects

  bucket         = google_storage_bucket.site.name
  name           = each.key
  source         = each.value.source
  source_md5hash = each.value.md5
  content_type   = each.value.content_type
  cache_control  = each.value.cache_control
}
