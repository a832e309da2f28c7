// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// privateState is the private state of a resource, whose type the framework does not
// export.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readPrivate decodes a value of the private state. It returns the zero value for one
// that is missing, or that cannot be decoded because another version wrote it.
func readPrivate[T any](ctx context.Context, private privateState, key string, diags *diag.Diagnostics) (T, error) {
	var value, none T
	text, more := private.GetKey(ctx, key)
	diags.Append(more...)
	if len(text) == 0 {
		return none, nil
	}
	if err := json.Unmarshal(text, &value); err != nil {
		return none, err
	}
	return value, nil
}

func writePrivate(ctx context.Context, private privateState, key string, value any, diags *diag.Diagnostics) {
	text, _ := json.Marshal(value) // what the resources write can be encoded
	diags.Append(private.SetKey(ctx, key, text)...)
}
