// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// figures are metrics by the name of a benchmark and the unit, and what the
// benchmarks say of the machine they ran on.
type figures struct {
	metrics map[string]map[string]float64
	machine map[string]string
}

// processors is what go test puts behind each name, on machines with several.
var processors = regexp.MustCompile(`-\d+$`)

// parse reads the output of go test -bench, whose format is that of
// https://go.dev/design/14313-benchmark-format.
func parse(output io.Reader) figures {
	f := figures{metrics: map[string]map[string]float64{}, machine: map[string]string{}}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		line := lines.Text()
		if key, value, found := strings.Cut(line, ": "); found && !strings.Contains(key, " ") {
			f.machine[key] = strings.TrimSpace(value)
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		metrics := map[string]float64{}
		for i := 2; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				metrics[fields[i+1]] = value
			}
		}
		f.metrics[name] = metrics
	}
	return f
}

// of returns one figure.
func (f figures) of(benchmark, unit string) (value float64, found bool) {
	value, found = f.metrics[benchmark][unit]
	return value, found
}
