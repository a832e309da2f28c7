variable "status_id" {
  description = "ID of the update."
  type        = string
}

# Fails the plan if the update fails or does not finish within 20 minutes.
data "docs_update_status" "ended" {
  status_id           = var.status_id
  wait_for_completion = true
  fail_on_failure     = true

  timeouts = {
    read = "20m"
  }
}
