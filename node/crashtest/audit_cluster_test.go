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

// serverOf returns the server and the incarnation that have a process id.
func (f *testCluster) serverOf(pid int) (*testServer, *incarnation) {
	for _, s := range f.servers {
		if p := s.pids[pid]; p != nil {
			return s, p
		}
	}
	return nil, nil
}

// checkLostLeases checks that a server lost a lease only if it could not reach the
// database, or if the machine was measured to be too slow. A server that survived the
// loss was notified and stopped the run. Its late result changed nothing: the run still
// has the outcome of the reap.
func (a *audit) checkLostLeases(f *testCluster) {
	logs := map[*testServer]string{}
	for _, s := range f.servers {
		text, err := os.ReadFile(s.path("log"))
		must(a, err)
		logs[s] = string(text)
	}
	for id, start := range a.starts {
		if j := a.jobs[id]; reaped(j) && start.worker != staleWorkerName {
			a.checkLostLease(f, j, start, logs)
		}
	}
}

func (a *audit) checkLostLease(f *testCluster, j *rota.Job, start line, logs map[*testServer]string) {
	a.answers.counts["leases lost"]++
	s, p := f.serverOf(start.pid)
	if s == nil {
		a.Errorf("job %s was started by process %d, which belongs to no server", j.ID, start.pid)
		return
	}
	why := f.faults.isolating(s, j.Run.StartedAt, j.Run.FinishedAt)
	if why == nil {
		a.Errorf("%s lost the lease of job %s, which ran from %s to %s, without a fault: %s",
			s.name, j.ID, j.Run.StartedAt, j.Run.FinishedAt, j.Run.Error)
		return
	}
	a.answers.counts["lost by "+why.kind]++
	if why.kind == faultSlowMachine {
		a.Logf("%s lost the lease of job %s, which ran from %s to %s, on a slow machine: %s", s.name, j.ID, j.Run.StartedAt, j.Run.FinishedAt, why.detail)
	}
	if start.at.After(j.Run.FinishedAt) {
		a.Errorf("%s started job %s at %s, although it had lost the lease at %s", s.name, j.ID, start.at, j.Run.FinishedAt)
	}
	if p.endedBefore(f.faults.undisturbedSince(s, j.Run.FinishedAt)) {
		return // a dead process could not be notified
	}
	a.answers.counts["lost leases of live processes"]++
	if a.ends[j.ID] == "" {
		a.Errorf("%s lost the lease of job %s and its handler never ended", s.name, j.ID)
	}
	if !logsLostLease(logs[s], j.ID) {
		a.Errorf("%s lost the lease of job %s and did not log it", s.name, j.ID)
	}
}

// logsLostLease reports whether the log states that the lease of a job is lost.
func logsLostLease(log string, id rota.ID) bool {
	for row := range strings.Lines(log) {
		if of, lost := lostLeaseIn(row); lost && of == id {
			return true
		}
	}
	return false
}

// lostLeaseIn returns the job whose lease is lost according to a line of a log.
func lostLeaseIn(row string) (id rota.ID, lost bool) {
	if !strings.Contains(row, "the lease of a run is lost") && !strings.Contains(row, "after its lease was lost") {
		return id, false
	}
	_, text, _ := strings.Cut(row, " job=")
	text, _, _ = strings.Cut(text, " ")
	id, err := rota.ParseID(strings.TrimSpace(text))
	return id, err == nil
}

// runLimit is a limit of concurrent runs.
type runLimit struct {
	subject string
	max     int
}

// limitsOf returns the limits of a job: of its concurrency key, its type, and its
// schedule for the scope, unless executions of the schedule may overlap.
func limitsOf(j *rota.Job) (all []runLimit) {
	if limit := keyLimits[j.ConcurrencyKey]; limit > 0 {
		all = append(all, runLimit{"key " + j.ConcurrencyKey, limit})
	}
	if limit := typeLimits[j.Type]; limit > 0 {
		all = append(all, runLimit{"type " + j.Type, limit})
	}
	if j.Schedule == "tick-skip" || j.Schedule == "tick-cancel" {
		all = append(all, runLimit{fmt.Sprint("schedule ", j.Schedule, " ", j.ScopeKind, " ", j.ScopeID), 1})
	}
	return all
}

// checkLimits checks with the ledger that no limit of concurrent runs was exceeded. A run
// has ended when its handler has ended, when its process is dead, or when a server has
// ended the run without its worker. That is the case if the lease expired: the process was
// frozen or partitioned, which checkLostLeases checks, and may not have been notified yet.
// It is also the case if the stale worker did not stop the run after a cancel or a timeout.
func (a *audit) checkLimits(f *testCluster) {
	open := map[string][]line{}
	for _, l := range a.lines {
		j := a.jobs[l.job]
		if j == nil {
			continue
		}
		for _, limit := range limitsOf(j) {
			if l.kind == "end" {
				open[limit.subject] = slices.DeleteFunc(open[limit.subject], func(o line) bool { return o.job == l.job })
				continue
			}
			open[limit.subject] = slices.DeleteFunc(open[limit.subject], func(o line) bool { return a.endedBy(f, o, l.at) })
			open[limit.subject] = append(open[limit.subject], l)
			if n := len(open[limit.subject]); n > limit.max {
				a.Errorf("%d concurrent runs of %s, the limit is %d: %s", n, limit.subject, limit.max, formatLines(open[limit.subject]))
			}
			a.answers.counts["starts under a limit"]++
		}
	}
}

// endedBy reports whether a run whose handler has not ended counts as ended at a time.
func (a *audit) endedBy(f *testCluster, l line, at time.Time) bool {
	if j := a.jobs[l.job]; (reaped(j) || stoppedByServer(j)) && j.Run.FinishedAt.Before(at) {
		return true
	}
	_, incarnation := f.serverOf(l.pid)
	return incarnation != nil && incarnation.endedBefore(at)
}

func formatLines(lines []line) string {
	var text []string
	for _, l := range lines {
		text = append(text, fmt.Sprintf("%s of %s since %s in %d", l.job, l.worker, l.at.Format("15:04:05.000"), l.pid))
	}
	return strings.Join(text, ", ")
}

// logOutages are the errors that a server may log while it cannot reach its database, and
// shortly after.
var logOutages = []string{
	"the store does not answer; retrying until it does",
	"the next due time cannot be read; retrying",
	"leases were not extended; retrying until they are",
	"progress was not written; retrying until it is",
	"due schedules could not be read; retrying",
	"finished groups could not be published; retrying",
	"the membership heartbeat failed; this process leads only until its lease ends",
	"the lease of a run is lost: the store gave the job to another attempt",
	logLeaseExpired,
	"a run ended after its lease was lost; its outcome is dropped",
	"stale leases were not reaped",
	"the history was not pruned",
	"the audit was not pruned",
	"claims of remote workers fail; retrying until the store answers",
	"could not release undelivered jobs; their leases will expire",
	"run logs cannot be stored; the runs continue, and their log lines wait in memory",
	"old run logs cannot be removed; trying again later",
	"audit entries were not sealed; the next attempt follows",
	"the head of the audit was not signed",
}

// logLeaseExpired is the log message of a server that stops a run because its lease has
// expired by its own clock. It may do so before the store starts another attempt.
const logLeaseExpired = "a lease could not be extended in time: the run is stopped, since another process may run the job"

// logUncleanStop is the log message of a server that finds its file damaged when it starts.
// A replica is then filled again from the table.
const logUncleanStop = "found a violation after an unclean stop"

// logDeadlineExceeded is part of the log message about a heartbeat that took longer than
// a third of the lease. The server retries the heartbeat, and the audit checks leases
// that are lost.
const logDeadlineExceeded = `error="context deadline exceeded"`

// outageTail is how long after an outage a server may still log errors about it.
const outageTail = 3 * time.Second

// checkClusterLogs checks that servers log errors only about handlers that ignore their
// cancellation, about outages during a fault, and about lost leases.
func (a *audit) checkClusterLogs(f *testCluster) {
	for _, s := range f.servers {
		text, err := os.ReadFile(s.path("log"))
		must(f, err)
		for row := range strings.Lines(string(text)) {
			if !strings.Contains(row, "level=ERROR") || strings.Contains(row, "a handler did not return after its context ended") {
				continue
			}
			if strings.Contains(row, logDeadlineExceeded) { // the machine may be busy with other tests
				continue
			}
			if id, lost := lostLeaseIn(row); lost && reaped(a.jobs[id]) { // checkLostLeases checks the cause
				continue
			}
			if strings.Contains(row, logLeaseExpired) && f.faults.explainsExpiredLease(timeOf(row)) {
				continue
			}
			if strings.Contains(row, logUncleanStop) && f.faults.damagedReplica(s, timeOf(row)) {
				continue
			}
			known := slices.ContainsFunc(logOutages, func(text string) bool { return strings.Contains(row, text) })
			if !known || !f.faults.explainsOutage(s, timeOf(row)) {
				f.Errorf("%s logged an error: %s", s.name, row)
			}
		}
	}
}

// timeOf returns the time of a line of a log.
func timeOf(row string) time.Time {
	text, _ := strings.CutPrefix(row, "time=")
	text, _, _ = strings.Cut(text, " ")
	at, _ := time.Parse(time.RFC3339Nano, text)
	return at
}
