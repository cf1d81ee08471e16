//go:build unix

package main

import (
	"encoding/json"
	"strings"

	"github.com/rotajobs/rota"
)

// checkAcknowledged checks that every acknowledged job exists, and that each request
// enqueued one job, however often it was sent.
func (a *audit) checkAcknowledged() {
	for id := range a.answers.jobs {
		if a.jobs[id] == nil {
			a.Errorf("job %s was acknowledged and is missing", id)
		}
	}
	times := map[string]int{}
	for _, j := range a.jobs {
		if m := markOf(j); m != "" && j.Attempt == 1 && j.RedriveOf.IsZero() {
			times[m]++
		}
	}
	for mark, v := range a.answers.marks {
		switch n := times[mark]; {
		case v == resultEnqueued && n != 1, v == resultDuplicate && n != 0, n > 1:
			a.Errorf("request %s was answered %d and enqueued %d jobs", mark, v, n)
		}
		delete(times, mark)
	}
	for mark := range times {
		a.Errorf("a job has the mark %s, but no request has it", mark)
	}
	for id, priority := range a.answers.edited {
		if j := a.jobs[id]; j != nil && j.Priority != priority {
			a.Errorf("the priority of job %s was set to %d and is %d", id, priority, j.Priority)
		}
	}
}

func markOf(j *rota.Job) string {
	var p Work
	_ = json.Unmarshal(j.Params, &p)
	return p.Mark
}

// checkStarts checks that no job started twice, that each start has a run, and that no
// job completed before its handler ended.
func (a *audit) checkStarts() {
	for _, l := range a.lines {
		j := a.jobs[l.job]
		switch {
		case l.kind == "end":
			a.ends[l.job] = l.result
		case j == nil || j.Run == nil:
			a.Errorf("job %s was started and has no run", l.job)
		case l.execution != j.ExecutionID || l.attempt != j.Attempt:
			a.Errorf("job %s was started as attempt %d of %s, but is attempt %d of %s", l.job, l.attempt, l.execution, j.Attempt, j.ExecutionID)
		case a.starts[l.job].kind != "":
			a.Errorf("job %s was started twice", l.job)
		default:
			a.starts[l.job] = l
		}
	}
	for id, j := range a.jobs {
		_, started := a.starts[id]
		switch {
		case j.Run == nil && started, j.State() == rota.StateSkipped && started:
			a.Errorf("job %s is %s and was started", id, j.State())
		case j.Run != nil && j.Run.Outcome == rota.OutcomeCompleted && a.ends[id] != "ok":
			a.Errorf("job %s is COMPLETED, but its handler ended with %q", id, a.ends[id])
		}
	}
}

// checkEndings checks that every execution ended once, within its maximum of attempts,
// with an outcome that its behaviour explains.
func (a *audit) checkEndings() {
	for id, chain := range a.chains {
		for i, j := range chain {
			if j == nil {
				a.Errorf("execution %s has no attempt %d of %d", id, i+1, len(chain))
				return
			}
			a.checkEnding(j, i == len(chain)-1)
		}
	}
}

func (a *audit) checkEnding(j *rota.Job, last bool) {
	switch {
	case !j.Ended():
		a.Errorf("job %s has not ended: %s", j.ID, j.State())
	case j.Attempt > j.Policy.MaxAttempts:
		a.Errorf("job %s is attempt %d of at most %d", j.ID, j.Attempt, j.Policy.MaxAttempts)
	case last == (j.Sequel == rota.SequelRetry):
		a.Errorf("job %s is the last of its execution: %t, but its sequel is %s", j.ID, last, j.Sequel)
	case j.Run != nil:
		a.checkOutcome(j)
	}
}

// checkOutcome compares the outcome of a job with its params and with the faults that may
// have interrupted it: kills, shutdowns, cancels.
func (a *audit) checkOutcome(j *rota.Job) {
	var p Work
	_ = json.Unmarshal(j.Params, &p)
	cut := j.Run.ErrorCode == rota.CodeLeaseExpired || j.Run.ErrorCode == rota.CodeShutdown
	good := p.Behave == "" || p.Behave == "succeed" || p.Behave == "sleep" || p.Behave == "ignore_cancel"
	staleWorker := j.Run.Runner == staleWorkerName
	fine := true
	switch j.Run.Outcome {
	case rota.OutcomeCompleted:
		fine = good || staleWorker
	case rota.OutcomeFailed:
		fine = cut || !good && !staleWorker && (p.Behave == "panic") == (j.Run.ErrorCode == "panic")
	case rota.OutcomeCancelled:
		fine = !j.Run.CancelAt.IsZero() || p.Behave == "ignore_cancel" && j.Run.ErrorCode == rota.CodeTimeout
	}
	if !fine {
		a.Errorf("job %s, with the behaviour %s, ended %s %q: %s", j.ID, p.Behave, j.Run.Outcome, j.Run.ErrorCode, j.Run.Error)
	}
	if !staleWorker && !a.shared && reaped(j) {
		a.Errorf("job %s of an earlier incarnation was reaped, not recovered: %s", j.ID, j.Run.Error)
	}
	if !cut && !good && p.Behave == "permanent" && j.Sequel == rota.SequelRetry {
		a.Errorf("job %s failed permanently and was retried", j.ID)
	}
}

// reaped reports whether a run failed because its lease expired.
func reaped(j *rota.Job) bool {
	return j != nil && j.Run != nil && strings.HasPrefix(j.Run.Error, "lease expired")
}

// stoppedByServer reports whether a server ended a run of the stale worker that was to
// stop, because of a cancel or a timeout. A server does not end the runs of an engine like
// this: the engine that runs a job stops it.
func stoppedByServer(j *rota.Job) bool {
	return j != nil && j.Run != nil && j.Run.Runner == staleWorkerName && strings.Contains(j.Run.Error, "did not stop within")
}

// checkCancels checks that cancelled jobs are cancelled, and that executions that were
// cancelled while they ran were not retried. checkStarts finds jobs that started without
// a run.
func (a *audit) checkCancels() {
	for id := range a.answers.cancelled {
		if j := a.jobs[id]; j == nil || j.State() != rota.StateCancelled {
			a.Errorf("job %s was acknowledged as cancelled, but is not: %+v", id, j)
		}
	}
	for id := range a.answers.stopping {
		chain := a.chains[id]
		if len(chain) == 0 {
			a.Errorf("execution %s was cancelled while it ran, and is missing", id)
			continue
		}
		tail := chain[len(chain)-1]
		if s := tail.State(); s != rota.StateCancelled && s != rota.StateCompleted {
			a.Errorf("execution %s was cancelled while it ran, and is %s", id, s)
		}
	}
}

// checkPauses checks that no job of a type started between the answer to its pause and
// the request to resume it. In a cluster, a process that is frozen between reading the
// time and reading the type records the earlier time as the start. There the check also
// requires that the handler started within the pause; a run whose handler never started
// proves nothing.
func (a *audit) checkPauses() {
	for _, j := range a.jobs {
		if j.Type != pausableType || j.Run == nil {
			continue
		}
		began := j.StartedAt
		if a.shared {
			start, ok := a.starts[j.ID]
			if !ok {
				continue
			}
			began = start.at
		}
		for _, p := range a.answers.typePauses {
			if j.StartedAt.After(p.from) && began.Before(p.to) {
				a.Errorf("job %s started at %s and its handler began at %s, while its type was paused from %s to %s",
					j.ID, j.StartedAt, began, p.from, p.to)
			}
		}
	}
}
