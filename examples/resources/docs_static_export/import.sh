# By the id of the job. The service does not tell the domain, so the configured one is taken.
terraform import docs_static_export.site se_3f9a2c1b8e7d4a06

# By the domain and the id of the job, so that the domain is compared with the configured one.
terraform import docs_static_export.site docs.example.com,se_3f9a2c1b8e7d4a06
