resource "docs_static_export" "site" {
  domain = "docs.example.com"

  # Identifies the content. A new revision exports the site again, in place.
  triggers = {
    revision = "4f2c1d9"
  }
}

output "pages" {
  value = docs_static_export.site.page_count
}
