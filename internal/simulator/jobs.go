package simulator

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"time"
)

// JobSpec describes a static export job. The zero value is a job like any other.
type JobSpec struct {
	// ID is the job ID. If empty, the service creates one.
	ID string
	// Queue and Run are how long the job is queued and then runs: as in Options
	// if zero, no time if negative. Forever keeps the job in that state.
	Queue, Run time.Duration
	// Pages is the number of pages of the exported site: the pages of the built-in
	// site if zero, a part of them if smaller, and additional numbered pages if larger.
	Pages int
	// Fail, unless empty, makes the job fail at the end of its run with this
	// message.
	Fail string
	// Progress returns the progress field for the share of the run that has
	// elapsed, from 0 to 1. It can return Omit. Nil means whole percent.
	Progress func(share float64) any
	// RunningStatus replaces "running".
	RunningStatus string
	// StartedAt is when the job was started: now if zero.
	StartedAt time.Time
	// Archive is the bundle: a gzip-compressed tar of the site if nil.
	Archive []byte
}

type job struct {
	JobSpec
	timeline
	domain string     // empty if the job was not started through the API
	link   bundleLink // the last one that was returned
}

// AddJob adds a job as if it had been started through the API, and returns its
// ID. It replaces a job with the same ID.
func (s *Service) AddJob(spec JobSpec) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addJob(spec)
}

// NextJob describes the next job that is started through the API. When it is
// called several times, the first spec is for the first job.
func (s *Service) NextJob(spec JobSpec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, spec)
}

// LaterJobs describes the jobs that are started through the API from now on, unless NextJob does.
func (s *Service) LaterJobs(spec JobSpec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.later = spec
}

// JobIDs returns the IDs of all jobs in the order of their creation.
func (s *Service) JobIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.jobIDs)
}

// JobIDsOf returns the IDs of the jobs that were started for a domain, in the order of
// their creation.
func (s *Service) JobIDsOf(domain string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.jobIDs), func(id string) bool { return s.jobs[id].domain != domain })
}

// FinishJob ends a job now.
func (s *Service) FinishJob(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[id].endAt(s.options.Now())
}

// ForgetJob removes a job. A link to its bundle works until it expires.
func (s *Service) ForgetJob(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, id)
	s.jobIDs = slices.DeleteFunc(s.jobIDs, func(other string) bool { return other == id })
}

// addJob is AddJob with s.mu held.
func (s *Service) addJob(spec JobSpec) string {
	if spec.ID == "" {
		spec.ID = s.newID("se_")
	}
	if spec.StartedAt.IsZero() {
		spec.StartedAt = s.options.Now()
	}
	if spec.Pages <= 0 {
		spec.Pages = len(builtinPages)
	}
	spec.Fail = cmp.Or(spec.Fail, s.options.Fail)
	if s.jobs[spec.ID] == nil {
		s.jobIDs = append(s.jobIDs, spec.ID)
	}
	s.jobs[spec.ID] = &job{JobSpec: spec, timeline: s.newTimeline(spec.StartedAt, spec.Queue, spec.Run)}
	return spec.ID
}

// status returns the status of the job at now.
func (j *job) status(now time.Time) string {
	switch p, _ := j.at(now); {
	case p == phaseQueued:
		return "queued"
	case p == phaseRunning:
		return cmp.Or(j.RunningStatus, "running")
	case j.Fail != "":
		return "failed"
	default:
		return "completed"
	}
}

// record returns the job as the API shows it at now. A failed job has a message
// in place of its progress.
func (j *job) record(now time.Time) map[string]any {
	body := map[string]any{
		"jobId":     j.ID,
		"status":    j.status(now),
		"createdAt": timestamp(j.start),
		"updatedAt": timestamp(j.changed(now)),
	}
	if body["status"] == "failed" {
		body["error"] = j.Fail
		return body
	}
	_, share := j.at(now)
	body["pageCount"] = int(share * float64(j.Pages))
	body["progress"] = int(math.Floor(100 * share))
	if j.Progress != nil {
		body["progress"] = j.Progress(share)
	}
	return withoutOmitted(body)
}

// startStaticExport performs the operation of this name.
func (s *Service) startStaticExport(r *http.Request) response {
	var request struct{ Domain string }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.Domain == "" {
		return failure(http.StatusBadRequest, "the request must be a JSON object with a domain")
	}
	spec := s.later
	if len(s.next) > 0 {
		spec, s.next = s.next[0], s.next[1:]
	}
	id := s.addJob(spec)
	s.jobs[id].domain = request.Domain
	return response{status: http.StatusAccepted, object: s.jobs[id].record(s.options.Now())}
}

// getStaticExportJob performs the operation of this name.
func (s *Service) getStaticExportJob(r *http.Request) response {
	j := s.jobs[r.PathValue("id")]
	if j == nil {
		return failure(http.StatusNotFound, noSuchJob)
	}
	return response{status: http.StatusOK, object: j.record(s.options.Now())}
}

const noSuchJob = "there is no export job with this ID"
