// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestDurationThatIsNotAcceptedIsExplained(t *testing.T) {
	t.Parallel()
	const none = " is no duration. Write one or more numbers, each with a unit (h, m, s or ms), such as 30s, 5m or 1h30m."
	for text, want := range map[string]string{
		"30":     `"30"` + none,
		"soon":   `"soon"` + none,
		"":       `""` + none,
		"1h 30m": `"1h 30m"` + none,
		"999ms":  "The duration must be at least 1s, not 999ms.",
		"-5m":    "The duration must be at least 1s, not -5m0s.",
		"1s":     "",
		"1h30m":  "",
	} {
		var resp validator.StringResponse
		durationAtLeast(time.Second).ValidateString(t.Context(), validator.StringRequest{ConfigValue: types.StringValue(text)}, &resp)
		got := ""
		for _, diagnostic := range resp.Diagnostics {
			got += diagnostic.Detail()
		}
		if got != want {
			t.Errorf("of %q is said %q, want %q", text, got, want)
		}
	}
}
