resource "docs_static_export" "site" {
  domain = "docs.example.com"

  # Nothing uses the link in the state.
  link_renewal = "never"
}

ephemeral "docs_static_export_bundle" "site" {
  job_id = docs_static_export.site.job_id
}

resource "terraform_data" "fetch" {
  triggers_replace = docs_static_export.site.job_id

  provisioner "local-exec" {
    command = "curl --fail --silent --show-error --output bundle.tar.gz \"$BUNDLE_URL\""
    environment = {
      BUNDLE_URL = ephemeral.docs_static_export_bundle.site.bundle_url
    }
  }
}
