package provider

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

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
