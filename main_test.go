package main

import "testing"

func TestLogsAreDroppedOnlyWhereNobodyAskedForThem(t *testing.T) {
	for name, test := range map[string]struct {
		environment []string
		want        string
	}{
		"no log asked for":       {[]string{"PATH=/bin", "TF_CLI_ARGS=-no-color"}, "off"},
		"a log that is off":      {[]string{"TF_LOG=", "TF_LOG_CORE=off"}, "off"},
		"a log of everything":    {[]string{"TF_LOG=TRACE"}, ""},
		"a log of the providers": {[]string{"TF_LOG_PROVIDER=DEBUG"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := map[string]string{}
			err := dropUnreadLogs(test.environment, func(name, value string) error {
				set[name] = value
				return nil
			})
			if err != nil || set["TF_LOG_SDK_PROTO"] != test.want || set["TF_LOG_PROVIDER"] != test.want {
				t.Errorf("set %v (%v)", set, err)
			}
		})
	}
}
