resource "helm_release" "docs" {
  name             = "docs"
  namespace        = "docs"
  create_namespace = true
  chart            = "oci://charts.example.com/docs" # the service's deployment chart

  set = [
    { name = "staticExport.enabled", value = "true" },
    { name = "staticExport.version", value = var.revision, type = "string" },
  ]

  # Helm treats an unescaped comma as the end of the value.
  set_sensitive = [
    { name = "staticExport.bundleUrl", value = replace(docs_static_export.site.bundle_url, ",", "\\,") },
  ]

  lifecycle {
    # Stops a late apply from using an expired link. If the expiry is unknown (null), the condition is true.
    precondition {
      condition     = try(timecmp(docs_static_export.site.expires_at, timestamp()) > 0, true)
      error_message = "The bundle link expired at ${docs_static_export.site.expires_at}. Create a new plan."
    }
  }
}
