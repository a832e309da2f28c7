mock_provider "docs" {
  mock_resource "docs_static_export" {
    defaults = {
      job_id     = "se_3f9a2c1b8e7d4a06"
      status     = "completed"
      page_count = 42
      bundle_url = "https://storage.example.com/bundle.tar.gz?signature=mocked"
      expires_at = "2030-01-31T12:00:00Z"
    }
  }
}

variables {
  domain   = "docs.example.com"
  revision = "4f2c1d9"
}

run "hands_the_link_to_the_chart" {
  assert {
    condition     = output.values.staticExport.bundleUrl == "https://storage.example.com/bundle.tar.gz?signature=mocked"
    error_message = "The chart does not get the link."
  }
}

run "waits_for_the_update" {
  command = plan

  variables {
    status_id = "upd_success"
  }

  assert {
    condition     = docs_update_gate.published[0].status_id == "upd_success"
    error_message = "The gate waits for another update."
  }
}
