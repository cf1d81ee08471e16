package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// repeatedCommand is a command that is sent twice.
type repeatedCommand struct {
	name             string
	command          func(*story) rota.Command
	doesNothingAgain bool // the second answer reports that nothing was left to do
}

// testResend sends each command, and the same batch again later. The second batch must not
// change the store, and its answer must contain the same rows.
func testResend(t *testing.T, h Harness) {
	for _, one := range resendCommands() {
		t.Run(one.name+" sent again changes nothing", func(t *testing.T) {
			y := newStory(t, h)
			c := one.command(y)
			first := y.send(c)
			after := y.dump()
			y.advance(time.Second)
			second := y.send(c)
			y.wantUnchanged(after)
			if one.doesNothingAgain {
				y.wantNothingDone(second[0])
			} else if diff := difference(Answers(first), Answers(second)); diff != "" {
				y.Errorf("the answers differ:\n%s", diff)
			}
		})
	}
}

// testExpectAgain sends each command with an expectation that no longer holds when it is sent again. It must be
// answered as applied. A note has no such answer: a store does not read the progress that it replaces.
func testExpectAgain(t *testing.T, h Harness) {
	for _, one := range slices.DeleteFunc(resendCommands(), func(c repeatedCommand) bool { return c.name == "note" }) {
		t.Run(one.name+" sent again is answered although its expectation no longer holds", func(t *testing.T) {
			y := newStory(t, h)
			c := one.command(y)
			c.Head().Expect = []rota.Expectation{y.expectTemplate("expected")}
			first := y.send(c)
			y.advance(time.Second)
			y.declareTemplate("expected", rota.TemplateSpec{})
			after := y.dump()
			second := y.send(c)
			y.wantUnchanged(after)
			switch {
			case first[0].Err != nil: // what was refused may be refused for another reason
				want(y, "refused again", second[0].Err != nil, true)
			case one.doesNothingAgain:
				y.wantNothingDone(second[0])
			default:
				want(y, "difference of the answers", difference(Answers(first), Answers(second)), "")
			}
		})
	}
}

// resendCommands returns all commands, each with rows that it changes.
func resendCommands() []repeatedCommand {
	return append(append(resendDefinitionCommands(), resendAccessCommands()...), []repeatedCommand{
		{"enqueue", resendEnqueue, false},
		{"claim", resendClaim, false},
		{"note", resendNote, false},
		{"finish", resendFinish, false},
		{"finish of a permanent failure", resendFinishDead, false},
		{"finish of a run asked to stop", resendFinishCancelled, false},
		{"cancel in the queue", resendCancelQueued, false},
		{"cancel of a run", resendCancelRunning, false},
		{"edit", resendEdit, false},
		{"edit to a later time", resendEditLater, false},
		{"run now", resendRunNow, false},
		{"move", resendMove, false},
		{"move that renumbers", resendMoveRenumbers, false},
		{"all", resendAll, false},
		{"all that is refused", resendAllRefused, false},
		{"normalise", resendNormalise, true},
		{"ready", resendReady, true},
		{"reap", resendReap, true},
		{"recover", resendRecover, true},
	}...)
}

// testLateResend sends commands again after other commands have changed the rows.
func testLateResend(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"an enqueue sent again does not create a job that was a duplicate", lateEnqueue},
		{"a claim sent again after its runs ended takes no more jobs", lateClaim},
		{"a cancel sent again after its job completed is answered as before", lateCancel},
		{"a cancel by the first id finds the last of many attempts", cancelLongChain},
		{"an all sent again after one of its jobs changed is answered as before", lateAll},
		{"a note after the reap is answered with lease lost", lateNote},
	})
	runStories(t, h, lateDefinitionStories())
}

func lateEnqueue(y *story) {
	c := y.enqueueCommand(rota.NewJob{UniqueKey: "k"}, rota.NewJob{UniqueKey: "k"})
	first := do[*rota.Enqueued](y, c).Jobs[0].Job
	y.cancel(first.ID)
	before := y.dump()
	again := do[*rota.Enqueued](y, c).Jobs
	want(y, "the first", again[0].Job.ID, first.ID)
	want(y, "the second is a duplicate", again[1].Duplicate, true)
	want(y, "the second has no job", again[1].Job == nil, true)
	y.wantUnchanged(before)
}

func lateClaim(y *story) {
	y.enqueueMany(4)
	c := y.claimCommand(2)
	first := do[*rota.Claimed](y, c)
	claimed := first.Jobs
	y.complete(claimed[0])
	second := do[*rota.Claimed](y, c)
	open := second.Jobs
	want(y, "the first answer reports it as sent again", first.Again, false)
	want(y, "the second answer reports it as sent again", second.Again, true)
	wantIDs(y, "still open", idsOf(open), claimed[1])
	want(y, "its token", open[0].Run.Token, claimed[1].Run.Token)
	y.complete(claimed[1])
	before := y.dump()
	last := do[*rota.Claimed](y, c)
	want(y, "claimed when all runs have ended", len(last.Jobs), 0)
	want(y, "the last answer reports it as sent again", last.Again, true)
	y.wantUnchanged(before)
}

func lateCancel(y *story) {
	j := y.running(rota.NewJob{})
	c := y.cancelCommand(j.ID)
	want(y, "stopping", do[*rota.CancelledJob](y, c).Stopping, true)
	y.complete(j)
	before := y.dump()
	again := do[*rota.CancelledJob](y, c)
	want(y, "stopping", again.Stopping, false)
	want(y, "state", again.Job.State(), rota.StateCompleted)
	y.wantUnchanged(before)
}

func cancelLongChain(y *story) {
	const attempts = 520
	first := y.enqueue(rota.NewJob{MaxRetries: ptr(attempts), Backoff: ptr(time.Duration(0))})
	for range attempts {
		y.mustFinish(y.claim(1)[0], rota.FinishItem{Outcome: rota.OutcomeFailed})
	}
	got := y.cancel(first.ID)
	want(y, "attempt", got.Job.Attempt, attempts+1)
	want(y, "status", got.Job.Status, rota.StatusCancelled)
}

func lateAll(y *story) {
	j := y.running(rota.NewJob{})
	c := y.allOf(y.enqueueCommand(rota.NewJob{}), y.cancelCommand(j.ID))
	do[*rota.AllDone](y, c)
	y.complete(j)
	before := y.dump()
	do[*rota.AllDone](y, c)
	y.wantUnchanged(before)
}

func lateNote(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Hour)
	do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta()})
	before := y.dump()
	note := &rota.Note{Meta: y.ids.meta(), Items: []rota.NoteItem{{LeaseRef: leaseOf(j), Artifacts: []string{"late"}}}}
	want(y, "code", do[*rota.Noted](y, note).Items[0].Code, rota.LeaseLost)
	y.wantUnchanged(before)
}

// wantNothingDone wants an answer that reports no change.
func (y *story) wantNothingDone(r rota.Result) {
	y.Helper()
	done := -1
	switch reply := r.Reply.(type) {
	case *rota.Normalised:
		done = reply.Count
	case *rota.Readied:
		done = reply.Count
	case *rota.Reaped:
		done = len(reply.Jobs)
	case *rota.Recovered:
		done = len(reply.Jobs)
	case *rota.Expired:
		done = len(reply.Skipped) + len(reply.Freed)
		want(y, "expired by the second", reply.Reservation, rota.ID{})
	case *rota.Swept:
		done = reply.Count
	case *rota.Pruned:
		done = reply.Executions + reply.Jobs + len(reply.Kept)
	case *rota.CancelledGroup:
		done = reply.Cancelled + reply.Stopping
	case *rota.TypePut:
		done = count(reply.Changed)
	case *rota.TemplatePut:
		done = count(reply.Changed) + reply.Disabled
	case *rota.ThrottlePut:
		done = count(reply.Changed)
	case *rota.WebhooksPut:
		done = count(reply.Changed)
	case *rota.SchedulePut:
		done = count(reply.Changed)
	case *rota.TokenPut:
		done = count(reply.Changed)
	case *rota.OwnerSet:
		done = count(reply.Changed)
	case *rota.ScheduleDeleted:
		done = count(!reply.Gone)
	case *rota.SecretPut:
		done = count(reply.Changed)
	case *rota.SecretDeleted:
		done = count(!reply.Gone)
	case *rota.SecretsRewrapped:
		done = reply.Rewrapped
	case *rota.SecretKeyPromoted:
		done = count(reply.Changed)
	case *rota.PrincipalPut:
		done = count(reply.Changed)
	case *rota.PrincipalDropped:
		done = count(!reply.Gone)
	case *rota.Granted:
		done = count(reply.Changed)
	case *rota.TokenRevoked:
		done = count(reply.Changed)
	case *rota.TokensTouched:
		done = reply.Touched
	case *rota.AccessRecorded:
		done = reply.Recorded
	case *rota.Dropped:
		done = count(!reply.Gone) + reply.Cancelled + reply.Stopping
	}
	want(y, "done by the second", done, 0)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func resendEnqueue(y *story) rota.Command {
	y.enqueue(rota.NewJob{UniqueKey: "taken"})
	return y.enqueueCommand(
		rota.NewJob{}, rota.NewJob{ID: y.ids.next(), UniqueKey: "k"}, rota.NewJob{UniqueKey: "k"},
		rota.NewJob{UniqueKey: "taken"}, rota.NewJob{PlanTime: startTime}, rota.NewJob{PlanTime: startTime}, rota.NewJob{Delay: time.Hour},
	)
}

func resendClaim(y *story) rota.Command {
	y.enqueueMany(5)
	return y.claimCommand(3)
}

func resendNote(y *story) rota.Command {
	j := y.running(rota.NewJob{})
	it := rota.NoteItem{LeaseRef: leaseOf(j), Artifacts: []string{"a", "b"}, LogPath: "log", Progress: []byte("1")}
	return &rota.Note{Meta: y.ids.meta(), Items: []rota.NoteItem{it}}
}

func resendFinish(y *story) rota.Command {
	y.enqueueMany(4)
	jobs := y.claim(3)
	c := &rota.Finish{Meta: y.ids.meta()}
	for i, o := range []rota.Outcome{rota.OutcomeCompleted, rota.OutcomeFailed, rota.OutcomeSkipped} {
		c.Items = append(c.Items, rota.FinishItem{LeaseRef: leaseOf(jobs[i]), Outcome: o, Artifacts: []string{"a"}, Error: "e"})
	}
	return c
}

func resendFinishDead(y *story) rota.Command {
	j := y.running(keyed)
	return &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed, Permanent: true}}}
}

func resendFinishCancelled(y *story) rota.Command {
	j := y.running(keyed)
	y.cancel(j.ID)
	return &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed}}}
}

func resendCancelQueued(y *story) rota.Command { return y.cancelCommand(y.enqueueMany(2)[0].ID) }

func resendCancelRunning(y *story) rota.Command { return y.cancelCommand(y.running(rota.NewJob{}).ID) }

func resendEdit(y *story) rota.Command {
	j := y.enqueueMany(2)[0]
	return y.editCommand(j.ID, func(c *rota.Edit) { c.Priority, c.Params, c.Version = ptr(4), []byte(`{"b":1}`), &rota.ID{} })
}

func resendEditLater(y *story) rota.Command {
	return y.editCommand(y.enqueueMany(2)[0].ID, func(c *rota.Edit) {
		c.Delay, c.MergeParams = new(time.Hour), []byte(`{"b":1}`)
	})
}

func resendRunNow(y *story) rota.Command {
	j := y.running(rota.NewJob{MaxRetries: new(1)})
	y.fail(j)
	return y.editCommand(j.ID, runsNow)
}

func resendMove(y *story) rota.Command {
	jobs := y.enqueueMany(4)
	return &rota.Move{Meta: y.ids.meta(), JobID: jobs[3].ID, Place: rota.PlaceBefore, Anchor: jobs[1].ID, Version: &rota.ID{}}
}

func resendMoveRenumbers(y *story) rota.Command {
	row, spare := exhaustGap(y, 0)
	return &rota.Move{Meta: y.ids.meta(), JobID: spare.ID, Place: rota.PlaceAfter, Anchor: row[0].ID}
}

func resendAll(y *story) rota.Command {
	j := y.running(rota.NewJob{})
	queued := y.enqueueMany(2)
	fail := &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed}}}
	return y.allOf(fail, y.enqueueCommand(rota.NewJob{UniqueKey: "k"}), y.editCommand(queued[0].ID, toPriority(2)), y.cancelCommand(queued[1].ID))
}

func resendAllRefused(y *story) rota.Command {
	return y.allOf(y.enqueueCommand(rota.NewJob{}), y.cancelCommand(y.ids.next()))
}

func resendNormalise(y *story) rota.Command {
	exhaustGap(y, 0)
	return &rota.Normalise{Meta: y.ids.meta()}
}

func resendReady(y *story) rota.Command {
	y.enqueue(rota.NewJob{Delay: time.Second})
	y.enqueue(rota.NewJob{Delay: time.Hour})
	y.advance(time.Minute)
	return &rota.Ready{Meta: y.ids.meta()}
}

func resendReap(y *story) rota.Command {
	y.running(rota.NewJob{})
	y.advance(time.Hour)
	return &rota.Reap{Meta: y.ids.meta()}
}

func resendRecover(y *story) rota.Command {
	j := y.running(rota.NewJob{})
	y.running(rota.NewJob{})
	y.damage(j.ID, BreakRun)
	return &rota.Recover{Meta: y.ids.meta(), Runner: "w1", Incarnation: incarnationTwo}
}
