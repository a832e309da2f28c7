terraform {
  required_version = ">= 1.10"
}

resource "docs_static_export" "site" {
  domain = "docs.example.com"

  # Nothing uses the link in the state.
  link_renewal = "never"
}

# A fresh link in every plan and apply, which is never stored.
ephemeral "docs_static_export_bundle" "site" {
  job_id = docs_static_export.site.job_id
}

# Use it where Terraform accepts ephemeral values: in a write-only argument, in the configuration of
# another provider, in a provisioner, or in an ephemeral output of a module.
resource "terraform_data" "fetch" {
  triggers_replace = docs_static_export.site.job_id

  provisioner "local-exec" {
    command = "curl --fail --silent --show-error --output bundle.tar.gz \"$BUNDLE_URL\""
    environment = {
      BUNDLE_URL = ephemeral.docs_static_export_bundle.site.bundle_url
    }
  }
}
