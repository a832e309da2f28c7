package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// privateState is the private state of a resource, whose type the framework does not export.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readPrivate decodes a value of the private state. It returns nil if there is none, and an error if it cannot be
// decoded, because it is damaged or another version wrote it.
func readPrivate[T any](ctx context.Context, private privateState, key string, diags *diag.Diagnostics) (*T, error) {
	text, more := private.GetKey(ctx, key)
	diags.Append(more...)
	if len(text) == 0 {
		return nil, nil
	}
	var value T
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return &value, nil
}

func writePrivate(ctx context.Context, private privateState, key string, value any, diags *diag.Diagnostics) {
	text, _ := json.Marshal(value) // what the resources write can be encoded
	diags.Append(private.SetKey(ctx, key, text)...)
}

// expiry returns the expires_at of a link; null if its expiry is not known.
func expiry(at time.Time) types.String {
	if at.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(at.Format(time.RFC3339))
}

func nullIfEmpty(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}
