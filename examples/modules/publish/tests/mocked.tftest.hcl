# Needs Terraform 1.7 or OpenTofu 1.8, and no service: terraform test

mock_provider "docs" {
  mock_resource "docs_static_export" {
    defaults = {
      job_id = "se_3f9a2c1b8e7d4a06"
    }
  }

  # Nothing is written to the disk.
  mock_resource "docs_bundle_download" {
    defaults = {
      size_bytes = 1048576
      file_count = 42
    }
  }
}

variables {
  domain   = "docs.example.com"
  revision = "4f2c1d9"
  archive  = "out/bundle.tar.gz"
}

run "downloads_what_was_exported" {
  variables {
    directory = "out/site"
  }

  assert {
    condition     = docs_bundle_download.site.job_id == docs_static_export.site.job_id
    error_message = "Another bundle is downloaded than was exported."
  }

  assert {
    condition     = output.directory == "out/site" && output.file_count == 42
    error_message = "The site is not unpacked where it was asked for."
  }
}

run "keeps_the_archive_only" {
  command = plan

  assert {
    condition     = output.archive == "out/bundle.tar.gz" && output.directory == null
    error_message = "Something is unpacked."
  }
}

run "wants_a_checksum" {
  command = plan

  variables {
    sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
  }

  assert {
    condition     = docs_bundle_download.site.sha256 == var.sha256
    error_message = "The checksum is not compared."
  }
}
