package provider

import "github.com/docs-hosting/terraform-provider-docs/internal/client"

func response(method, path string, status int) *client.APIError {
	return &client.APIError{Exchange: client.Exchange{Method: method, Path: path, StatusCode: status}}
}
