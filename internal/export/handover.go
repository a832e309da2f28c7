package export

import (
	"slices"
	"sync"
)

// Handover hands jobs from one call of the provider to a later one of the same run, because Terraform withholds the
// state of a tainted resource from its Create. Several jobs may have the same inputs.
type Handover struct {
	mu   sync.Mutex
	jobs []Job
}

// Add hands over Next of a state that is deleted, unless it has failed. The inputs of an imported job are not known.
func (h *Handover) Add(s *State) {
	if s.Next == nil || s.Next.Failed() || s.Next.Imported {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs = append(h.jobs, *s.Next)
}

// Left returns the jobs that nobody has taken yet.
func (h *Handover) Left() []Job {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.jobs)
}

// take removes and returns the first job with the wanted inputs, or nil.
func (h *Handover) take(wanted Wanted) *Job {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.jobs, func(job Job) bool { return job.Has(wanted) })
	if i < 0 {
		return nil
	}
	job := h.jobs[i]
	h.jobs = slices.Delete(h.jobs, i, i+1)
	return &job
}
