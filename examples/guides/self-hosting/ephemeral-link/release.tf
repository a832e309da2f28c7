ephemeral "docs_static_export_bundle" "site" {
  job_id = docs_static_export.site.job_id
}

resource "helm_release" "docs" {
  name             = "docs"
  namespace        = "docs"
  create_namespace = true
  chart            = "oci://charts.example.com/docs" # the service's deployment chart

  set = [
    { name = "staticExport.enabled", value = "true" },
    { name = "staticExport.version", value = var.revision, type = "string" },
  ]

  # Terraform cannot see a write-only argument change. A new job changes set_wo_revision.
  set_wo = [
    { name = "staticExport.bundleUrl", value = replace(ephemeral.docs_static_export_bundle.site.bundle_url, ",", "\\,") },
  ]
  set_wo_revision = parseint(substr(sha256(docs_static_export.site.job_id), 0, 8), 16)
}
