variable "domain" {
  description = "Domain of the site to export, without a scheme, port, or path."
  type        = string
}

variable "revision" {
  description = "Identifies the content, such as a commit. A new value exports the site again."
  type        = string
}

variable "status_id" {
  description = "Status ID of an update that must succeed before the export. Must be known when Terraform plans. Null for no gate."
  type        = string
  default     = null
}

variable "renew_before" {
  description = "How long before expiry to renew the link. The default, 0s, renews the link after it expires. To renew it earlier, set more than the time between two runs."
  type        = string
  default     = "0s"
}
