//go:build unix

package txcrash

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

// checkOrders checks that each row has the jobs that it says, that each job has its row,
// and that the rows are those of the transactions that were committed.
func (a *audit) checkOrders() {
	for _, chain := range a.chains {
		a.checkTask(chain[0])
	}
	for id, o := range a.orders {
		if len(o.found) != o.jobs {
			a.Errorf("order %s (%s) has %d jobs, its row says %d", id, o.story, len(o.found), o.jobs)
		}
		if o.duplicate != "" && a.jobs[o.duplicate] == nil {
			a.Errorf("order %s (%s) was given job %s, which does not exist", id, o.story, o.duplicate)
		}
		switch a.ledger[id] {
		case rolledBack:
			a.Errorf("order %s (%s) was rolled back and has a row", id, o.story)
		case unknown:
			a.counts["unknown orders that were committed"]++
		case "":
			a.counts["orders of killed processes that were committed"]++
		}
	}
	for id, outcome := range a.ledger {
		if outcome == committed && a.orders[id] == nil && a.jobs[id] == nil {
			a.Errorf("%s was committed and does not exist", id)
		}
	}
}

// checkTask checks the first job of an execution.
func (a *audit) checkTask(j *rota.Job) {
	task := a.taskOf(j)
	o := a.orders[task.Order]
	switch {
	case j.Attempt != 1:
		a.Errorf("job %s of order %s is attempt %d, and the first of its execution", j.ID, task.Order, j.Attempt)
	case o == nil:
		a.Errorf("job %s of order %s has no row", j.ID, task.Order)
	case task.Undone:
		a.Errorf("job %s of order %s (%s) was rolled back", j.ID, task.Order, o.story)
	case o.found[task.Number]:
		a.Errorf("order %s (%s) has two jobs %d", task.Order, o.story, task.Number)
	default:
		o.found[task.Number] = true
	}
}

// checkExecutions checks that an execution has one row of its handlers if it completed, and
// none otherwise, and that each attempt that did not commit was retried.
func (a *audit) checkExecutions() {
	for id, chain := range a.chains {
		slices.SortFunc(chain, func(x, y *rota.Job) int { return cmp.Compare(x.Attempt, y.Attempt) })
		effects := 0
		for i, j := range chain {
			a.checkAttempt(j, i+1, i == len(chain)-1)
			effects += len(a.effects[j.ID.String()])
			for _, execution := range a.effects[j.ID.String()] {
				if execution != id {
					a.Errorf("job %s of execution %s has a row of execution %s", j.ID, id, execution)
				}
			}
		}
		last := chain[len(chain)-1]
		completed := last.State() == rota.StateCompleted
		if effects > 1 || completed != (effects == 1) {
			a.Errorf("execution %s is %s and has %d rows", id, last.State(), effects)
		}
		a.counts["executions "+string(last.State())]++
	}
	for job := range a.effects {
		if a.jobs[job] == nil {
			a.Errorf("a row belongs to job %s, which does not exist", job)
		}
	}
}

// checkAttempt compares one attempt with its row and with what its handler knew.
func (a *audit) checkAttempt(j *rota.Job, number int, last bool) {
	id, known := j.ID.String(), a.ledger[j.ID.String()]
	switch {
	case j.Attempt != number:
		a.Errorf("job %s is attempt %d, and number %d of its execution", id, j.Attempt, number)
	case !j.Ended() || j.Run == nil:
		a.Errorf("job %s has not ended: %s", id, j.State())
		return
	case last == (j.Sequel == rota.SequelRetry):
		a.Errorf("job %s is the last of its execution: %t, but its sequel is %q", id, last, j.Sequel)
	case j.Run.Outcome == rota.OutcomeFailed && j.Attempt < j.Policy.MaxAttempts && j.Sequel != rota.SequelRetry:
		a.Errorf("job %s failed at attempt %d of %d and was not retried: %q", id, j.Attempt, j.Policy.MaxAttempts, j.Sequel)
	}
	completed := j.Run.Outcome == rota.OutcomeCompleted
	rows := len(a.effects[id])
	a.counts[fmt.Sprintf("runs %s %s", j.Run.Outcome, j.Run.ErrorCode)]++
	switch {
	case rows > 1 || completed != (rows == 1):
		a.Errorf("job %s is %s (%s) and has %d rows", id, j.Run.Outcome, j.Run.ErrorCode, rows)
	case known == committed && !completed:
		a.Errorf("the end of job %s was committed, but it is %s: %s %s", id, j.Run.Outcome, j.Run.ErrorCode, j.Run.Error)
	case known == rolledBack && completed:
		a.Errorf("the end of job %s was rolled back, but it is COMPLETED", id)
	case known != "" && !completed && j.Run.ErrorCode != rota.CodeUncommitted && j.Run.ErrorCode != rota.CodeLeaseExpired:
		a.Errorf("the end of job %s was not committed, but its code is %q: %s", id, j.Run.ErrorCode, j.Run.Error)
	case known == unknown && completed:
		a.counts["unknown runs that were committed"]++
	}
}

// checkCounts fails if the test saw too little to prove something.
func (a *audit) checkCounts() {
	a.Logf("%d orders, %d executions, %d jobs; %v", len(a.orders), len(a.chains), len(a.jobs), a.counts)
	all := []string{"order committed", "order rolledback", "run committed", "run rolledback", "runs COMPLETED ", "runs FAILED " + rota.CodeUncommitted}
	if a.kills >= 200 { // a short test may not reach the others
		for _, story := range append(storyNames, "chain") {
			if story != "rolled back" {
				all = append(all, "story "+story)
			}
		}
		all = append(all, "runs FAILED "+rota.CodeLeaseExpired, "orders of killed processes that were committed")
		if a.kind == onPostgres {
			all = append(all, "unknown orders that were committed", "unknown runs that were committed")
		}
	}
	for _, what := range all {
		if a.counts[what] == 0 {
			a.Errorf("the test saw no %q, so it proves nothing about that", what)
		}
	}
}
