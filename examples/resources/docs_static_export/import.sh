terraform import docs_static_export.site docs.example.com,se_3f9a2c1b8e7d4a06
