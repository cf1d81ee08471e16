//go:build unix

package main

import (
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// answerLog records what the server has answered, outside of the server.
type answerLog struct {
	mu        sync.Mutex
	jobs      map[rota.ID]bool        // jobs that it acknowledged
	marks     map[string]verdict      // result of each request for a job
	cancelled map[rota.ID]bool        // jobs that it cancelled
	stopping  map[rota.ID]bool        // running jobs that it asked to stop
	edited    map[rota.ID]int         // acknowledged priorities
	modes     map[rota.ID]string      // modes of the acknowledged groups
	paused    []span                  // times during which the type steps was paused
	onces     map[string]time.Time    // accepted AT schedules
	counts    map[string]int          // counts for the summary
	refusals  map[string]map[int]bool // statuses received, by action
}

// verdict is the answer of the server to a request for a job.
type verdict int

const (
	sent      verdict = iota // no answer yet
	made                     // the job was enqueued
	duplicate                // an equal job exists
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

// mark returns a new name for a request, which the params of its job contain.
func (b *answerLog) mark() string {
	name := rota.NewID().String()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.marks[name] = sent
	return name
}

// settle records the answer to a request for a job.
func (b *answerLog) settle(mark string, v verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.marks[mark] = v
}

// acknowledge records a job that the server acknowledged.
func (b *answerLog) acknowledge(mark string, job httpapi.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs[job.ID.ID] = true
	b.marks[mark] = made
	if job.Duplicate {
		b.marks[mark] = duplicate
	}
}

// update changes the log under its lock.
func (b *answerLog) update(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// count counts something for the summary.
func (b *answerLog) count(what string, n int) { b.update(func() { b.counts[what] += n }) }

// recordRefusal records the status of the answer to an action.
func (b *answerLog) recordRefusal(action string, status int) {
	b.update(func() {
		if b.refusals[action] == nil {
			b.refusals[action] = map[int]bool{}
		}
		b.refusals[action][status] = true
	})
}
