package provider

import (
	"slices"
	"sync"
)

// exportInputs are the arguments that determine what a job exports.
type exportInputs struct {
	Domain string `json:"domain"` // "" if it is not known
	// Triggers and Parameters are JSON objects without insignificant whitespace and with sorted fields, so that equal
	// ones are equal texts.
	Triggers   string `json:"triggers"`
	Parameters string `json:"parameters"`
}

// unfinishedJob is a job without a link. An export of the same inputs resumes it.
type unfinishedJob struct {
	JobID  string       `json:"job_id"`
	Inputs exportInputs `json:"inputs"`
}

// unfinishedJobs hands jobs from one call of the provider to a later one of the same run, because Terraform withholds
// the state of a tainted resource from its Create. Several jobs may have the same inputs.
type unfinishedJobs struct {
	mu   sync.Mutex
	jobs []unfinishedJob
}

func (u *unfinishedJobs) add(job unfinishedJob) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.jobs = append(u.jobs, job)
}

// take removes and returns the first job that matches, or nil.
func (u *unfinishedJobs) take(matches func(unfinishedJob) bool) *unfinishedJob {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := slices.IndexFunc(u.jobs, matches)
	if i < 0 {
		return nil
	}
	job := u.jobs[i]
	u.jobs = slices.Delete(u.jobs, i, i+1)
	return &job
}
