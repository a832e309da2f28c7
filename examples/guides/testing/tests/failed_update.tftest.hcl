mock_provider "docs" {
  mock_data "docs_update_status" {
    defaults = { succeeded = false }
  }
}

run "stops_after_a_failed_update" {
  command = plan

  variables {
    status_id = "upd_failure"
  }

  expect_failures = [data.docs_update_status.published]
}
