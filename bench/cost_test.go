// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cost is what a process took together with those it started.
type cost struct {
	wall, cpu time.Duration
	// own is the most that the process itself had in memory, and child the most
	// that one of its children had, in bytes.
	own, child int64
}

const memorySamples = 25 * time.Millisecond

// measure runs a command to its end.
func measure(cmd *exec.Cmd) (cost, error) {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	ended, sampled := make(chan struct{}), make(chan struct{})
	var c cost
	go func() {
		defer close(sampled)
		ticks := time.NewTicker(memorySamples)
		defer ticks.Stop()
		for {
			c.own = max(c.own, peakMemory(cmd.Process.Pid))
			for _, pid := range children(cmd.Process.Pid) {
				c.child = max(c.child, peakMemory(pid))
			}
			select {
			case <-ticks.C:
			case <-ended:
				return
			}
		}
	}()
	err := cmd.Wait()
	c.wall = time.Since(began)
	close(ended)
	<-sampled
	if err != nil {
		return c, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, output.Bytes())
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() // children that were waited for included
	return c, nil
}

// peakMemory returns the most that a process has had in memory so far, in bytes;
// zero if it has ended. The ru_maxrss of getrusage would not do: it counts what
// the parent had before the exec.
func peakMemory(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(after, " kB")
	kibibytes, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return 0
	}
	return kibibytes << 10
}

// children returns the processes that a process has started and not yet waited for.
func children(pid int) []int {
	var pids []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is good
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// medians are the metrics of several runs, by unit.
type medians map[string][]float64

func (m medians) add(unit string, value float64) { m[unit] = append(m[unit], value) }

func (m medians) addCost(c cost) {
	m.add("wall-s", c.wall.Seconds())
	m.add("cpu-s", c.cpu.Seconds())
}

func (m medians) of(unit string) float64 { return median(m[unit]) }

// report makes a benchmark of what was measured before it.
func (m medians) report(b *testing.B, name string) {
	b.Run(name, func(b *testing.B) {
		if len(m) == 0 {
			b.Skip("not measured")
		}
		for b.Loop() { //nolint:revive // it was measured before, in turn with its peers
		}
		for unit := range m {
			b.ReportMetric(m.of(unit), unit)
		}
		b.ReportMetric(0, "ns/op")
	})
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func TestMedian(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []float64
		want   float64
	}{
		"of an odd number is the middle one":                 {[]float64{9, 1, 2}, 2},
		"of an even number is between the two in the middle": {[]float64{9, 1, 2, 4}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := median(c.values); got != c.want {
				t.Errorf("%g, want %g", got, c.want)
			}
		})
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	t.Run("counts a child's work and memory", func(t *testing.T) {
		t.Parallel()
		c, err := measure(exec.Command("sh", "-c", `x=0; while [ $x -lt 200000 ]; do x=$((x+1)); done; sleep 0.1; exit 0`))
		if err != nil {
			t.Fatal(err)
		}
		if c.cpu <= 0 || c.wall < 100*time.Millisecond || c.own <= 0 || c.child <= 0 {
			t.Errorf("measured %+v", c)
		}
	})
	t.Run("shows the output of a command that fails", func(t *testing.T) {
		t.Parallel()
		if _, err := measure(exec.Command("sh", "-c", "echo because; exit 3")); err == nil || !strings.Contains(err.Error(), "because") {
			t.Errorf("error: %v", err)
		}
	})
}
