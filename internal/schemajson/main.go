// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Command schemajson prints the provider's schemas as `terraform providers schema -json` prints
// them, under the short name that tfplugindocs looks for. It asks the provider itself, over its
// protocol server, so that the documentation needs no CLI and leaves nothing out that an older CLI
// does not know: actions and identities.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

const providerName = "docs"

func main() {
	server := provider.NewServer(provider.Options{})()
	if err := write(context.Background(), os.Stdout, server); err != nil {
		fmt.Fprintln(os.Stderr, "schemajson:", err)
		os.Exit(1)
	}
}

// The types below are the JSON of the CLI's format 1.0, as far as the provider needs it:
// https://developer.hashicorp.com/terraform/cli/commands/providers/schema

type documentJSON struct {
	FormatVersion   string                  `json:"format_version"`
	ProviderSchemas map[string]providerJSON `json:"provider_schemas"`
}

type providerJSON struct {
	Provider                 schemaJSON              `json:"provider"`
	ResourceSchemas          map[string]schemaJSON   `json:"resource_schemas"`
	DataSourceSchemas        map[string]schemaJSON   `json:"data_source_schemas"`
	EphemeralResourceSchemas map[string]schemaJSON   `json:"ephemeral_resource_schemas"`
	ActionSchemas            map[string]actionJSON   `json:"action_schemas"`
	ResourceIdentitySchemas  map[string]identityJSON `json:"resource_identity_schemas"`
}

type schemaJSON struct {
	Version int64     `json:"version"`
	Block   blockJSON `json:"block"`
}

type actionJSON struct {
	Block blockJSON `json:"block"`
}

type blockJSON struct {
	Attributes      map[string]attributeJSON `json:"attributes,omitempty"`
	Description     string                   `json:"description,omitempty"`
	DescriptionKind string                   `json:"description_kind,omitempty"`
	Deprecated      bool                     `json:"deprecated,omitempty"`
}

type attributeJSON struct {
	Type            tftypes.Type    `json:"type,omitempty"`
	NestedType      *nestedTypeJSON `json:"nested_type,omitempty"`
	Description     string          `json:"description,omitempty"`
	DescriptionKind string          `json:"description_kind,omitempty"`
	Deprecated      bool            `json:"deprecated,omitempty"`
	Required        bool            `json:"required,omitempty"`
	Optional        bool            `json:"optional,omitempty"`
	Computed        bool            `json:"computed,omitempty"`
	Sensitive       bool            `json:"sensitive,omitempty"`
	WriteOnly       bool            `json:"write_only,omitempty"`
}

type nestedTypeJSON struct {
	Attributes  map[string]attributeJSON `json:"attributes"`
	NestingMode string                   `json:"nesting_mode"`
}

type identityJSON struct {
	Version    int64                            `json:"version"`
	Attributes map[string]identityAttributeJSON `json:"attributes"`
}

type identityAttributeJSON struct {
	Type              tftypes.Type `json:"type"`
	Description       string       `json:"description,omitempty"`
	RequiredForImport bool         `json:"required_for_import,omitempty"`
	OptionalForImport bool         `json:"optional_for_import,omitempty"`
}

// write asks the server for all its schemas. It fails on what it could not pass on, so that no page
// goes missing silently.
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
	if len(schemas.Functions)+len(schemas.ListResourceSchemas)+len(schemas.StateStoreSchemas) > 0 {
		return errors.New("functions, list resources and state stores are not supported")
	}

	document := providerJSON{ActionSchemas: map[string]actionJSON{}, ResourceIdentitySchemas: map[string]identityJSON{}}
	if document.Provider, err = schemaOf(schemas.Provider); err != nil {
		return fmt.Errorf("provider: %w", err)
	}
	for kind, from := range map[string]struct {
		schemas map[string]*tfprotov6.Schema
		to      *map[string]schemaJSON
	}{
		"resource":           {schemas.ResourceSchemas, &document.ResourceSchemas},
		"data source":        {schemas.DataSourceSchemas, &document.DataSourceSchemas},
		"ephemeral resource": {schemas.EphemeralResourceSchemas, &document.EphemeralResourceSchemas},
	} {
		*from.to = map[string]schemaJSON{}
		for name, schema := range from.schemas {
			if (*from.to)[name], err = schemaOf(schema); err != nil {
				return fmt.Errorf("%s %s: %w", kind, name, err)
			}
		}
	}
	for name, action := range schemas.ActionSchemas {
		schema, err := schemaOf(action.Schema)
		if err != nil {
			return fmt.Errorf("action %s: %w", name, err)
		}
		document.ActionSchemas[name] = actionJSON{schema.Block}
	}
	for name, identity := range identities.IdentitySchemas {
		document.ResourceIdentitySchemas[name] = identityOf(identity)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(documentJSON{FormatVersion: "1.0", ProviderSchemas: map[string]providerJSON{providerName: document}})
}

func schemaOf(schema *tfprotov6.Schema) (schemaJSON, error) {
	if len(schema.Block.BlockTypes) > 0 {
		return schemaJSON{}, errors.New("nested blocks are not supported: nested attributes are")
	}
	return schemaJSON{
		Version: schema.Version,
		Block: blockJSON{
			Attributes:      attributesOf(schema.Block.Attributes),
			Description:     schema.Block.Description,
			DescriptionKind: strings.ToLower(schema.Block.DescriptionKind.String()),
			Deprecated:      schema.Block.Deprecated,
		},
	}, nil
}

func attributesOf(attributes []*tfprotov6.SchemaAttribute) map[string]attributeJSON {
	result := map[string]attributeJSON{}
	for _, attribute := range attributes {
		described := attributeJSON{
			Type:            attribute.Type,
			Description:     attribute.Description,
			DescriptionKind: strings.ToLower(attribute.DescriptionKind.String()),
			Deprecated:      attribute.Deprecated,
			Required:        attribute.Required,
			Optional:        attribute.Optional,
			Computed:        attribute.Computed,
			Sensitive:       attribute.Sensitive,
			WriteOnly:       attribute.WriteOnly,
		}
		if nested := attribute.NestedType; nested != nil {
			described.NestedType = &nestedTypeJSON{
				Attributes:  attributesOf(nested.Attributes),
				NestingMode: strings.ToLower(nested.Nesting.String()),
			}
		}
		result[attribute.Name] = described
	}
	return result
}

func identityOf(identity *tfprotov6.ResourceIdentitySchema) identityJSON {
	attributes := map[string]identityAttributeJSON{}
	for _, attribute := range identity.IdentityAttributes {
		attributes[attribute.Name] = identityAttributeJSON{
			Type:              attribute.Type,
			Description:       attribute.Description,
			RequiredForImport: attribute.RequiredForImport,
			OptionalForImport: attribute.OptionalForImport,
		}
	}
	return identityJSON{Version: identity.Version, Attributes: attributes}
}
