# Needs Terraform 1.7 and the simulator, and DOCS_BASE_URL and DOCS_API_KEY as it prints them:
# terraform init -test-directory=tests/simulator && terraform test -test-directory=tests/simulator

variables {
  domain    = "docs.example.com"
  revision  = "4f2c1d9"
  status_id = "upd_success"
}

run "exports_the_site" {
  assert {
    condition     = output.page_count > 0 && output.expires_at != null
    error_message = "Nothing was exported."
  }
}

run "keeps_the_job_of_the_same_content" {
  assert {
    condition     = output.job_id == run.exports_the_site.job_id
    error_message = "The site was exported twice."
  }
}

run "exports_new_content" {
  variables {
    revision = "77aa021"
  }

  assert {
    condition     = output.job_id != run.exports_the_site.job_id
    error_message = "The new content was not exported."
  }
}
