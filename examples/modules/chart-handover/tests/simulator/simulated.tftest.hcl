# Needs Terraform 1.7 or OpenTofu 1.12, and the simulator with the settings that it prints:
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
  variables {
    earlier_job = run.exports_the_site.job_id
  }

  assert {
    condition     = output.job_id == var.earlier_job
    error_message = "The site was exported twice."
  }
}

run "exports_new_content" {
  variables {
    revision    = "77aa021"
    earlier_job = run.keeps_the_job_of_the_same_content.job_id
  }

  assert {
    condition     = output.job_id != var.earlier_job
    error_message = "The new content was not exported."
  }
}
