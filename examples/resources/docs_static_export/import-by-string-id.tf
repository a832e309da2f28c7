import {
  to = docs_static_export.site
  id = "docs.example.com,se_3f9a2c1b8e7d4a06"
}
