resource "docs_static_export" "site" {
  domain = "docs.example.com"

  triggers = {
    revision = "4f2c1d9"
  }

  additional_parameters = jsonencode({ version = "2030-01" })
}
