variable "status_id" {
  description = "ID of the update."
  type        = string
}

# Reads the current status. A failed update is not an error.
data "docs_update_status" "latest" {
  status_id = var.status_id
}

output "deployed" {
  value = {
    status   = data.docs_update_status.latest.status
    summary  = data.docs_update_status.latest.summary
    ended_at = data.docs_update_status.latest.ended_at
  }
}
