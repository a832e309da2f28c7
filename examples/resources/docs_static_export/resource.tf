resource "docs_static_export" "site" {
  domain = "docs.example.com"

  # Identifies the content. A new revision exports the site again, in place.
  triggers = {
    revision = "4f2c1d9"
  }

  # Sent with the request that starts the job.
  additional_parameters = jsonencode({ version = "2030-01" })
}
