// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// verdict is what the table says in all.
type verdict struct {
	met      bool // no goal in the table is missed
	complete bool // every goal is in the table, with all its peers
}

// report writes the table, in Markdown, of the goals there are figures of.
func report(w io.Writer, f figures) (verdict, error) {
	v := verdict{met: true, complete: true}
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	line := func(cells ...string) {
		_, _ = fmt.Fprintf(table, "| %s\t|\n", strings.Join(cells, "\t| "))
	}
	line("#", "goal", "bound", "ours", "peer", "ratio", "met")
	line(slices.Repeat([]string{"---"}, 7)...)
	rows := 0
	for _, g := range goals {
		r := g.row(f)
		v.complete = v.complete && r.decided()
		if !r.measured {
			continue
		}
		rows++
		v.met = v.met && (r.met() || !r.decided())
		line(r.cells()...)
	}
	if rows == 0 {
		return verdict{}, errors.New("the benchmarks gave no figure that a goal is about")
	}
	if err := table.Flush(); err != nil {
		return verdict{}, err
	}
	_, err := fmt.Fprintf(w, "\nMeasured on %s.\n", machine(f))
	return v, err
}

// machine says what the figures were measured on and with.
func machine(f figures) string {
	parts := []string{
		f.machine["goos"] + "/" + f.machine["goarch"],
		f.machine["cpu"],
		fmt.Sprintf("%d cores", runtime.NumCPU()),
		cmp.Or(f.machine["go"], runtime.Version()),
	}
	if cli := f.machine["cli"]; cli != "" {
		parts = append(parts, cli)
	}
	for _, key := range slices.Sorted(maps.Keys(f.machine)) {
		if name, found := strings.CutPrefix(key, "provider-"); found {
			parts = append(parts, name+" "+f.machine[key])
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}
