module github.com/docs-hosting/terraform-provider-docs/bench

go 1.26.0

require (
	github.com/docs-hosting/terraform-provider-docs v0.0.0
	github.com/hashicorp/go-retryablehttp v0.7.8
	github.com/hashicorp/terraform-plugin-sdk/v2 v2.40.1
)

require (
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
)

replace github.com/docs-hosting/terraform-provider-docs => ../
