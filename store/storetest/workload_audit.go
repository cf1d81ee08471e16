package storetest

import (
	"math/rand/v2"
	"time"

	"github.com/rotajobs/rota"
)

// drainQueue has one claimer end the jobs that are left, so that every execution ends.
func (l *ledger) drainQueue(y *story) {
	done := make(chan struct{})
	close(done)
	for l.reap(y, 0) || l.hasReady(y) {
		l.claimer(y, rand.New(rand.NewPCG(1, 1)), done)
	}
}

func (l *ledger) hasReady(y *story) bool {
	apply[*rota.Readied](y, time.Now().Add(reaperClockOffset), &rota.Ready{Meta: rota.NewMeta("")})
	return len(y.queue()) > 0
}

// audit compares the rows with the ledger.
func (l *ledger) audit(y *story) {
	for _, f := range l.faults {
		y.Error(f)
	}
	executions := map[rota.ID][]*rota.Job{}
	for _, j := range y.allJobs() {
		executions[j.ExecutionID] = append(executions[j.ExecutionID], j)
		l.auditJob(y, j)
	}
	want(y, "executions", len(executions), len(l.created))
	ends := map[string]int{}
	holders := map[string]rota.ID{}
	for id, jobs := range executions {
		if !l.created[id] {
			y.Errorf("execution %s was not created by an enqueue", id)
		}
		tail := auditChain(y, id, len(jobs))
		end := endOf(y, tail)
		ends[end]++
		if key := tail.UniqueKey; key != "" && end == "completed" {
			if other, held := holders[key]; held {
				y.Errorf("key %s is held by both %s and %s", key, other, id)
			}
			holders[key] = id
		}
	}
	want(y, "completed, dead and cancelled", ends["completed"]+ends["dead"]+ends["cancelled"], len(l.created))
	if found := violations(y.ctx, y.s); found != "" {
		y.Errorf("verify found:\n%s", found)
	}
	y.Logf("%d executions, %d runs, %d reaped: %v", len(executions), len(l.claims), len(l.expired), ends)
}

// auditJob compares a job with the answers to its claim, its finish and its reap.
func (l *ledger) auditJob(y *story, j *rota.Job) {
	run, claimed := l.claims[j.ID]
	if j.Run == nil {
		want(y, "a job that never ran was claimed", claimed, false)
		want(y, "its status", j.Status, rota.StatusCancelled)
		return
	}
	want(y, "the run of its only claim", j.Run.ID, run)
	if j.Run.Open() || j.FinishedAt.IsZero() || j.Sequel == "" {
		y.Errorf("%s ran and did not end: outcome %q, sequel %q", j.ID, j.Run.Outcome, j.Sequel)
	}
	answer, finished := l.finished[j.ID]
	expired := j.Run.ErrorCode == rota.CodeLeaseExpired
	want(y, "reaped as the reap reported", expired, l.expired[j.ID])
	switch {
	case expired && finished:
		want(y, "answer to the former holder", answer.Code, rota.LeaseLost)
	case !expired:
		want(y, "finished by its holder", finished, true)
		want(y, "answer to the holder", answer.Code, "")
		want(y, "the outcome", j.Run.Outcome, answer.Outcome)
	}
}

// auditChain wants the attempts of an execution to be a complete chain, and returns the last
// one.
func auditChain(y *story, id rota.ID, count int) *rota.Job {
	chain, err := y.s.Execution(y.ctx, id)
	if err != nil || len(chain) != count {
		y.Fatalf("execution %s has %d jobs, %d are listed: %v", id, count, len(chain), err)
	}
	before := rota.ID{}
	for i, j := range chain {
		want(y, "attempt", j.Attempt, i+1)
		want(y, "retry of", j.RetryOf, before)
		before = j.ID
		if last := i == len(chain)-1; (j.Sequel != rota.SequelRetry) != last {
			y.Errorf("attempt %d of %d has sequel %s", i+1, len(chain), j.Sequel)
		}
	}
	tail := chain[len(chain)-1]
	if tail.Attempt > tail.Policy.MaxAttempts {
		y.Errorf("%s has %d attempts of at most %d", id, tail.Attempt, tail.Policy.MaxAttempts)
	}
	return tail
}

func endOf(y *story, tail *rota.Job) string {
	switch {
	case tail.State() == rota.StateCompleted:
		return "completed"
	case tail.State() == rota.StateCancelled:
		return "cancelled"
	case tail.Sequel == rota.SequelDead && tail.State() == rota.StateFailed:
		return "dead"
	}
	y.Errorf("%s ended neither completed, dead nor cancelled, but %s", tail.ID, tail.State())
	return "lost"
}
