variable "domain" {
  description = "Domain of the site to export, without scheme or path."
  type        = string
}

variable "revision" {
  description = "Stands for the content of the site, such as a commit. Another value exports it anew."
  type        = string
}

variable "archive" {
  description = "File to download the bundle to."
  type        = string
}

variable "directory" {
  description = "Directory to unpack the bundle into, which belongs to the module; null to keep the archive only."
  type        = string
  default     = null
}

variable "sha256" {
  description = "SHA-256 checksum that the bundle has to have, in hexadecimal; null for any."
  type        = string
  default     = null
}
