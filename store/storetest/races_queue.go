package storetest

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// races returns the races of two commands. Each of a pair reads what the other writes.
func races() []race {
	return slices.Concat(scheduleRaces(), dropRaces(), leaseRaces(), accessRaces(), secretRaces(), []race{
		{"the end of a member against the cancel of the next: the third has the turn", endAgainstMember, thirdHasTurn},
		{"two members end concurrently: the third has the turn", endAgainstEnd, thirdHasTurn},
		{"a permanent failure against a failure: a stopped group has no retry", permanentAgainstFailure, allMembersEnded},
		{"the end of a member against the cancel of its group: no member starts", endAgainstCancel, allMembersEnded},
		{"two claims at a limit: one job runs", claimAgainstClaim, oneRuns},
		{"a claim against an edit of priority at a key limit: one job runs", claimAgainstEdit, oneRuns},
		{"a claim against a delay of the only job", claimAgainstDelay, claimedOrDelayed},
		{"a claim against a run now at a key limit: one job runs", claimAgainstRunNow, oneRuns},
		{"a run now against the end of the running job of its key: the job is claimable", runNowAgainstEnd, oneOfKeyClaimable},
		{"a run now against a ready of the same job: the job is claimable", runNowAgainstReady, oneOfKeyClaimable},
		{"a claim against a direct run at a limit: one job runs", claimAgainstDirect, oneRuns},
		{"an enqueue against the end of the running job of its key: the job is claimable", enqueueAgainstEnd, oneOfKeyClaimable},
		{"a due job against the end of the running job of its key: the job is claimable", readyAgainstEnd, oneOfKeyClaimable},
		{"an enqueue against the end of the running job of its key and type: the job is claimable", enqueueAgainstEndOfType, oneOfKeyClaimable},
		{"a new limit of each key against an enqueue: a sweep holds the job back", eachKeyAgainstEnqueue, twoOfKeyReady},
		{"a changed limit of each key against the sweep of the last change: the change is applied", eachKeyAgainstSweep, twoOfKeyReady},
		{"a lowered limit against an enqueue", throttleAgainstEnqueue, func(*story, rota.Result, rota.Result) {}},
		{"a reserve against a claim of its node: later claims take nothing", reserveAgainstClaim, reservedOrClaimed},
		{"a reserve against a reserve: one is refused", reserveAgainstReserve, oneRefused},
		{"a release against a direct run: one is refused", releaseAgainstDirect, oneRefused},
		{"a pause against a claim", pauseAgainstClaim, func(*story, rota.Result, rota.Result) {}},
		{"a prune against a redrive", pruneAgainstRedrive, prunedOrRedriven},
		{"a redrive against a redrive: one is refused", redriveAgainstRedrive, oneRefused},
		{"two prunes of the last members of a group: the group is removed", pruneAgainstPrune, groupRemoved},
	})
}

func (y *story) finishCommand(j *rota.Job, outcome rota.Outcome, permanent bool) *rota.Finish {
	it := rota.FinishItem{LeaseRef: leaseOf(j), Outcome: outcome, Permanent: permanent}
	return &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{it}}
}

func endAgainstMember(y *story) (a, b rota.Command) {
	_, jobs := y.groupOfThree(rota.GroupSequential, "")
	return y.finishCommand(y.claimOne(), rota.OutcomeCompleted, false), y.cancelCommand(jobs[1].ID)
}

// endAgainstEnd ends the member whose turn it is and the next one.
func endAgainstEnd(y *story) (a, b rota.Command) {
	_, jobs := y.groupOfThree(rota.GroupSequential, "")
	return y.cancelCommand(jobs[0].ID), y.cancelCommand(jobs[1].ID)
}

// thirdHasTurn wants the last of three members to have the turn.
func thirdHasTurn(y *story, _, _ rota.Result) {
	y.Helper()
	jobs := y.claim(5)
	want(y, "claimed", len(jobs), 1)
	if len(jobs) == 1 {
		want(y, "position of the member with the turn", jobs[0].GroupPosition, 3)
	}
}

func permanentAgainstFailure(y *story) (a, b rota.Command) {
	y.groupOfThree(rota.GroupParallel, rota.FailureStop)
	jobs := y.claim(2)
	return y.finishCommand(jobs[0], rota.OutcomeFailed, true), y.finishCommand(jobs[1], rota.OutcomeFailed, false)
}

func endAgainstCancel(y *story) (a, b rota.Command) {
	id, _ := y.groupOfThree(rota.GroupSequential, "")
	done := y.finishCommand(y.claimOne(), rota.OutcomeCompleted, false)
	return done, &rota.CancelGroup{Meta: y.ids.meta(), GroupID: id}
}

func allMembersEnded(y *story, _, _ rota.Result) {
	y.Helper()
	for _, j := range y.allJobs() {
		if !j.Ended() {
			y.Errorf("member %d, attempt %d, is still %s", j.GroupPosition, j.Attempt, j.State())
		}
	}
}

func claimAgainstClaim(y *story) (a, b rota.Command) {
	y.throttle(rota.ThrottleSpec{Global: 1})
	y.enqueue(rota.NewJob{})
	y.enqueue(rota.NewJob{Type: "other"})
	return y.claimCommand(1), y.claimCommand(1, "other")
}

func claimAgainstEdit(y *story) (a, b rota.Command) {
	jobs := y.enqueueLimited(1, 2)
	return y.claimCommand(1), y.editCommand(jobs[1].ID, toPriority(1))
}

func claimAgainstDelay(y *story) (a, b rota.Command) {
	return y.claimCommand(1), y.editCommand(y.enqueue(rota.NewJob{}).ID, toDelay(time.Hour))
}

func claimedOrDelayed(y *story, claimed, delayed rota.Result) {
	y.Helper()
	want(y, "claimed", len(claimed.Reply.(*rota.Claimed).Jobs), count(delayed.Err != nil))
}

func claimAgainstRunNow(y *story) (a, b rota.Command) {
	delayed := jobOfKey(1)
	delayed.Delay = time.Hour
	y.enqueueLimited(1, 1)
	return y.claimCommand(1), y.editCommand(y.enqueue(delayed).ID, runsNow)
}

func runNowAgainstEnd(y *story) (a, b rota.Command) {
	delayed := jobOfKey(0)
	delayed.Delay = time.Hour
	y.enqueueLimited(1, 1)
	waiting := y.enqueue(delayed)
	return y.finishCommand(y.claimOne(), rota.OutcomeCompleted, false), y.editCommand(waiting.ID, runsNow)
}

func runNowAgainstReady(y *story) (a, b rota.Command) {
	j := y.enqueue(rota.NewJob{Delay: time.Minute})
	y.advance(time.Minute)
	return &rota.Ready{Meta: y.ids.meta()}, y.editCommand(j.ID, runsNow)
}

func claimAgainstDirect(y *story) (a, b rota.Command) {
	y.throttle(rota.ThrottleSpec{Global: 1})
	y.enqueue(rota.NewJob{})
	claim := y.claimCommand(1)
	claim.Worker = "w2"
	return claim, y.directCommand(y.reserve(), rota.NewJob{})
}

// oneRuns wants one job to run, and no other to be claimable.
func oneRuns(y *story, _, _ rota.Result) {
	y.Helper()
	running := 0
	for _, j := range y.allJobs() {
		running += count(j.State() == rota.StateRunning)
	}
	want(y, "running", running, 1)
	want(y, "claimed beside it", len(y.claimBy("w3", 5)), 0)
}

func enqueueAgainstEnd(y *story) (a, b rota.Command) {
	y.enqueueLimited(1, 1)
	j := y.claimOne()
	return y.finishCommand(j, rota.OutcomeCompleted, false), y.enqueueCommand(jobOfKey(0))
}

func readyAgainstEnd(y *story) (a, b rota.Command) {
	n := jobOfKey(0)
	n.Delay = time.Minute
	y.enqueueLimited(1, 1)
	y.enqueue(n)
	j := y.claimOne()
	y.advance(time.Minute)
	return y.finishCommand(j, rota.OutcomeCompleted, false), &rota.Ready{Meta: y.ids.meta()}
}

func oneOfKeyClaimable(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "claimed", len(y.claim(5)), 1)
}

func throttleAgainstEnqueue(y *story) (a, b rota.Command) {
	y.enqueueLimited(2, 1)
	y.claimOne()
	return &rota.PutThrottle{Meta: y.ids.meta(), Spec: keyLimit("db", 1)}, y.enqueueCommand(jobOfKey(0))
}

func enqueueAgainstEndOfType(y *story) (a, b rota.Command) {
	y.throttle(eachKeyOfType("mail", 1))
	y.ofKey("other", "db", 2)
	y.enqueue(jobOfKey(0))
	return y.finishCommand(y.claimOne(), rota.OutcomeCompleted, false), y.enqueueCommand(jobOfKey(0))
}

func eachKeyAgainstEnqueue(y *story) (a, b rota.Command) {
	y.ofKey("mail", "db", 2)
	return &rota.PutThrottle{Meta: y.ids.meta(), Spec: eachKey("d*", 2)}, y.enqueueCommand(jobOfKey(0))
}

func eachKeyAgainstSweep(y *story) (a, b rota.Command) {
	y.ofKey("mail", "db", 3)
	y.throttle(eachKey("*", 1))
	return &rota.PutThrottle{Meta: y.ids.meta(), Spec: eachKey("*", 2)}, &rota.Sweep{Meta: y.ids.meta()}
}

// twoOfKeyReady wants two of three jobs of the key to be ready once the sweeps are done.
func twoOfKeyReady(y *story, _, _ rota.Result) {
	y.Helper()
	y.sweepAll(0)
	want(y, "ready", len(y.queue()), 2)
}

func reserveAgainstClaim(y *story) (a, b rota.Command) {
	y.enqueue(rota.NewJob{})
	return y.reserveCommand(), y.claimCommand(1)
}

func reservedOrClaimed(y *story, reserved, _ rota.Result) {
	y.Helper()
	want(y, "refused", reserved.Err, nil)
	want(y, "claimed by the reserved node", len(y.claim(5)), 0)
}

func reserveAgainstReserve(y *story) (a, b rota.Command) {
	return y.reserveCommand(), y.reserveCommand()
}

func oneRefused(y *story, a, b rota.Result) {
	y.Helper()
	want(y, "refused", count(a.Err != nil)+count(b.Err != nil), 1)
}

func releaseAgainstDirect(y *story) (a, b rota.Command) {
	r := y.reserve()
	return &rota.Release{Meta: y.ids.meta(), ReservationID: r.ID}, y.directCommand(r, rota.NewJob{})
}

func pauseAgainstClaim(y *story) (a, b rota.Command) {
	y.declareType("mail", rota.TypeSpec{})
	y.enqueue(rota.NewJob{})
	return &rota.SwitchType{Meta: y.ids.meta(), Name: "mail", Paused: true}, y.claimCommand(1)
}

func pruneAgainstRedrive(y *story) (a, b rota.Command) {
	j := y.running(rota.NewJob{})
	y.failPermanently(j)
	return &rota.Prune{Meta: y.ids.meta(), Executions: []rota.ID{j.ID}}, y.redriveCommand(j.ID)
}

func prunedOrRedriven(y *story, pruned, redriven rota.Result) {
	y.Helper()
	want(y, "pruned", pruned.Reply.(*rota.Pruned).Executions, 1)
	want(y, "jobs left", len(y.allJobs()), count(redriven.Err == nil))
}

func redriveAgainstRedrive(y *story) (a, b rota.Command) {
	j := y.running(rota.NewJob{})
	y.failPermanently(j)
	return y.redriveCommand(j.ID), y.redriveCommand(j.ID)
}

func pruneAgainstPrune(y *story) (a, b rota.Command) {
	y.enqueueGroup(rota.GroupParallel, "", rota.NewJob{}, rota.NewJob{})
	var prunes []rota.Command
	for _, j := range y.claim(2) {
		y.complete(j)
		prunes = append(prunes, &rota.Prune{Meta: y.ids.meta(), Executions: []rota.ID{j.ID}})
	}
	return prunes[0], prunes[1]
}

func groupRemoved(y *story, _, _ rota.Result) {
	y.Helper()
	list, err := y.s.Groups(y.ctx, rota.ID{}, 0)
	want(y, "groups", len(must(y, "groups", list, err)), 0)
}
