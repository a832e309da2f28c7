resource "docs_static_export" "handbook" {
  domain = "handbook.example.com"

  triggers = {
    revision = "4f2c1d9"
  }

  # Passed on with the request that starts the job. The service decides what it accepts.
  additional_parameters = jsonencode({
    version = "2030-01"
  })

  # Renewed by any apply in the last five minutes of its life, or after it.
  renew_before = "5m"

  poll_interval = "10s"

  timeouts = {
    create = "90m"
    update = "90m"
  }
}
