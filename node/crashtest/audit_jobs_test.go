//go:build unix

package main

import (
	"encoding/json"
	"strings"

	"github.com/rotajobs/rota"
)

// acknowledged: what was answered is there, and what was asked for once was made
// once, however often it was sent.
func (a *audit) acknowledged() {
	for id := range a.answers.jobs {
		if a.jobs[id] == nil {
			a.Errorf("job %s was acknowledged and is gone", id)
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
		case v == made && n != 1, v == duplicate && n != 0, n > 1:
			a.Errorf("request %s was answered %d and made %d jobs", mark, v, n)
		}
		delete(times, mark)
	}
	for mark := range times {
		a.Errorf("a job has the mark %s, which nobody sent", mark)
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

// started: no job started twice, each start has its run, and nothing completed
// that did not get to its end.
func (a *audit) started() {
	for _, l := range a.lines {
		j := a.jobs[l.job]
		switch {
		case l.word == "end":
			a.ends[l.job] = l.how
		case j == nil || j.Run == nil:
			a.Errorf("job %s was started and has no run", l.job)
		case l.execution != j.ExecutionID || l.attempt != j.Attempt:
			a.Errorf("job %s was started as attempt %d of %s, and is attempt %d of %s", l.job, l.attempt, l.execution, j.Attempt, j.ExecutionID)
		case a.starts[l.job].word != "":
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
			a.Errorf("job %s is COMPLETED, but its handler never got there (%q)", id, a.ends[id])
		}
	}
}

// endings: every execution has come to one end, within its attempts, and none
// that its behaviour does not explain.
func (a *audit) endings() {
	for id, chain := range a.chains {
		for i, j := range chain {
			if j == nil {
				a.Errorf("execution %s has no attempt %d of %d", id, i+1, len(chain))
				return
			}
			a.ending(j, i == len(chain)-1)
		}
	}
}

func (a *audit) ending(j *rota.Job, last bool) {
	switch {
	case !j.Ended():
		a.Errorf("job %s has not ended: %s", j.ID, j.State())
	case j.Attempt > j.Policy.MaxAttempts:
		a.Errorf("job %s is attempt %d of at most %d", j.ID, j.Attempt, j.Policy.MaxAttempts)
	case last == (j.Sequel == rota.SequelRetry):
		a.Errorf("job %s is the last of its execution: %t, and its sequel is %s", j.ID, last, j.Sequel)
	case j.Run != nil:
		a.explained(j)
	}
}

// explained holds an outcome against what the job was told to do, and against
// what may come in between: kills, shutdowns, cancels.
func (a *audit) explained(j *rota.Job) {
	var p Work
	_ = json.Unmarshal(j.Params, &p)
	cut := j.Run.ErrorCode == rota.CodeLeaseExpired || j.Run.ErrorCode == rota.CodeShutdown
	good := p.Behave == "" || p.Behave == "succeed" || p.Behave == "sleep" || p.Behave == "stubborn"
	staleWorker := j.Run.Runner == staleWorkerName
	fine := true
	switch j.Run.Outcome {
	case rota.OutcomeCompleted:
		fine = good || staleWorker
	case rota.OutcomeFailed:
		fine = cut || !good && !staleWorker && (p.Behave == "panic") == (j.Run.ErrorCode == "panic")
	case rota.OutcomeCancelled:
		fine = !j.Run.CancelAt.IsZero() || p.Behave == "stubborn" && j.Run.ErrorCode == rota.CodeTimeout
	}
	if !fine {
		a.Errorf("job %s, told to %s, ended %s %q: %s", j.ID, p.Behave, j.Run.Outcome, j.Run.ErrorCode, j.Run.Error)
	}
	if !staleWorker && !a.shared && reaped(j) {
		a.Errorf("job %s of an earlier life was left to the reaper: %s", j.ID, j.Run.Error)
	}
	if !cut && !good && p.Behave == "permanent" && j.Sequel == rota.SequelRetry {
		a.Errorf("job %s failed for good and was retried", j.ID)
	}
}

// reaped says that the holder of a job's lease was not heard of any more.
func reaped(j *rota.Job) bool {
	return j != nil && j.Run != nil && strings.HasPrefix(j.Run.Error, "lease expired")
}

// cancels: what was cancelled is so, and what was asked to stop was not tried
// again. (That nothing without a run was started is seen by started.)
func (a *audit) cancels() {
	for id := range a.answers.cancelled {
		if j := a.jobs[id]; j == nil || j.State() != rota.StateCancelled {
			a.Errorf("job %s was cancelled, and is not: %+v", id, j)
		}
	}
	for id := range a.answers.stopping {
		chain := a.chains[id]
		if len(chain) == 0 {
			a.Errorf("execution %s was asked to stop and is gone", id)
			continue
		}
		tail := chain[len(chain)-1]
		if s := tail.State(); s != rota.StateCancelled && s != rota.StateCompleted {
			a.Errorf("execution %s was asked to stop and is %s", id, s)
		}
	}
}

// pauses: nothing of a type started between the answer to its pause and the
// request to resume it. Where several processes work, one that is stopped between
// hearing the time and looking at the type tells the former: there its handler has
// to have begun within the pause, too, and one that never did tells nothing.
func (a *audit) pauses() {
	for _, j := range a.jobs {
		if j.Type != steps || j.Run == nil {
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
		for _, p := range a.answers.paused {
			if j.StartedAt.After(p.from) && began.Before(p.to) {
				a.Errorf("job %s started at %s and its handler began at %s, while its type was paused from %s to %s",
					j.ID, j.StartedAt, began, p.from, p.to)
			}
		}
	}
}
