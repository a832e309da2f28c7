variable "domain" {
  description = "Domain of the site to export, without scheme or path."
  type        = string
}

variable "revision" {
  description = "Identifies the content, such as a commit. Another value starts a new export."
  type        = string
}

variable "status_id" {
  description = "ID of an update that must succeed before the export; null for none."
  type        = string
  default     = null
}

variable "renew_before" {
  description = "How long before its expiry the link is renewed. Set it to the time between two applies."
  type        = string
  default     = "0s"
}
