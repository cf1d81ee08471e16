package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

// leaseRaces are races about one run, between the holder of its lease and a reap or a recovery.
func leaseRaces() []race {
	return []race{
		{"a finish against a reap: one of them sets the outcome", endAgainstReap, endedOnce},
		{"a finish against a recovery: one of them sets the outcome", endAgainstRecover, endedOnce},
		{"a finish against a reap at a limit: the slot is freed once", slotAgainstReap, oneSlot},
	}
}

// reaperRaces are races in which heartbeats and reaps may skip runs that another caller has
// locked.
func reaperRaces() []manyRace {
	return []manyRace{
		{"heartbeats against reaps: each lease is either kept or lost", heartbeatsAgainstReaps, keptOrLost},
		{"concurrent reaps: each run is reaped once", manyReaps, reapedOnce},
	}
}

func (y *story) reapCommand() *rota.Reap {
	return &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnationOther}
}

func endAgainstReap(y *story) (a, b rota.Command) {
	j := y.running(rota.NewJob{})
	y.advance(time.Hour)
	return y.finishCommand(j, rota.OutcomeCompleted, false), y.reapCommand()
}

func endAgainstRecover(y *story) (a, b rota.Command) {
	j := y.running(rota.NewJob{})
	return y.finishCommand(j, rota.OutcomeCompleted, false), &rota.Recover{Meta: y.ids.meta(), Runner: "w1", Incarnation: incarnationTwo}
}

// settledBy returns what a reap or a recovery has settled.
func settledBy(r rota.Result) []rota.Settlement {
	switch reply := r.Reply.(type) {
	case *rota.Reaped:
		return reply.Jobs
	case *rota.Recovered:
		return reply.Jobs
	}
	return nil
}

func endedOnce(y *story, finished, settled rota.Result) {
	y.Helper()
	completed := finished.Reply.(*rota.Finished).Items[0].Code == ""
	want(y, "settled by the reap or recovery", len(settledBy(settled)), count(!completed))
	jobs := y.allJobs()
	want(y, "attempts", len(jobs), 1+count(!completed))
	outcome := map[bool]rota.Outcome{true: rota.OutcomeCompleted, false: rota.OutcomeFailed}[completed]
	want(y, "outcome", jobs[len(jobs)-1].Run.Outcome, outcome)
}

// slotAgainstReap frees the only slot of a key for which two other jobs wait.
func slotAgainstReap(y *story) (a, b rota.Command) {
	y.enqueueLimited(1, 3)
	j := y.claimOne()
	y.advance(time.Hour)
	return y.finishCommand(j, rota.OutcomeCompleted, false), y.reapCommand()
}

func oneSlot(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "claimed", len(y.claim(5)), 1)
	want(y, "claimed beside it", len(y.claim(5)), 0)
}

// raceCallers is how many heartbeats, or reaps, run concurrently.
const raceCallers = 5

// staleRuns returns runs whose leases are stale.
func (y *story) staleRuns(runs int) []*rota.Job {
	y.Helper()
	y.enqueueMany(runs)
	jobs := y.claim(runs)
	y.advance(time.Hour)
	return jobs
}

// heartbeatsAgainstReaps creates one stale run for each heartbeat.
func heartbeatsAgainstReaps(y *story) (commands []rota.Command) {
	for _, j := range y.staleRuns(raceCallers) {
		heartbeat := &rota.Extend{Meta: y.ids.meta(), Lease: lease, Items: []rota.ExtendItem{{LeaseRef: leaseOf(j)}}}
		commands = append(commands, heartbeat, y.reapCommand())
	}
	return commands
}

// keptOrLost wants no lease to be both reaped and kept. A heartbeat that skipped a locked run
// is answered with a time in the past.
func keptOrLost(y *story, results []rota.Result) {
	y.Helper()
	kept, reaped := 0, 0
	for _, r := range results {
		if heartbeat, ok := r.Reply.(*rota.Extended); ok {
			answer := heartbeat.Items[0]
			kept += count(answer.Code == "" && answer.StaleAfter.After(y.now))
		}
		reaped += len(settledBy(r))
	}
	open := 0
	for _, j := range y.allJobs() {
		open += count(j.Run != nil && j.Run.Open())
	}
	want(y, "kept and reaped", kept+reaped, raceCallers)
	want(y, "open", open, kept)
	want(y, "jobs", len(y.allJobs()), raceCallers+reaped)
}

func manyReaps(y *story) (commands []rota.Command) {
	y.staleRuns(3)
	for range raceCallers {
		commands = append(commands, y.reapCommand())
	}
	return commands
}

func reapedOnce(y *story, results []rota.Result) {
	y.Helper()
	seen := map[rota.ID]int{}
	for _, r := range results {
		for _, s := range settledBy(r) {
			seen[s.JobID]++
			want(y, "reaped", seen[s.JobID], 1)
		}
	}
	want(y, "runs reaped", len(seen), 3)
	want(y, "jobs", len(y.allJobs()), 6)
}
