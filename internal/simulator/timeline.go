package simulator

import "time"

type phase int

const (
	phaseQueued phase = iota
	phaseRunning
	phaseEnded
)

// timeline is the life of a job or an update: queued, then running, then ended.
type timeline struct {
	start      time.Time
	queue, run time.Duration
}

func (s *Service) newTimeline(start time.Time, queue, run time.Duration) timeline {
	return timeline{start, orDefault(queue, s.options.Queue), orDefault(run, s.options.Run)}
}

// at returns the phase at now and the share of the run that has elapsed, from
// 0 to 1.
func (t timeline) at(now time.Time) (phase, float64) {
	elapsed := now.Sub(t.start)
	if elapsed < t.queue {
		return phaseQueued, 0
	}
	elapsed -= t.queue
	if elapsed < t.run {
		return phaseRunning, float64(elapsed) / float64(t.run)
	}
	return phaseEnded, 1
}

// changed returns when the record last changed, as seen at now.
func (t timeline) changed(now time.Time) time.Time {
	switch p, _ := t.at(now); p {
	case phaseQueued:
		return t.start
	case phaseRunning:
		return now
	default:
		return t.start.Add(t.queue + t.run)
	}
}

// endAt shortens the timeline so that it has ended at now.
func (t *timeline) endAt(now time.Time) {
	elapsed := max(now.Sub(t.start), 0)
	t.queue = min(t.queue, elapsed)
	t.run = min(t.run, elapsed-t.queue)
}
