resource "docs_static_export" "handbook" {
  domain = "handbook.example.com"

  # Sent with the request that starts the job.
  additional_parameters = jsonencode({ version = "2030-01" })

  renew_before = "10m"

  timeouts {
    create = "90m"
    update = "90m"
  }
}
