import {
  to = docs_static_export.site
  identity = {
    domain = "docs.example.com"
    job_id = "se_3f9a2c1b8e7d4a06"
  }
}
