# Needs Terraform 1.7 or OpenTofu 1.8, and no service: terraform test

mock_provider "docs" {
  mock_resource "docs_update_gate" {
    defaults = {
      status   = "success"
      summary  = "Deployed"
      ended_at = "2030-01-31T12:00:00.000Z"
    }
  }
}

run "passes_on_what_was_deployed" {
  variables {
    status_id = "upd_success"
  }

  assert {
    condition     = output.status_id == "upd_success" && output.summary == "Deployed"
    error_message = "The outputs are not those of the update."
  }
}

run "waits_as_long_as_it_is_told" {
  command = plan

  variables {
    status_id = "upd_success"
    timeout   = "5m"
  }

  assert {
    condition     = docs_update_gate.published.timeouts.create == "5m"
    error_message = "The timeout is not the gate's."
  }
}

run "refuses_an_empty_status_id" {
  command = plan

  variables {
    status_id = " "
  }

  expect_failures = [var.status_id]
}
