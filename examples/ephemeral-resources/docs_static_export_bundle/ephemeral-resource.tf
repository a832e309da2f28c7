terraform {
  required_version = ">= 1.10"
}

resource "docs_static_export" "site" {
  domain = "docs.example.com"

  # The state holds a link too, but it is made once and let expire.
  link_renewal = "never"
}

# A fresh link in every plan and apply, kept nowhere.
ephemeral "docs_static_export_bundle" "site" {
  job_id = docs_static_export.site.job_id
}

# Hand it on where Terraform takes ephemeral values: a write-only argument, the configuration of
# another provider, a provisioner, or an ephemeral output of a module.
resource "terraform_data" "fetch" {
  triggers_replace = docs_static_export.site.job_id

  provisioner "local-exec" {
    command = "curl --fail --silent --show-error --output bundle.tar.gz \"$BUNDLE_URL\""
    environment = {
      BUNDLE_URL = ephemeral.docs_static_export_bundle.site.bundle_url
    }
  }
}
