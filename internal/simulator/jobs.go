// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"time"
)

// JobSpec is the shape of a static export job (section 2.2 of the API). The
// zero value is a job like any other.
type JobSpec struct {
	// ID is the jobId; one of the usual shape is made if empty.
	ID string
	// Domain is what is exported, which the API does not tell. A job started
	// through the API has it from the request.
	Domain string
	// Queue and Run are how long the job is queued and then runs: as in
	// Options if zero, not at all if negative.
	Queue, Run time.Duration
	// Pages is the number of pages exported; as in Options if zero.
	Pages int
	// Fail, unless empty, makes the job fail at the end of its run, with
	// this message.
	Fail string
	// Progress is what the record shows as progress when share, 0 to 1, of
	// the run is done. It may return Omit. Nil is whole per cent.
	Progress func(share float64) any
	// QueuedStatus and RunningStatus are shown in place of "queued" and
	// "running".
	QueuedStatus, RunningStatus string
	// StartedAt is when the job was queued; now if zero.
	StartedAt time.Time
	// Archive is the bundle, byte for byte, in place of the built-in site.
	Archive []byte
}

type job struct {
	JobSpec
	timeline
	gone   bool
	stored bool // the bundle is in the storage
	link   link // the last one handed out
}

type link struct {
	url     string
	expires time.Time
}

// AddJob puts a job into the service, as if it had been started there, and
// returns its id. A job of the same id is replaced.
func (s *Service) AddJob(spec JobSpec) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addJob(spec)
}

// NextJob sets the shape of the next job that is started through the API.
// Shapes wait in line: the first one set is for the first job.
func (s *Service) NextJob(spec JobSpec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, spec)
}

// JobIDs returns the ids of all jobs in the order in which they came to be.
func (s *Service) JobIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.started)
}

// FinishJob ends a job now: with this failure, or well if that is empty. A
// job that has ended already stays as it is.
func (s *Service) FinishJob(id, failure string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, now := s.jobs[id], s.now()
	if j == nil {
		return
	}
	if p, _ := j.at(now); p != phaseEnded {
		j.endAt(now)
		j.Fail = failure
	}
}

// ForgetJob removes a job and its bundle: the service then answers 404 to its
// id, and links to the bundle lead nowhere.
func (s *Service) ForgetJob(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, id)
	s.started = slices.DeleteFunc(s.started, func(other string) bool { return other == id })
	s.store.remove(objectName(id))
}

// RetireJob is ForgetJob by a service that remembers: it answers 410.
func (s *Service) RetireJob(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[id]; j != nil {
		j.gone = true
		s.store.remove(objectName(id))
	}
}

// addJob is AddJob with s.mu held.
func (s *Service) addJob(spec JobSpec) string {
	if spec.ID == "" {
		spec.ID = s.newID("se_")
	}
	if spec.StartedAt.IsZero() {
		spec.StartedAt = s.now()
	}
	if spec.Pages <= 0 {
		spec.Pages = s.options.Pages
	}
	if spec.Progress == nil {
		spec.Progress = func(share float64) any { return int(math.Floor(100 * share)) }
	}
	if s.jobs[spec.ID] == nil {
		s.started = append(s.started, spec.ID)
	}
	s.jobs[spec.ID] = &job{JobSpec: spec, timeline: timeline{
		start: spec.StartedAt,
		queue: defaultTo(spec.Queue, s.options.Queue),
		run:   defaultTo(spec.Run, s.options.Run),
	}}
	return spec.ID
}

// status returns the job's status at now.
func (j *job) status(now time.Time) string {
	switch p, _ := j.at(now); {
	case p == phaseQueued:
		return cmp.Or(j.QueuedStatus, "queued")
	case p == phaseRunning:
		return cmp.Or(j.RunningStatus, "running")
	case j.Fail != "":
		return "failed"
	default:
		return "completed"
	}
}

// record returns the job as the API shows it at now. Progress and page count
// are of no use to anyone once a job has failed, and absent then.
func (j *job) record(now time.Time) map[string]any {
	_, share := j.at(now)
	body := map[string]any{
		"jobId":     j.ID,
		"status":    j.status(now),
		"createdAt": timestamp(j.start),
		"updatedAt": timestamp(j.changed(now)),
	}
	if body["status"] == "failed" {
		body["error"] = j.Fail
	} else {
		body["progress"] = j.Progress(share)
		body["pageCount"] = int(share * float64(j.Pages))
	}
	return withoutOmitted(body)
}

// startJob answers POST /static-export/jobs (section 4.2).
func (s *Service) startJob(r *http.Request, body string) reply {
	fields, refusal := readObject(r, body)
	if fields == nil {
		return refusal
	}
	domain, _ := fields["domain"].(string)
	if domain == "" {
		return failure(http.StatusBadRequest, "domain must be a string that is not empty")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var spec JobSpec
	if len(s.next) > 0 {
		spec, s.next = s.next[0], s.next[1:]
	}
	spec.Domain = domain
	id := s.addJob(spec)
	return reply{http.StatusAccepted, s.jobs[id].record(s.now())}
}

// getJob answers GET /static-export/jobs/{jobId} (section 4.3).
func (s *Service) getJob(id string) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, refusal := s.findJob(id)
	if j == nil {
		return refusal
	}
	return reply{http.StatusOK, j.record(s.now())}
}

// findJob returns a job, or the reply to those who ask for it in vain. Call
// with s.mu held.
func (s *Service) findJob(id string) (*job, reply) {
	switch j := s.jobs[id]; {
	case j == nil:
		return nil, failure(http.StatusNotFound, "no such export job")
	case j.gone:
		return nil, failure(http.StatusGone, "this export job has been removed")
	default:
		return j, reply{}
	}
}
