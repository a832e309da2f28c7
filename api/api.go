// Package api holds the contract of the documentation hosting service.
package api

import _ "embed"

// OpenAPI is the contract as an OpenAPI 3.1 document in YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte
