//go:build linux

package bench

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// measure runs a command and returns its wall time and the CPU time of it and its children.
func measure(b *testing.B, command *exec.Cmd) (wall, cpu time.Duration) {
	b.Helper()
	began := time.Now()
	if output, err := command.CombinedOutput(); err != nil {
		b.Fatalf("%q: %v\n%s", command.Args, err, output)
	}
	return time.Since(began), command.ProcessState.UserTime() + command.ProcessState.SystemTime()
}

func write(b *testing.B, name, content string) {
	b.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		b.Fatal(err)
	}
}

// medians are the figures of several runs, by unit.
type medians map[string][]float64

func (m medians) add(unit string, value float64) { m[unit] = append(m[unit], value) }

// report reports earlier measurements, which alternated with the peers', as a benchmark.
func (m medians) report(b *testing.B, name string) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() { //nolint:revive // it was measured before
		}
		for unit, values := range m {
			slices.Sort(values)
			b.ReportMetric(values[len(values)/2], unit)
		}
		b.ReportMetric(0, "ns/op")
	})
}
