variable "status_id" {
  description = "Status ID of the update."
  type        = string
}

data "docs_update_status" "latest" {
  status_id = var.status_id

  # Omit both to read the current status without waiting.
  wait_for_completion = true
  fail_on_failure     = true
}
