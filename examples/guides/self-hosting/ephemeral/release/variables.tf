variable "bundle_url" {
  description = "Link that the chart fetches the bundle from."
  type        = string
  ephemeral   = true
}

variable "job_id" {
  description = "Id of the job that the link belongs to. Another one upgrades the release."
  type        = string
}

variable "revision" {
  description = "Name of the content, for the chart's staticExport.version."
  type        = string
}
