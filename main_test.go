package main

import (
	"os"
	"testing"
)

func TestLogsAreDroppedOnlyWhereNobodyAskedForThem(t *testing.T) {
	for name, test := range map[string]struct {
		variable, value string
		dropped         bool
	}{
		"no log asked for":       {"TF_CLI_ARGS", "-no-color", true},
		"a log without a level":  {"TF_LOG", "", true},
		"a log that is off":      {"TF_LOG_CORE", "off", true},
		"a log of everything":    {"TF_LOG", "TRACE", false},
		"a log of the providers": {"TF_LOG_PROVIDER", "DEBUG", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, name := range append([]string{"TF_LOG", "TF_LOG_CORE"}, unreadLogs...) {
				t.Setenv(name, "")
			}
			t.Setenv(test.variable, test.value)
			err := dropUnreadLogs()
			if dropped := os.Getenv("TF_LOG_SDK_PROTO") == "off"; err != nil || dropped != test.dropped {
				t.Errorf("dropped: %t (%v)", dropped, err)
			}
		})
	}
}
