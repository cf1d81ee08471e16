package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// Wakeup collects whether a transaction gives claims that found nothing a reason
// to try again. Jobs that the transaction both creates and starts give none.
type Wakeup struct {
	other   bool        // for another reason than new jobs
	created []*rota.Job // new jobs that are still QUEUED
}

// Add adds the changes of a step.
func (w *Wakeup) Add(c *Changes) {
	w.other = w.other || c.Wake
	if len(w.created) > 0 && !c.Claim.IsZero() {
		w.created = withoutLeft(w.created, c.Jobs)
	}
	if created := withoutLeft(c.NewJobs, c.NewJobChanges); len(created) > 0 {
		w.created = append(w.created, created...)
	}
}

// Needed reports whether to wake claims after the commit.
func (w *Wakeup) Needed() bool { return w.other || len(w.created) > 0 }

// withoutLeft returns jobs without those that have left the queue.
func withoutLeft(jobs []*rota.Job, changes []JobChange) []*rota.Job {
	left := map[rota.ID]bool{}
	for _, c := range changes {
		if c.Job.Status != rota.StatusQueued {
			left[c.Job.ID] = true
		}
	}
	if len(left) == 0 {
		return jobs
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j *rota.Job) bool { return left[j.ID] })
}
