data "docs_static_export_job" "nightly" {
  job_id = "se_3f9a2c1b8e7d4a06"
}

output "nightly_export" {
  value = {
    status = data.docs_static_export_job.nightly.status
    pages  = data.docs_static_export_job.nightly.page_count
    error  = data.docs_static_export_job.nightly.error
  }
}
