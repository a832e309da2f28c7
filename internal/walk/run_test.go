// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package walk

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	walkFrom  = flag.Uint64("walk-from", 1, "the first seed")
	walkSeeds = flag.Uint64("walk-seeds", 120, "how many seeds to walk from, one after the other")
	walkTime  = flag.Duration("walk-time", 24*time.Hour, "how long to walk at most")
)

// TestWalk walks from seeds, on each processor.
func TestWalk(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(2000))
	all := map[string]int{"breaks": 0}
	var mu sync.Mutex
	var walked atomic.Uint64
	began := time.Now()
	t.Run("group", func(t *testing.T) {
		for n := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				for time.Since(began) < *walkTime {
					n := walked.Add(1) - 1
					if n >= *walkSeeds {
						break
					}
					counts, held := walkFromSeed(t, *walkFrom+n)
					mu.Lock()
					for name, n := range counts {
						all[name] += n
					}
					if !held {
						all["breaks"]++
						walked.Store(*walkSeeds)
					}
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("seeds %d to %d, %.0f applies a second, %v", *walkFrom, *walkFrom+min(walked.Load(), *walkSeeds)-1, float64(all["applies"])/time.Since(began).Seconds(), all)
}

func walkFromSeed(t *testing.T, seed uint64) (counts map[string]int, held bool) {
	t.Helper()
	w := newWalk(seed)
	problem, counts := take(t, w)
	if problem != "" {
		short := shrink(w, func(w walk) bool {
			problem, _ := take(t, w)
			return problem != ""
		})
		shortest, _ := take(t, short)
		t.Errorf("the walk from seed %d breaks: %s\nIt breaks the same way, or another, with these steps: %s\n%s\nTo replay it: make walk SEED=%d", seed, problem, shortest, short, seed)
	}
	return counts, problem == ""
}

// TestReplays takes the walks that broke something once. Each file is named by what broke.
func TestReplays(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no replays: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var w walk
			if err := json.Unmarshal(content, &w); err != nil {
				t.Fatal(err)
			}
			if problem, _ := take(t, w); problem != "" {
				t.Error(problem)
			}
		})
	}
}

// TestWalkIsRepeatable takes walks twice, and compares how many requests and diagnostics
// there were, and when.
func TestWalkIsRepeatable(t *testing.T) {
	for seed := range uint64(5) {
		_, first := take(t, newWalk(seed))
		if _, second := take(t, newWalk(seed)); first["requests"] == 0 || !maps.Equal(first, second) {
			t.Errorf("seed %d: the second walk differs from the first:\n%v\n%v", seed, first, second)
		}
	}
}
