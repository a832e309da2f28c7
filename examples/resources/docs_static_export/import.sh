# Run one of these: by domain and job ID, or by job ID alone if it has no comma.
terraform import docs_static_export.site docs.example.com,se_3f9a2c1b8e7d4a06
terraform import docs_static_export.site se_3f9a2c1b8e7d4a06
