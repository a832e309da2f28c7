// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"text/tabwriter"
)

// goal is one row of the table. What is held against the bound is our figure
// itself or, if that is what the goal is about, its ratio to the peer's.
type goal struct {
	number int
	what   string
	unit   string // as the benchmark reports it
	ours   string // benchmark
	peer   string // benchmark; empty: none to compare with
	ratio  bool   // the bound is one of the ratio
	least  bool   // the bound is the least, not the most
	bound  float64
}

var goals = []goal{
	{1, "waits noticed within max(1.2 s, 5 %), per cent", "in-time-%", "Polling/usual/ours", "Polling/usual/fixed-5s", false, true, 97},
	{1, "GETs of a wait", "GETs", "Polling/usual/ours", "Polling/usual/fixed-5s", true, false, 1.15},
	{2, "mean delay of a wait, s", "delay-s", "Polling/usual/ours", "Polling/usual/sdk-v2", true, false, .3},
	{2, "mean delay of a wait, s", "delay-s", "Polling/usual/ours", "Polling/usual/fixed-5s", true, false, .6},
	{6, "workers of 50 that fail at 10 requests/s", "failed", "RateLimit/10-per-s/ours", "RateLimit/10-per-s/retryablehttp", false, false, 0},
	{6, "their time, of the ideal", "x-ideal", "RateLimit/10-per-s/ours", "RateLimit/10-per-s/retryablehttp-30", false, false, 1.2},
	{6, "their 429s", "429s", "RateLimit/10-per-s/ours", "RateLimit/10-per-s/retryablehttp", true, false, .03},
}

// row is a goal that was measured.
type row struct {
	goal
	figure, peerFigure float64
	compared           bool
}

// measured returns what there are figures of.
func (g goal) measured(f figures) (row, bool) {
	r := row{goal: g}
	found := false
	if r.figure, found = f.of(g.ours, g.unit); !found {
		return r, false
	}
	if g.peer != "" {
		r.peerFigure, r.compared = f.of(g.peer, g.unit)
	}
	return r, r.compared || !g.ratio
}

func (r row) met() bool {
	value := r.figure
	if r.ratio {
		value /= r.peerFigure
	}
	if r.least {
		return value >= r.bound
	}
	return value <= r.bound
}

// report writes the table, in Markdown, and says whether all goals in it are met.
func report(w io.Writer, f figures) (met bool, err error) {
	met = true
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	line := func(cells ...any) {
		for _, cell := range cells {
			_, _ = fmt.Fprintf(table, "| %v\t", cell)
		}
		_, _ = fmt.Fprintln(table, "|")
	}
	line("#", "goal", "bound", "ours", "peer", "ratio", "met")
	line("---", "---", "---", "---", "---", "---", "---")
	rows := 0
	for _, g := range goals {
		r, found := g.measured(f)
		if !found {
			continue
		}
		rows++
		met = met && r.met()
		line(g.number, g.what, r.boundText(), text(r.figure), r.peerText(), r.ratioText(), yesNo(r.met()))
	}
	if rows == 0 {
		return false, fmt.Errorf("the benchmarks gave no figure that a goal is about")
	}
	if err := table.Flush(); err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(w, "\nMeasured on %s/%s, %s.\n", f.machine["goos"], f.machine["goarch"], f.machine["cpu"])
	return met, err
}

func (r row) boundText() string {
	text := "≤ "
	if r.least {
		text = "≥ "
	}
	text += strconv.FormatFloat(r.bound, 'g', 3, 64)
	if r.ratio {
		text += " x"
	}
	return text
}

func (r row) peerText() string {
	if !r.compared {
		return ""
	}
	return text(r.peerFigure) + " " + path.Base(r.peer)
}

func (r row) ratioText() string {
	if !r.compared || r.peerFigure == 0 {
		return ""
	}
	return text(r.figure / r.peerFigure)
}

func text(value float64) string { return strconv.FormatFloat(value, 'g', 3, 64) }

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
