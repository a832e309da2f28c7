package provider

import (
	"slices"
	"sync"

	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// handover hands unfinished jobs from a Delete to the Creates that follow in the same apply. Terraform replaces what a
// failed Create has left without asking the provider, and withholds its state from the new Create.
type handover struct {
	mu   sync.Mutex
	jobs []*export.Job // several may have the same inputs
}

// add hands over the unfinished job of a state that is deleted. The inputs of an imported job are not known.
func (h *handover) add(deleted *export.State) {
	job := deleted.Unfinished()
	if job == nil || job.Imported {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs = append(h.jobs, job)
}

// take removes and returns one job with the given inputs, or nil.
func (h *handover) take(inputs export.Inputs) *export.Job {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.jobs, func(job *export.Job) bool { return job.Inputs == inputs })
	if i < 0 {
		return nil
	}
	job := h.jobs[i]
	h.jobs = slices.Delete(h.jobs, i, i+1)
	return job
}
