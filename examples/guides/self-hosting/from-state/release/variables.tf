variable "bundle_url" {
  description = "Link that the chart fetches the bundle from."
  type        = string
  sensitive   = true
}

variable "revision" {
  description = "Name of the content, for the chart's staticExport.version."
  type        = string
}
