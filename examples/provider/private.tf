provider "docs" {
  base_url        = "https://docs.internal.example/api/v1"
  ca_cert_pem     = file("${path.module}/internal-ca.pem")
  request_timeout = "1m"
}
