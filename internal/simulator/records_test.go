// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// object is a JSON object.
type object = map[string]any

func TestLifeOfAJob(t *testing.T) {
	t.Parallel()
	const at20 = "2026-03-01T12:00:20.000Z"
	for name, test := range map[string]struct {
		spec simulator.JobSpec
		life map[time.Duration]object
	}{
		"with the defaults": {simulator.JobSpec{}, map[time.Duration]object{
			0:                  {"status": "queued", "progress": 0.0, "pageCount": 0.0, "updatedAt": "2026-03-01T12:00:00.000Z"},
			2 * time.Second:    {"status": "running", "progress": 0.0},
			10500e6:            {"status": "running", "progress": 47.0, "pageCount": 2.0, "updatedAt": "2026-03-01T12:00:10.500Z"},
			20*time.Second - 1: {"status": "running", "progress": 99.0, "pageCount": 5.0},
			20 * time.Second:   {"status": "completed", "progress": 100.0, "pageCount": 6.0, "updatedAt": at20, "error": nil},
			1000 * time.Hour:   {"status": "completed", "updatedAt": at20},
		}},
		"that fails": {simulator.JobSpec{Fail: "no such page"}, map[time.Duration]object{
			10 * time.Second: {"status": "running", "progress": 44.0, "error": nil},
			20 * time.Second: {"status": "failed", "error": "no such page", "progress": nil, "pageCount": nil, "updatedAt": at20},
		}},
		"of a shape of its own": {simulator.JobSpec{
			QueuedStatus: "pending", RunningStatus: "rendering", Queue: time.Second, Run: 10 * time.Second, Pages: 40,
			Progress: func(share float64) any {
				if share == 0 {
					return simulator.Omit
				}
				return fmt.Sprint(100*share, " %")
			},
		}, map[time.Duration]object{
			0:                {"status": "pending", "progress": nil},
			6 * time.Second:  {"status": "rendering", "progress": "50 %", "pageCount": 20.0},
			11 * time.Second: {"status": "completed", "progress": "100 %", "pageCount": 40.0},
		}},
		"of no time":      {simulator.JobSpec{Queue: noTime, Run: noTime}, map[time.Duration]object{0: {"status": "completed", "progress": 100.0}}},
		"running forever": {simulator.JobSpec{Run: simulator.Forever}, map[time.Duration]object{1000 * time.Hour: {"status": "running"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, simulator.Options{})
			id := h.AddJob(test.spec)
			for _, after := range slices.Sorted(maps.Keys(test.life)) {
				h.clock.Advance(after - h.clock.Now().Sub(epoch))
				wantFields(t, after.String(), h.job(id), test.life[after])
			}
		})
	}
}

func TestLifeOfAnUpdate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec simulator.UpdateSpec
		life map[time.Duration]object
		log  string
	}{
		"that succeeds": {simulator.UpdateSpec{}, map[time.Duration]object{
			0:                {"status": "queued", "endedAt": nil, "createdAt": "2026-03-01T12:00:00.000Z"},
			2 * time.Second:  {"status": "in_progress", "endedAt": nil},
			20 * time.Second: {"status": "success", "endedAt": "2026-03-01T12:00:20.000Z"},
			time.Hour:        {"status": "success", "endedAt": "2026-03-01T12:00:20.000Z"},
		}, "Deployed"},
		"that fails": {simulator.UpdateSpec{Fail: "no such page"}, map[time.Duration]object{
			20 * time.Second: {"status": "failure", "summary": "no such page", "endedAt": "2026-03-01T12:00:20.000Z"},
		}, "Error: no such page"},
		"that never ends": {simulator.UpdateSpec{Queue: noTime, Run: simulator.Forever}, map[time.Duration]object{
			time.Hour: {"status": "in_progress", "endedAt": nil},
		}, "Building 6 pages"},
		"with fields of its own": {simulator.UpdateSpec{Queue: simulator.Forever, Fields: object{
			"author": nil, "commit": simulator.Omit, "status": "rolled_back", "region": "eu", "logs": []string{"one"},
		}}, map[time.Duration]object{
			0: {"author": nil, "commit": nil, "status": "rolled_back", "region": "eu"},
		}, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, simulator.Options{})
			path := "/project/update-status/" + h.AddUpdate(test.spec)
			for _, after := range slices.Sorted(maps.Keys(test.life)) {
				h.clock.Advance(after - h.clock.Now().Sub(epoch))
				wantFields(t, after.String(), h.get(path).object(t), test.life[after])
			}
			log, _ := h.get(path).object(t)["logs"].([]any)
			if len(log) == 0 || log[len(log)-1] != test.log {
				t.Errorf("the log is %v, want %q at the end", log, test.log)
			}
		})
	}
}
