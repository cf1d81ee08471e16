//go:build unix

package main

import (
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// answerLog is what the server has answered, kept outside of it.
type answerLog struct {
	mu        sync.Mutex
	jobs      map[rota.ID]bool        // it said that they exist
	marks     map[string]verdict      // what became of each request that makes a job
	cancelled map[rota.ID]bool        // it said that they are
	stopping  map[rota.ID]bool        // it said that they were asked to stop
	edited    map[rota.ID]int         // it said that this is their priority
	modes     map[rota.ID]string      // groups, and how their members follow each other
	paused    []span                  // when it had said that the type steps is paused
	onces     map[string]time.Time    // AT schedules that it has accepted
	counts    map[string]int          // of what was done, for the summary
	refusals  map[string]map[int]bool // statuses that were met, by action
}

// verdict is what the server said to a request for a job.
type verdict int

const (
	sent      verdict = iota // nothing yet
	made                     // there is one
	duplicate                // another stands for it
	refused
)

type span struct{ from, to time.Time }

func newAnswerLog() *answerLog {
	return &answerLog{
		jobs: map[rota.ID]bool{}, marks: map[string]verdict{}, cancelled: map[rota.ID]bool{}, stopping: map[rota.ID]bool{},
		edited: map[rota.ID]int{}, modes: map[rota.ID]string{}, onces: map[string]time.Time{},
		counts: map[string]int{}, refusals: map[string]map[int]bool{},
	}
}

// mark names a request that makes a job, in the params of the job.
func (b *answerLog) mark() string {
	name := rota.NewID().String()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.marks[name] = sent
	return name
}

// settle notes what came of a request for a job.
func (b *answerLog) settle(mark string, v verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.marks[mark] = v
}

// acknowledge notes a job that the server says exists.
func (b *answerLog) acknowledge(mark string, job httpapi.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs[job.ID.ID] = true
	b.marks[mark] = made
	if job.Duplicate {
		b.marks[mark] = duplicate
	}
}

// update changes the book.
func (b *answerLog) update(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// count counts something for the summary.
func (b *answerLog) count(what string, n int) { b.update(func() { b.counts[what] += n }) }

// recordRefusal notes a status that an action was answered with.
func (b *answerLog) recordRefusal(action string, status int) {
	b.update(func() {
		if b.refusals[action] == nil {
			b.refusals[action] = map[int]bool{}
		}
		b.refusals[action][status] = true
	})
}
