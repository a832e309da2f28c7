# Configured by the TF_HTTP_* variables of the pipeline.
terraform {
  backend "http" {}
}
