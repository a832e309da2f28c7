resource "docs_static_export" "site" {
  domain = "docs.example.com"

  # Stands for the content: another revision exports the site anew, in place.
  triggers = {
    revision = "4f2c1d9"
  }
}

output "pages" {
  value = docs_static_export.site.page_count
}
