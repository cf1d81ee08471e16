//go:build unix

package main

import (
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// answerLog records what the server has answered, in the memory of the test, which
// outlives the server.
type answerLog struct {
	mu         sync.Mutex
	jobs       map[rota.ID]bool         // acknowledged jobs
	marks      map[string]requestResult // result of each request for a job, by its mark
	cancelled  map[rota.ID]bool         // acknowledged cancels of jobs that did not run
	stopping   map[rota.ID]bool         // executions with an acknowledged cancel while a run was going on
	edited     map[rota.ID]int          // acknowledged priorities
	groupModes map[rota.ID]string       // modes of the acknowledged groups
	typePauses []span                   // times during which pausableType was paused
	oneTimes   map[string]time.Time     // accepted AT schedules
	counts     map[string]int           // counts for the summary
}

// requestResult is the answer of the server to a request for a job.
type requestResult int

const (
	resultPending   requestResult = iota // no answer yet
	resultEnqueued                       // the job was enqueued
	resultDuplicate                      // an equal job exists
	resultRefused
)

type span struct{ from, to time.Time }

func newAnswerLog() *answerLog {
	return &answerLog{
		jobs: map[rota.ID]bool{}, marks: map[string]requestResult{}, cancelled: map[rota.ID]bool{}, stopping: map[rota.ID]bool{},
		edited: map[rota.ID]int{}, groupModes: map[rota.ID]string{}, oneTimes: map[string]time.Time{},
		counts: map[string]int{},
	}
}

// newMark returns a new mark for a request. The params of its job contain the mark.
func (l *answerLog) newMark() string {
	name := rota.NewID().String()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marks[name] = resultPending
	return name
}

// recordResult records the answer to a request for a job.
func (l *answerLog) recordResult(mark string, result requestResult) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marks[mark] = result
}

// acknowledge records a job that the server acknowledged.
func (l *answerLog) acknowledge(mark string, job api.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobs[job.ID.ID] = true
	l.marks[mark] = resultEnqueued
	if job.Duplicate {
		l.marks[mark] = resultDuplicate
	}
}

// locked changes the log under its lock.
func (l *answerLog) locked(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// count adds to a count of the summary.
func (l *answerLog) count(what string, n int) { l.locked(func() { l.counts[what] += n }) }
