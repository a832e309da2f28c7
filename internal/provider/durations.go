package provider

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	anyDuration      = durationAtLeast(0)
	timeoutRules     = durationAtLeast(time.Minute) // longer than client.NotFoundLimit, so that "not found" is reported before the timeout
	atLeastOneSecond = durationAtLeast(time.Second)
)

// durationAtLeast accepts durations that are not shorter than a minimum.
func durationAtLeast(least time.Duration) []validator.String {
	return rules(summaryInvalidDuration, "a duration of at least "+shortDuration(least), func(value string) error {
		switch d, err := time.ParseDuration(value); {
		case err != nil:
			return invalidValue(fmt.Sprintf("%q is not a valid duration. Write numbers with units (h, m, s, or ms), such as 30s, 5m, or 1h30m.", value))
		case d < 0:
			return invalidValue("The duration must not be negative.")
		case d < least:
			return invalidValue(fmt.Sprintf("The duration must be at least %s, not %q.", shortDuration(least), value))
		}
		return nil
	})
}

// durationOf returns the duration in a validated argument; zero if it is not set.
func durationOf(argument types.String) time.Duration {
	d, _ := time.ParseDuration(argument.ValueString())
	return d
}

// shortDuration formats a duration without zeros at the end, such as "1h30m".
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
