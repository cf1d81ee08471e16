//go:build unix

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// serverOf returns the server and the incarnation of a process id.
func (f *testCluster) serverOf(pid int) (*testServer, *incarnation) {
	for _, s := range f.servers {
		if l := s.pids[pid]; l != nil {
			return s, l
		}
	}
	return nil, nil
}

// losses checks that only a server that could not reach the database lost a lease, or
// one on a machine that was measured to be too slow. A server that survived the loss
// was notified and stopped the run; its late result changed nothing, as the outcome
// shows.
func (a *audit) losses(f *testCluster) {
	logs := map[*testServer]string{}
	for _, s := range f.servers {
		text, err := os.ReadFile(s.path("log"))
		must(a, err)
		logs[s] = string(text)
	}
	for id, start := range a.starts {
		if j := a.jobs[id]; reaped(j) && start.worker != staleWorkerName {
			a.loss(f, j, start, logs)
		}
	}
}

func (a *audit) loss(f *testCluster, j *rota.Job, start line, logs map[*testServer]string) {
	a.answers.counts["leases lost"]++
	s, l := f.serverOf(start.pid)
	if s == nil {
		a.Errorf("job %s was started by process %d, which belongs to no server", j.ID, start.pid)
		return
	}
	why := f.faults.during(s, j.Run.StartedAt, j.Run.FinishedAt)
	if why == nil {
		a.Errorf("%s lost the lease of job %s, which ran from %s to %s, without a fault: %s",
			s.name, j.ID, j.Run.StartedAt, j.Run.FinishedAt, j.Run.Error)
		return
	}
	a.answers.counts["lost by "+why.what]++
	if why.what == slowMachine {
		a.Logf("%s lost the lease of job %s, from %s to %s, on a slow machine: %s", s.name, j.ID, j.Run.StartedAt, j.Run.FinishedAt, why.more)
	}
	if start.at.After(j.Run.FinishedAt) {
		a.Errorf("%s started job %s at %s, when its lease had been lost since %s", s.name, j.ID, start.at, j.Run.FinishedAt)
	}
	if l.endedBefore(f.faults.undisturbedSince(s, j.Run.FinishedAt)) {
		return // a dead process could not be notified
	}
	a.answers.counts["losers that lived"]++
	if a.ends[j.ID] == "" {
		a.Errorf("%s lost the lease of job %s and its handler never ended", s.name, j.ID)
	}
	if !reportsLost(logs[s], j.ID) {
		a.Errorf("%s lost the lease of job %s and did not log it", s.name, j.ID)
	}
}

// reportsLost reports whether the log states that the lease of a job is lost.
func reportsLost(log string, id rota.ID) bool {
	for row := range strings.Lines(log) {
		if of, lost := lostIn(row); lost && of == id {
			return true
		}
	}
	return false
}

// lostIn returns the job whose lease is lost according to a line of a log.
func lostIn(row string) (id rota.ID, lost bool) {
	if !strings.Contains(row, "the lease of a run is lost") && !strings.Contains(row, "after its lease was lost") {
		return id, false
	}
	_, text, _ := strings.Cut(row, " job=")
	text, _, _ = strings.Cut(text, " ")
	id, err := rota.ParseID(strings.TrimSpace(text))
	return id, err == nil
}

// bound is a limit of concurrent runs; zero: no limit.
type bound struct {
	what string
	most int
}

// boundsOf returns the limits of a job: of its concurrency key, its type, and its
// schedule for the scope, unless executions of the schedule may overlap.
func boundsOf(j *rota.Job) (all []bound) {
	if most := keyLimits[j.ConcurrencyKey]; most > 0 {
		all = append(all, bound{"key " + j.ConcurrencyKey, most})
	}
	if most := typeLimits[j.Type]; most > 0 {
		all = append(all, bound{"type " + j.Type, most})
	}
	if j.Schedule == "tick-skip" || j.Schedule == "tick-cancel" {
		all = append(all, bound{fmt.Sprint("schedule ", j.Schedule, " ", j.ScopeKind, " ", j.ScopeID), 1})
	}
	return all
}

// limits checks with the ledger that no limit of concurrent runs was exceeded. A run
// is over when its handler has ended, when its process is dead, or when it was
// reaped: then its process was frozen or partitioned, which losses checks, and may
// not have been notified yet.
func (a *audit) limits(f *testCluster) {
	open := map[string][]line{}
	for _, l := range a.lines {
		j := a.jobs[l.job]
		if j == nil {
			continue
		}
		for _, b := range boundsOf(j) {
			if l.word == "end" {
				open[b.what] = slices.DeleteFunc(open[b.what], func(o line) bool { return o.job == l.job })
				continue
			}
			open[b.what] = slices.DeleteFunc(open[b.what], func(o line) bool { return a.overBy(f, o, l.at) })
			open[b.what] = append(open[b.what], l)
			if n := len(open[b.what]); n > b.most {
				a.Errorf("%d concurrent runs of %s, the limit is %d: %s", n, b.what, b.most, lineUp(open[b.what]))
			}
			a.answers.counts["bounded"]++
		}
	}
}

// overBy reports whether a run was over at some time although its handler had not
// ended.
func (a *audit) overBy(f *testCluster, l line, at time.Time) bool {
	if j := a.jobs[l.job]; reaped(j) && j.Run.FinishedAt.Before(at) {
		return true
	}
	_, incarnation := f.serverOf(l.pid)
	return incarnation != nil && incarnation.endedBefore(at)
}

func lineUp(lines []line) string {
	var text []string
	for _, l := range lines {
		text = append(text, fmt.Sprintf("%s since %s in %d", l.job, l.at.Format("15:04:05.000"), l.pid))
	}
	return strings.Join(text, ", ")
}

// outages are the errors that a server may log while it cannot reach its database, and
// shortly after.
var outages = []string{
	"the store does not answer; retrying until it does",
	"the store does not answer what is due next; retrying",
	"leases were not extended; retrying until they are",
	"progress was not written; retrying until it is",
	"due schedules could not be read; retrying",
	"finished groups could not be published; retrying",
	"the membership heartbeat failed; this process leads only until its lease ends",
	"the lease of a run is lost: the store gave the job to another attempt",
	outlived,
	"a run ended after its lease was lost; its outcome is dropped",
	"the history was not pruned",
}

// outlived is the log message of a server that stops a run by its own clock, before
// the store starts another attempt.
const outlived = "a lease could not be extended in time: the run is stopped, since another process may run the job"

// slowAnswer is part of the log message about a heartbeat that took longer than a
// third of the short leases here. The server retries it; the audit checks leases that
// are lost by it.
const slowAnswer = `error="context deadline exceeded"`

// outageTail is how long after an outage a server may still log errors about it.
const outageTail = 3 * time.Second

// clusterComplaints checks that servers log errors only about handlers that ignore
// their cancellation, about outages during a fault, and about leases that were lost.
func (a *audit) clusterComplaints(f *testCluster) {
	for _, s := range f.servers {
		text, err := os.ReadFile(s.path("log"))
		must(f, err)
		for row := range strings.Lines(string(text)) {
			if !strings.Contains(row, "level=ERROR") || strings.Contains(row, "a handler did not return after its context ended") {
				continue
			}
			if strings.Contains(row, slowAnswer) { // other tests keep the machine busy
				continue
			}
			if id, lost := lostIn(row); lost && reaped(a.jobs[id]) { // losses checks the reason
				continue
			}
			if strings.Contains(row, outlived) && f.faults.slow(timeOf(row)) {
				continue
			}
			known := slices.ContainsFunc(outages, func(text string) bool { return strings.Contains(row, text) })
			if !known || !f.faults.explain(s, timeOf(row)) {
				f.Errorf("%s logged an error: %s", s.name, row)
			}
		}
	}
}

// timeOf is the time of a line of a log.
func timeOf(row string) time.Time {
	text, _ := strings.CutPrefix(row, "time=")
	text, _, _ = strings.Cut(text, " ")
	at, _ := time.Parse(time.RFC3339Nano, text)
	return at
}
