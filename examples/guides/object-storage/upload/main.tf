terraform {
  required_version = ">= 1.5"
}

variable "bucket" {
  description = "Name of the bucket."
  type        = string
}

variable "directory" {
  description = "Directory that the export was unpacked into."
  type        = string

  validation {
    condition     = length(fileset(var.directory, "**")) > 0
    error_message = "The directory is empty. Apply the export first."
  }
}

locals {
  content_types = {
    css   = "text/css"
    html  = "text/html; charset=utf-8"
    ico   = "image/x-icon"
    jpg   = "image/jpeg"
    js    = "text/javascript"
    json  = "application/json"
    png   = "image/png"
    svg   = "image/svg+xml"
    txt   = "text/plain"
    webp  = "image/webp"
    woff2 = "font/woff2"
    xml   = "application/xml"
  }

  objects = {
    for name in fileset(var.directory, "**") : name => {
      source       = "${var.directory}/${name}"
      md5          = filemd5("${var.directory}/${name}")
      content_type = lookup(local.content_types, try(regex("[^.]*$", name), ""), "application/octet-stream")
      # Browsers and the CDN revalidate pages on each request, and cache everything else for an hour.
      cache_control = endswith(name, ".html") ? "no-cache" : "public, max-age=3600"
    }
  }
}

module "objects" {
  source = "./s3" # or ./gcs

  bucket  = var.bucket
  objects = local.objects
}
