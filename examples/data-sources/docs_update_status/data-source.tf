variable "status_id" {
  description = "Status ID of the update."
  type        = string
}

data "docs_update_status" "latest" {
  status_id = var.status_id

  # Without these, it reads the update as it is now.
  wait_for_completion = true
  fail_on_failure     = true
}
