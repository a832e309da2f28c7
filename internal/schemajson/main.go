// Command schemajson prints the schemas of the provider in the format of
// `terraform providers schema -json`, for tfplugindocs. It asks the provider's
// protocol server, so the documentation also covers what an older CLI leaves
// out: actions and identities.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

func main() {
	server := provider.NewServer(provider.Options{})()
	if err := write(context.Background(), os.Stdout, server); err != nil {
		fmt.Fprintln(os.Stderr, "schemajson:", err)
		os.Exit(1)
	}
}

// object is a JSON object. Its fields are those of format version 1.0:
// https://developer.hashicorp.com/terraform/cli/commands/providers/schema
type object map[string]any

// write prints the schemas. A test compares them with those of the CLI, so that no page goes missing.
func write(ctx context.Context, out io.Writer, server tfprotov6.ProviderServer) error {
	schemas, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return err
	}
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return err
	}
	for _, diagnostic := range append(schemas.Diagnostics, identities.Diagnostics...) {
		if diagnostic.Severity == tfprotov6.DiagnosticSeverityError {
			return fmt.Errorf("%s: %s", diagnostic.Summary, diagnostic.Detail)
		}
	}
	document := object{"format_version": "1.0", "provider_schemas": object{"docs": object{
		"provider":                   schemaOf(schemas.Provider),
		"resource_schemas":           each(schemas.ResourceSchemas, schemaOf),
		"data_source_schemas":        each(schemas.DataSourceSchemas, schemaOf),
		"ephemeral_resource_schemas": each(schemas.EphemeralResourceSchemas, schemaOf),
		"resource_identity_schemas":  each(identities.IdentitySchemas, identityOf),
		"action_schemas": each(schemas.ActionSchemas, func(action *tfprotov6.ActionSchema) object {
			return object{"block": blockOf(action.Schema.Block)}
		}),
	}}}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// each converts the values of a map.
func each[V any](values map[string]V, convert func(V) object) object {
	converted := object{}
	for name, value := range values {
		converted[name] = convert(value)
	}
	return converted
}

// nonzero returns the fields that are not zero.
func nonzero(fields object) object {
	for name, value := range fields {
		if value == nil || reflect.ValueOf(value).IsZero() {
			delete(fields, name)
		}
	}
	return fields
}

func schemaOf(schema *tfprotov6.Schema) object {
	return object{"version": schema.Version, "block": blockOf(schema.Block)}
}

func blockOf(block *tfprotov6.SchemaBlock) object {
	var blocks object // left out if nil
	for _, nested := range block.BlockTypes {
		if blocks == nil {
			blocks = object{}
		}
		blocks[nested.TypeName] = nonzero(object{
			"block":        blockOf(nested.Block),
			"nesting_mode": strings.ToLower(nested.Nesting.String()),
		})
	}
	return nonzero(object{
		"attributes":       attributesOf(block.Attributes),
		"block_types":      blocks,
		"description":      block.Description,
		"description_kind": strings.ToLower(block.DescriptionKind.String()),
	})
}

func attributesOf(attributes []*tfprotov6.SchemaAttribute) object {
	converted := object{}
	for _, a := range attributes {
		fields := object{
			"type":             a.Type,
			"description":      a.Description,
			"description_kind": strings.ToLower(a.DescriptionKind.String()),
			"required":         a.Required,
			"optional":         a.Optional,
			"computed":         a.Computed,
			"sensitive":        a.Sensitive,
		}
		if nested := a.NestedType; nested != nil {
			fields["nested_type"] = object{
				"attributes":   attributesOf(nested.Attributes),
				"nesting_mode": strings.ToLower(nested.Nesting.String()),
			}
		}
		converted[a.Name] = nonzero(fields)
	}
	return converted
}

func identityOf(identity *tfprotov6.ResourceIdentitySchema) object {
	attributes := object{}
	for _, a := range identity.IdentityAttributes {
		attributes[a.Name] = nonzero(object{
			"type":                a.Type,
			"description":         a.Description,
			"required_for_import": a.RequiredForImport,
			"optional_for_import": a.OptionalForImport,
		})
	}
	return object{"version": identity.Version, "attributes": attributes}
}
