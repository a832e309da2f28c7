// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"fmt"
	"path"
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
	need   need
	bound  float64
}

// need is how a figure has to compare with the bound.
type need string

const (
	atMost  need = "≤"
	atLeast need = "≥"
	exactly need = "="
)

var goals = []goal{
	{1, "waits noticed within max(1.2 s, 5 %), per cent", "in-time-%", "Polling/usual/ours", "Polling/usual/fixed-5s", false, atLeast, 97},
	{1, "GETs of a wait", "GETs", "Polling/usual/ours", "Polling/usual/fixed-5s", true, atMost, 1.15},
	{2, "mean delay of a wait, s", "delay-s", "Polling/usual/ours", "Polling/usual/sdk-v2", true, atMost, .3},
	{2, "mean delay of a wait, s", "delay-s", "Polling/usual/ours", "Polling/usual/fixed-5s", true, atMost, .6},
	{4, "requests of a plan of 1000 reads", "requests", "Plan/1000-reads/ours", "Plan/1000-reads/http", false, exactly, 1000},
	{4, "its connections, 10 at a time", "connections", "Plan/1000-reads/ours", "Plan/1000-reads/http", false, atMost, 15},
	{4, "CPU of one of 1000 reads, of one of 100", "x-linear", "Plan/1000-reads/ours", "Plan/1000-reads/terraform_data", false, atMost, 1.1},
	{4, "requests of a plan of 1000 exports in state", "requests", "PlanState/1000-exports/refreshed", "", false, exactly, 1000},
	{4, "the same with -refresh=false", "requests", "PlanState/1000-exports/unrefreshed", "", false, exactly, 0},
	{5, "time of a plan of 1000 reads, s", "wall-s", "Plan/1000-reads/ours", "Plan/1000-reads/http", true, atMost, .4},
	{5, "its CPU, s", "cpu-s", "Plan/1000-reads/ours", "Plan/1000-reads/http", true, atMost, .4},
	{5, "its CPU, s", "cpu-s", "Plan/1000-reads/ours", "Plan/1000-reads/null_data_source", true, atMost, 1},
	{6, "workers of 50 that fail at 10 requests/s", "failed", "RateLimit/10-per-s/ours", "RateLimit/10-per-s/retryablehttp", false, exactly, 0},
	{6, "their time, of the ideal", "x-ideal", "RateLimit/10-per-s/ours", "RateLimit/10-per-s/retryablehttp-30", false, atMost, 1.2},
	{6, "their 429s", "429s", "RateLimit/10-per-s/ours", "RateLimit/10-per-s/retryablehttp", true, atMost, .03},
	{7, "download and hash, MiB/s", "MiB/s", "Download/ours", "Download/curl", true, atLeast, .8},
	{7, "memory for 256 MiB over that for 1 KiB, MiB", "over-idle-MiB", "Download/ours", "", false, atMost, 16},
	{7, "memory for 256 MiB over that for 64 MiB, MiB", "growth-MiB", "Download/ours", "", false, atMost, 1},
	{8, "start-up, ms", "handshake-ms", "Start/ours", "Start/scaffolding", true, atMost, 1.1},
	{8, "CPU of start-up and schema, ms", "cpu-ms", "Start/ours", "Start/scaffolding", true, atMost, 1.1},
	{8, "stripped program, MiB", "MiB", "Start/ours", "Start/scaffolding", true, atMost, 1.1},
}

// row is a goal with what was measured.
type row struct {
	goal
	figure, peerFigure float64
	measured, compared bool
}

func (g goal) row(f figures) row {
	r := row{goal: g}
	r.figure, r.measured = f.of(g.ours, g.unit)
	if g.peer != "" {
		r.peerFigure, r.compared = f.of(g.peer, g.unit)
	}
	return r
}

// decided tells whether there is all that it takes to tell whether the goal is met.
func (r row) decided() bool {
	return r.measured && (!r.ratio || r.compared && r.peerFigure != 0)
}

func (r row) met() bool {
	value := r.figure
	if r.ratio {
		value /= r.peerFigure
	}
	switch r.need {
	case atLeast:
		return value >= r.bound
	case exactly:
		return value == r.bound
	default:
		return value <= r.bound
	}
}

// cells are what the table shows of the row.
func (r row) cells() []string {
	bound, peer, ratio, met := string(r.need)+" "+number(r.bound), "", "", "no peer"
	if r.ratio {
		bound += " x"
	}
	if r.compared {
		peer = number(r.peerFigure) + " " + path.Base(r.peer)
		if r.peerFigure != 0 {
			ratio = number(r.figure / r.peerFigure)
		}
	}
	if r.decided() {
		met = map[bool]string{true: "yes", false: "no"}[r.met()]
	}
	return []string{fmt.Sprint(r.number), r.what, bound, number(r.figure), peer, ratio, met}
}

// number writes three digits, or all those of a whole number.
func number(value float64) string {
	if value >= 1000 {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.3g", value)
}
