// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package walk

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

var (
	walkTime = flag.Duration("walk-time", 15*time.Second, "how long to walk")
	walkSeed = flag.Uint64("walk-seed", 0, "walk only with this seed")
)

// TestWalk walks from fixed seeds for half of the time, and from those of the day for the
// other half, on each processor.
func TestWalk(t *testing.T) {
	if *walkSeed != 0 {
		walkFrom(t, *walkSeed)
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	var all tally
	var mu sync.Mutex
	began := time.Now()
	workers := uint64(runtime.GOMAXPROCS(0))
	t.Run("group", func(t *testing.T) {
		for n := range workers {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				for seed, today := 1+n, uint64(began.Unix()/86400)<<20; time.Since(began) < *walkTime && !t.Failed(); seed += workers {
					if seed < today && time.Since(began) > *walkTime/2 {
						seed += today
					}
					counts := walkFrom(t, seed)
					mu.Lock()
					all.add(counts)
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%d applies, %.0f a second: %+v", all.applies, float64(all.applies)/time.Since(began).Seconds(), all)
}

func walkFrom(t *testing.T, seed uint64) tally {
	t.Helper()
	w := newWalk(seed)
	_, problem, counts := take(t, w)
	if problem != "" {
		short := shrink(w, func(w walk) bool {
			_, problem, _ := take(t, w)
			return problem != ""
		})
		_, shortest, _ := take(t, short)
		t.Errorf("the walk from seed %d breaks: %s\nIt breaks the same way, or another, with these steps: %s\n%s\nTo replay it: make walk SEED=%d", seed, problem, shortest, short, seed)
	}
	return counts
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
			if _, problem, _ := take(t, w); problem != "" {
				t.Error(problem)
			}
		})
	}
}

// TestWalkIsRepeatable takes walks twice, and compares all requests and diagnostics.
func TestWalkIsRepeatable(t *testing.T) {
	for seed := range uint64(5) {
		first, _, _ := take(t, newWalk(seed))
		second, _, _ := take(t, newWalk(seed))
		if first != second {
			t.Errorf("seed %d: the second walk differs from the first:\n%s\n%s", seed, first, second)
		}
	}
}
