// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"io"
	"strings"
	"testing"
)

const header = "goos: linux\ngoarch: amd64\npkg: example.org/bench\ncpu: A Fine Processor\n" +
	"go: go0\ncli: Terraform v1.2.3\nprovider-null: 7.8.9\nprovider-http: 4.5.6\n"

func TestReport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		output string
		want   string // cells of the row, joined
		met    bool
	}{
		"holds a ratio against its bound": {
			"BenchmarkPolling/usual/ours-2 \t 1 \t 23.00 GETs\nBenchmarkPolling/usual/fixed-5s-2 \t 1 \t 20.00 GETs\n",
			"≤ 1.15 x,23,20 fixed-5s,1.15,yes", true,
		},
		"says which goal is missed": {
			"BenchmarkPolling/usual/ours-2 \t 1 \t 24.00 GETs\nBenchmarkPolling/usual/fixed-5s-2 \t 1 \t 20.00 GETs\n",
			"≤ 1.15 x,24,20 fixed-5s,1.2,no", false,
		},
		"reads names without a number of processors": {
			"BenchmarkPolling/usual/ours \t 1 \t 4.000 delay-s\nBenchmarkPolling/usual/sdk-v2 \t 1 \t 20.00 delay-s\n",
			"≤ 0.3 x,4,20 sdk-v2,0.2,yes", true,
		},
		"holds a figure against a bound from below": {
			"BenchmarkPolling/usual/ours-2 \t 1 \t 96.90 in-time-% \t 1 GETs\n",
			"≥ 97,96.9,,,no", false,
		},
		"wants an exact count, not less": {
			"BenchmarkPlan/1000-reads/ours-2 \t 1 \t 999.0 requests\n",
			"= 1000,999,,,no", false,
		},
		"wants an exact count, not more": {
			"BenchmarkPlan/1000-reads/ours-2 \t 1 \t 1001 requests\n",
			"= 1000,1001,,,no", false,
		},
		"leaves open what there is no peer for": {
			"BenchmarkDownload/ours-2 \t 1 \t 900.0 MiB/s\n",
			"≥ 0.8 x,900,,,no peer", true,
		},
		"has no ratio to nothing": {
			"BenchmarkRateLimit/10-per-s/ours-2 \t 1 \t 0 failed\nBenchmarkRateLimit/10-per-s/retryablehttp-2 \t 1 \t 0 failed\n",
			"= 0,0,0 retryablehttp,,yes", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			v, err := report(&out, parse(strings.NewReader(header+c.output)))
			if err != nil {
				t.Fatal(err)
			}
			if v.met != c.met {
				t.Errorf("met: %t, want %t", v.met, c.met)
			}
			lines := strings.Split(out.String(), "\n")
			if got := cells(lines[2])[2:]; strings.Join(got, ",") != c.want {
				t.Errorf("the row is %q, want %q", got, c.want)
			}
			if !strings.Contains(out.String(), "Measured on linux/amd64, A Fine Processor, ") || !strings.HasSuffix(out.String(), ", go0, Terraform v1.2.3, http 4.5.6, null 7.8.9.\n") {
				t.Errorf("the machine is not named in:\n%s", out.String())
			}
		})
	}
}

func TestReportOfNothingIsAnError(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if v, err := report(&out, parse(strings.NewReader(header+"PASS\n"))); err == nil || v.met {
		t.Errorf("met: %t, error: %v; want an error", v.met, err)
	}
}

func TestReportIsCompleteWithEveryGoalAndPeer(t *testing.T) {
	t.Parallel()
	all := figures{metrics: map[string]map[string]float64{}}
	for _, g := range goals {
		for _, benchmark := range []string{g.ours, g.peer} {
			if all.metrics[benchmark] == nil {
				all.metrics[benchmark] = map[string]float64{}
			}
			all.metrics[benchmark][g.unit] = 1
		}
	}
	if v, err := report(io.Discard, all); err != nil || !v.complete {
		t.Errorf("complete: %t, error: %v", v.complete, err)
	}
	delete(all.metrics, "Download/curl")
	if v, err := report(io.Discard, all); err != nil || v.complete {
		t.Errorf("complete without a peer: %t, error: %v", v.complete, err)
	}
}

// cells returns what is between the bars of a line.
func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
