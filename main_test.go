package main

import (
	"os"
	"strings"
	"testing"
)

func TestLogsAreDroppedOnlyWhereNobodyAskedForThem(t *testing.T) {
	for name, test := range map[string]struct{ variable, value, want string }{
		"no log asked for":       {"TF_CLI_ARGS", "-no-color", "off"},
		"a log that is empty":    {"TF_LOG", "", "off"},
		"a log that is off":      {"TF_LOG_CORE", "off", "off"},
		"a log of everything":    {"TF_LOG", "TRACE", ""},
		"a log of the providers": {"TF_LOG_PROVIDER", "DEBUG", "DEBUG"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range append(os.Environ(), "TF_LOG_PROVIDER=", "TF_LOG_SDK_PROTO=") {
				if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "TF_LOG") {
					t.Setenv(name, "") // and restores it
				}
			}
			t.Setenv(test.variable, test.value)
			if err := dropUnreadLogs(); err != nil {
				t.Fatal(err)
			}
			if got := os.Getenv("TF_LOG_PROVIDER"); got != test.want {
				t.Errorf("TF_LOG_PROVIDER is %q, want %q", got, test.want)
			}
			if got := os.Getenv("TF_LOG_SDK_PROTO"); (got == "off") != (test.want == "off") {
				t.Errorf("TF_LOG_SDK_PROTO is %q", got)
			}
		})
	}
}
