package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

// leaseRaces are those for one run, between who has its lease and who takes it
// for dead.
func leaseRaces() []race {
	return []race{
		{"an end against a reaper: one of them says how it ended", endAgainstReap, endedOnce},
		{"an end against a recovery: one of them says how it ended", endAgainstRecover, endedOnce},
		{"an end against a reaper, at a limit: the slot is free once", slotAgainstReap, oneSlot},
	}
}

// reaperRaces are for runs that heartbeats and reapers may pass over, since
// another has them in hand.
func reaperRaces() []manyRace {
	return []manyRace{
		{"heartbeats against reapers: a lease is kept or lost", heartbeatsAgainstReaps, keptOrLost},
		{"reapers at once: each run is reaped by one", manyReaps, reapedOnce},
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

// settledBy is what a reaper or a recovery has settled.
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
	want(y, "settled by who took it for dead", len(settledBy(settled)), count(!completed))
	jobs := y.allJobs()
	want(y, "attempts", len(jobs), 1+count(!completed))
	outcome := map[bool]rota.Outcome{true: rota.OutcomeCompleted, false: rota.OutcomeFailed}[completed]
	want(y, "outcome", jobs[len(jobs)-1].Run.Outcome, outcome)
}

// slotAgainstReap frees the only slot of a key, for which two others wait.
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

// raceCallers are how many heartbeats, or reapers, come at once.
const raceCallers = 5

// staleRuns are runs whose leases are over.
func (y *story) staleRuns(runs int) []*rota.Job {
	y.Helper()
	y.enqueueMany(runs)
	jobs := y.claim(runs)
	y.advance(time.Hour)
	return jobs
}

// heartbeatsAgainstReaps has as many runs as there are heartbeats, one for each.
func heartbeatsAgainstReaps(y *story) (commands []rota.Command) {
	for _, j := range y.staleRuns(raceCallers) {
		heartbeat := &rota.Extend{Meta: y.ids.meta(), Lease: lease, Items: []rota.ExtendItem{{LeaseRef: leaseOf(j)}}}
		commands = append(commands, heartbeat, y.reapCommand())
	}
	return commands
}

// keptOrLost wants no lease to be both reaped and kept. Who was passed over is
// told the time of a lease that is over.
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
