variable "domain" {
  description = "Domain of the site to export, without scheme or path."
  type        = string
}

variable "revision" {
  description = "Stands for the content of the site, such as a commit. Another value exports it anew."
  type        = string
}

variable "status_id" {
  description = "Status id of an update that has to succeed before the site is exported; null for none."
  type        = string
  default     = null
}

variable "renew_before" {
  description = "How long before its expiry an apply makes a new link: at least the time between two applies."
  type        = string
  default     = "0s"
}
