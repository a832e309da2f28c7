resource "docs_static_export" "handbook" {
  domain = "handbook.example.com"

  triggers = {
    revision = "4f2c1d9"
  }

  # Sent with the request that starts the job. The service defines what it accepts.
  additional_parameters = jsonencode({
    version = "2030-01"
  })

  # Renews the link in the last ten minutes before it expires. Must be longer than the time between
  # two runs.
  renew_before = "10m"

  poll_interval = "10s"

  timeouts = {
    create = "90m"
    update = "90m"
  }
}
