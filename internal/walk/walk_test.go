// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package walk

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// walk is a scene and the steps in it, as data: a step has its own faults, so that the
// others stay the same without it.
type walk struct {
	Scene scene  `json:"scene"`
	Steps []step `json:"steps"`
}

// step is a command, or something that happens between commands.
type step struct {
	Do string `json:"do"`
	// On is the export that the step is about.
	On int `json:"on,omitempty"`
	// Set changes arguments in the configuration from this step on.
	Set map[string]string `json:"set,omitempty"`
	// After is the time before the step.
	After span `json:"after,omitempty"`

	Unknown   bool    `json:"unknown,omitempty"`    // the triggers are not known in the plan
	NoRefresh bool    `json:"no_refresh,omitempty"` // -refresh=false
	Replace   bool    `json:"replace,omitempty"`    // -replace
	Saved     span    `json:"saved,omitempty"`      // the time from the plan to the apply
	Stop      span    `json:"stop,omitempty"`       // an interrupt so long after the apply began
	Kill      span    `json:"kill,omitempty"`
	Job       job     `json:"job,omitzero"`
	Plan      []fault `json:"plan,omitempty"`  // faults during the plan
	Apply     []fault `json:"apply,omitempty"` // faults during the apply

	Which string `json:"which,omitempty"` // of doHide: bundle, job, or last (the last job that was started)
	For   span   `json:"for,omitempty"`
}

const (
	doApply   = "apply"
	doUntaint = "untaint"
	doImport  = "import"
	doDestroy = "destroy"
	doHide    = "hide" // the service does not find a job for a while
	doSkew    = "skew" // the service's clock is set
	doDisk    = "disk" // the disk changes under the download
)

// span is a duration in a readable form.
type span time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = span(d)
	return err
}

func address(i int) string { return fmt.Sprintf("docs_static_export.s%d", i) }

const (
	download = "docs_bundle_download.s0"
	gate     = "docs_update_gate.s0"
)

func domain(i, version int) string { return fmt.Sprintf("s%d-%d.example.com", i, version) }

// settings are the arguments of an export.
type settings map[string]string

func (s settings) domain(i int) string {
	return domain(i, map[string]int{"": 0, "other": 1}[s["domain"]])
}

// content identifies what a job exports.
func (s settings) content(i int) string {
	return strings.Join([]string{s.domain(i), s["content"], s["params"]}, " ")
}

// canonical returns the arguments without those that make no difference.
func (s settings) canonical() settings {
	s = maps.Clone(s)
	delete(s, "spacing")
	maps.DeleteFunc(s, func(_, value string) bool { return value == "" })
	return s
}

func (s settings) duration(name string, usual time.Duration) time.Duration {
	d, err := time.ParseDuration(s[name])
	if err != nil {
		return usual
	}
	return d
}

const defaultTimeout = time.Hour

func str(s string) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }

// arguments returns the configuration of an export.
func (s settings) arguments(i int, unknown bool) map[string]tftypes.Value {
	arguments := map[string]tftypes.Value{"domain": str(s.domain(i))}
	if s["content"] != "" {
		revision := str(s["content"])
		if unknown {
			revision = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
		}
		arguments["triggers"] = tftypes.NewValue(tftypes.Map{ElementType: tftypes.String}, map[string]tftypes.Value{"revision": revision})
	}
	if s["params"] != "" {
		format := `{"version":%q}`
		if s["spacing"] != "" {
			format = `{ "version": %q }`
		}
		arguments["additional_parameters"] = str(fmt.Sprintf(format, s["params"]))
	}
	if s["never"] != "" {
		arguments["link_renewal"] = str("never")
	}
	if s["before"] != "" {
		arguments["renew_before"] = str(s["before"])
	}
	if s["interval"] != "" {
		arguments["poll_interval"] = str(s["interval"])
	}
	if limit := s["timeout"]; limit != "" {
		fields := map[string]tftypes.Value{"create": str(limit), "update": str(limit), "read": tftypes.NewValue(tftypes.String, nil)}
		arguments["timeouts"] = tftypes.NewValue(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"create": tftypes.String, "update": tftypes.String, "read": tftypes.String}}, fields)
	}
	return arguments
}

// walker takes the steps of a walk.
type walker struct {
	*world
	*core
	settings []settings
	judge    *judge
	folder   string // of the download
	blocked  bool   // the download is, by what somebody else wrote there
	tally    tally
}

// tally counts what happened.
type tally struct{ applies, starts, bundles, requests, faults int }

func (a *tally) add(b tally) {
	a.applies += b.applies
	a.starts += b.starts
	a.bundles += b.bundles
	a.requests += b.requests
	a.faults += b.faults
}

// take takes a walk in a bubble. It returns the log of all requests, and what broke.
func take(t *testing.T, w walk) (log, problem string, counts tally) {
	t.Helper()
	schemas()
	folder := ""
	if w.Scene.Download {
		folder = filepath.Join(t.TempDir(), "site")
	}
	synctest.Test(t, func(*testing.T) {
		k := &walker{world: newWorld(w.Scene), folder: folder}
		k.core = &core{state: map[string]object{}}
		for range k.Exports {
			k.settings = append(k.settings, settings{"content": "1"})
		}
		k.judge = newJudge(k)
		for i, s := range w.Steps {
			k.step(s)
			if len(k.judge.problems) > 0 {
				problem = fmt.Sprintf("step %d: %s", i+1, strings.Join(k.judge.problems, "\n"))
				break
			}
		}
		log, counts = k.judge.log.String(), k.tally
	})
	return log, problem, counts
}

// begin makes the faults those of the coming command.
func (k *walker) begin(faults []fault) {
	k.faults, k.seen = nil, nil
	for _, f := range faults {
		k.faults = append(k.faults, &activeFault{fault: f})
	}
}

func (k *walker) step(s step) {
	on := s.On % k.Exports
	for name, value := range s.Set {
		k.settings[on][name] = value
	}
	pause(context.Background(), time.Duration(s.After))
	k.job = s.Job
	k.begin(nil)
	switch s.Do {
	case doApply:
		k.takeApply(s, on)
	case doUntaint:
		if o, found := k.state[address(on)]; found {
			o.tainted = false
			k.state[address(on)] = o
		}
	case doImport:
		k.takeImport(s, on)
	case doDestroy:
		p := k.launch()
		k.judge.destroyed(k.destroy(p, k.blocks(false)))
		p.kill()
	case doHide:
		k.hide(s, on)
	case doSkew:
		k.skew = time.Duration(s.For)
	case doDisk:
		k.disk(s.Which)
	}
}

// hide makes the service not find a job for a while.
func (k *walker) hide(s step, on int) {
	o, found := k.state[address(on)]
	id := ""
	if found {
		id = o.text("job_id")
	}
	if s.Which == "last" {
		for _, other := range k.service.JobIDs() {
			if k.owner[other] == address(on) {
				id = other
			}
		}
	}
	h := k.hidden[id]
	h.bundle = time.Now().Add(time.Duration(s.For))
	if s.Which != "bundle" {
		h.job = h.bundle
	}
	k.hidden[id] = h
}

// disk changes the disk that the bundle was downloaded to.
func (k *walker) disk(what string) {
	if k.folder == "" {
		return
	}
	_ = os.RemoveAll(k.folder) // fresh, as on another runner
	k.blocked = what != "fresh"
	switch what {
	case "changed":
		_ = os.MkdirAll(k.folder, 0o700)
		_ = os.WriteFile(k.file(), []byte("changed"), 0o600)
	case "blocked": // as a full disk is
		_ = os.WriteFile(k.folder, nil, 0o600)
	}
}

// file is where the download goes.
func (k *walker) file() string { return filepath.Join(k.folder, "bundle.zip") }

// updateID is the update that the gate waits for: another one for other content.
func (k *walker) updateID() string { return "upd_" + k.settings[0]["content"] }

func (k *walker) blocks(unknown bool) (all []block) {
	for i := range k.Exports {
		all = append(all, block{address(i), "docs_static_export", "", func(planning bool, _ map[string]tftypes.Value) map[string]tftypes.Value {
			return k.settings[i].arguments(i, planning && unknown)
		}})
	}
	if k.folder != "" {
		all = append(all, block{download, "docs_bundle_download", address(0), func(_ bool, export map[string]tftypes.Value) map[string]tftypes.Value {
			return map[string]tftypes.Value{"job_id": export["job_id"], "path": str(k.file())}
		}})
	}
	if k.Gate {
		all = append(all, block{gate, "docs_update_gate", "", func(bool, map[string]tftypes.Value) map[string]tftypes.Value {
			return map[string]tftypes.Value{"status_id": str(k.updateID())}
		}})
	}
	return all
}

// takeApply plans and applies.
func (k *walker) takeApply(s step, on int) {
	k.service.AddUpdate(simulator.UpdateSpec{ID: k.updateID(), Run: time.Duration(s.Job.Run), Fail: s.Job.Fail})
	blocks := k.blocks(s.Unknown)
	replaced := ""
	if s.Replace {
		replaced = address(on)
	}
	k.begin(s.Plan)
	p := k.launch()
	planned := k.plan(p, blocks, !s.NoRefresh, replaced)
	p.kill()
	c := &command{step: s, planned: planned, planSeen: k.take(), plannedAt: time.Now(), replaced: replaced}
	if !k.judge.plan(c) {
		return
	}
	pause(context.Background(), time.Duration(s.Saved))

	k.begin(s.Apply)
	applying := k.launch()
	c.began = time.Now()
	if s.Stop > 0 {
		go func() {
			if pause(applying.ctx, time.Duration(s.Stop)); !applying.killed() {
				applying.stop()
			}
		}()
	}
	if s.Kill > 0 {
		go func() {
			pause(applying.ctx, time.Duration(s.Kill))
			applying.kill()
		}()
	}
	c.said = k.apply(applying, planned)
	c.stopped, c.killed = applying.interrupted(), applying.killed()
	applying.kill()
	c.seen, c.after = k.take(), k.state
	k.tally.applies++
	if k.judge.apply(c); len(k.judge.problems) > 0 {
		return
	}
	// The plan right after it, without faults. Terraform does not store what it refreshes.
	k.begin(nil)
	p = k.launch()
	again := k.plan(p, k.blocks(false), true, "")
	p.kill()
	k.judge.check(c, &command{planned: again, planSeen: k.take(), plannedAt: time.Now()})
}

// take returns the requests of the command, and counts them.
func (k *walker) take() []exchange {
	k.world.mu.Lock()
	defer k.world.mu.Unlock()
	for _, x := range k.seen {
		k.tally.requests++
		if x.outcome != ok {
			k.tally.faults++
		}
		switch x.endpoint {
		case simulator.EndpointStart:
			k.tally.starts++
		case simulator.EndpointBundle:
			k.tally.bundles++
		}
	}
	return k.seen
}

// takeImport forgets an export and imports its job.
func (k *walker) takeImport(s step, on int) {
	o, found := k.state[address(on)]
	if !found {
		return
	}
	id := o.text("job_id")
	if s.Which == "domain" {
		id = k.settings[on].domain(on) + "," + id
	}
	delete(k.state, address(on))
	k.begin(s.Plan)
	p := k.launch()
	said := k.importState(p, k.blocks(false)[on], id)
	p.kill()
	k.judge.imported(on, said, k.take())
}

// bundleOf returns an archive of a site.
func bundleOf(job int) []byte {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	page, err := archive.CreateHeader(&zip.FileHeader{Name: "index.html", Method: zip.Store})
	_, err = fmt.Fprintf(must(page, err), "job %d", job)
	if err = cmp.Or(err, archive.Close()); err != nil {
		panic(err)
	}
	return packed.Bytes()
}

func (w walk) String() string {
	lines := []string{}
	for _, s := range w.Steps {
		lines = append(lines, string(must(json.Marshal(s))))
	}
	return fmt.Sprintf("{\"scene\": %s, \"steps\": [\n  %s\n]}\n", must(json.Marshal(w.Scene)), strings.Join(lines, ",\n  "))
}

// shrink returns a shorter walk that breaks, too. It leaves out whatever it can of the
// walk's JSON: steps, faults, arguments, and all other fields.
func shrink(w walk, breaks func(walk) bool) walk {
	var value any
	_ = json.Unmarshal([]byte(w.String()), &value)
	for again := true; again; {
		again = false
		for i := 0; i < len(smaller(value)); i++ {
			candidate := smaller(value)[i]
			var shorter walk
			_ = json.Unmarshal(must(json.Marshal(candidate)), &shorter)
			if breaks(shorter) {
				w, value, again = shorter, candidate, true
				i--
			}
		}
	}
	return w
}

// smaller returns all values with a part of a list or one field of an object left out.
func smaller(value any) (all []any) {
	switch v := value.(type) {
	case []any:
		for size := (len(v) + 1) / 2; size > 0; size /= 2 {
			for i := 0; i+size <= len(v); i++ {
				all = append(all, slices.Delete(slices.Clone(v), i, i+size))
			}
		}
		for i, child := range v {
			for _, other := range smaller(child) {
				all = append(all, slices.Replace(slices.Clone(v), i, i+1, other))
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			without := maps.Clone(v)
			delete(without, name)
			all = append(all, without)
			for _, other := range smaller(v[name]) {
				with := maps.Clone(v)
				with[name] = other
				all = append(all, with)
			}
		}
	}
	return all
}
