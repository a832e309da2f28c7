terraform {
  backend "s3" {
    bucket       = "example-terraform-state"
    key          = "documentation.tfstate"
    region       = "eu-central-1"
    use_lockfile = true # Terraform or OpenTofu 1.10 or later
  }
}
