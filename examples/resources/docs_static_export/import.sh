# By the ID of the job. The configured domain is taken without a comparison.
terraform import docs_static_export.site se_3f9a2c1b8e7d4a06

# By the domain and the ID of the job.
terraform import docs_static_export.site docs.example.com,se_3f9a2c1b8e7d4a06
