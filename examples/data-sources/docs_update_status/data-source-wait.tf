variable "status_id" {
  description = "Status id of the update."
  type        = string
}

# As it ends. If it fails, or has not ended in 20 minutes, so does the plan.
data "docs_update_status" "ended" {
  status_id           = var.status_id
  wait_for_completion = true
  fail_on_failure     = true

  timeouts = {
    read = "20m"
  }
}
