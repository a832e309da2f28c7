variable "status_id" {
  description = "Status id of the update that has to succeed."
  type        = string

  validation {
    condition     = trimspace(var.status_id) != ""
    error_message = "The status id is empty: was the update triggered?"
  }
}

variable "triggers" {
  description = "Any strings. A change makes the gate look at the update again."
  type        = map(string)
  default     = {}
}

variable "timeout" {
  description = "How long to wait for the end of the update, as a duration such as 20m."
  type        = string
  default     = "20m"
}
