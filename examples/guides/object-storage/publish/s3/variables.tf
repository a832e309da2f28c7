variable "bucket" {
  description = "Name of the bucket."
  type        = string
}

variable "objects" {
  description = "What to store, by the name of the object."
  type = map(object({
    source        = string
    md5           = string # hexadecimal
    content_type  = string
    cache_control = string
  }))
}
