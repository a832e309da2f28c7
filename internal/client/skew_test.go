// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestSkewIsLearnedFromTheDateOfAnswers(t *testing.T) {
	tests := map[string]struct {
		date  string // in the bubble it is midnight of 1 January 2000
		ahead time.Duration
		known bool
	}{
		"an hour ahead":               {"Sat, 01 Jan 2000 01:00:00 GMT", time.Hour, true},
		"an hour behind":              {"Fri, 31 Dec 1999 23:00:00 GMT", -time.Hour, true},
		"in the form of RFC 850":      {"Saturday, 01-Jan-00 01:00:00 GMT", time.Hour, true},
		"in the form of asctime":      {"Sat Jan  1 01:00:00 2000", time.Hour, true},
		"the same":                    {"Sat, 01 Jan 2000 00:00:00 GMT", 0, true},
		"less than latency may cause": {"Sat, 01 Jan 2000 00:00:29 GMT", 0, true},
		"just more than that":         {"Fri, 31 Dec 1999 23:59:29 GMT", -31 * time.Second, true},
		"just a day":                  {"Sun, 02 Jan 2000 00:00:00 GMT", 24 * time.Hour, true},
		"more than a day":             {"Sun, 02 Jan 2000 00:00:01 GMT", 0, false},
		"the epoch":                   {"Thu, 01 Jan 1970 00:00:00 GMT", 0, false},
		"words":                       {"today", 0, false},
		"RFC 3339":                    {"2000-01-01T01:00:00Z", 0, false},
		"nothing":                     {"", 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header()["Date"] = nil // else the server adds its own
					if test.date != "" {
						w.Header().Set("Date", test.date)
					}
					w.WriteHeader(404) // an error tells the time as well
				})
				if ahead, known := c.Skew(); ahead != 0 || known {
					t.Errorf("before any answer the skew is %s, %v", ahead, known)
				}
				_, _ = c.GetUpdateStatus(t.Context(), "up_1")
				if ahead, known := c.Skew(); ahead != test.ahead || known != test.known {
					t.Errorf("the skew is %s, %v; want %s, %v", ahead, known, test.ahead, test.known)
				}
			})
		})
	}
}

func TestSkewStaysAfterADateThatIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, inTurn(
			reply(404, "", "Date: Sat, 01 Jan 2000 01:00:00 GMT"),
			reply(404, "", "Date: Thu, 01 Jan 1970 00:00:00 GMT"),
			reply(404, "", "Date: Sat, 01 Jan 2000 02:00:00 GMT"),
		))
		for i, want := range []time.Duration{time.Hour, time.Hour, 2 * time.Hour} {
			_, _ = c.GetUpdateStatus(t.Context(), "up_1")
			if ahead, _ := c.Skew(); ahead != want {
				t.Errorf("after answer %d the skew is %s, want %s", i+1, ahead, want)
			}
		}
	})
}

func TestSkewCountsFromWhenTheAnswerCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, after(29*time.Second, reply(404, "", "Date: Sat, 01 Jan 2000 01:00:29 GMT")))
		_, _ = c.GetUpdateStatus(t.Context(), "up_1")
		if ahead, _ := c.Skew(); ahead != time.Hour {
			t.Errorf("the skew is %s, want 1h", ahead)
		}
	})
}
