resource "docs_static_export" "handbook" {
  domain = "handbook.example.com"

  triggers = {
    revision = "4f2c1d9"
  }

  # Sent with the request that starts the job. The service defines what it accepts.
  additional_parameters = jsonencode({
    version = "2030-01"
  })

  # Any apply in the last five minutes before the link expires renews it.
  renew_before = "5m"

  poll_interval = "10s"

  timeouts = {
    create = "90m"
    update = "90m"
  }
}
