package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// repeated is a command that is sent twice.
type repeated struct {
	name   string
	make   func(*story) rota.Command
	silent bool // the second answer says that nothing is left to do
}

// testAgain sends each command, then the same batch later on: the store must
// stay as it is, and what answers for rows must answer with them again.
func testAgain(t *testing.T, h Harness) {
	for _, one := range againCommands() {
		t.Run(one.name+" sent again changes nothing", func(t *testing.T) {
			y := newStory(t, h)
			c := one.make(y)
			first := y.send(c)
			after := y.dump()
			y.pass(time.Second)
			second := y.send(c)
			y.unchanged(after)
			if one.silent {
				y.wantSilent(second[0])
			} else if diff := difference(Answers(first), Answers(second)); diff != "" {
				y.Errorf("the answers differ:\n%s", diff)
			}
		})
	}
}

// againCommands are all commands, each in a scene where it has something to do.
func againCommands() []repeated {
	return append(againCompany(), []repeated{
		{"enqueue", againEnqueue, false},
		{"claim", againClaim, false},
		{"note", againNote, false},
		{"finish", againFinish, false},
		{"finish that kills", againFinishDead, false},
		{"finish of a run asked to stop", againFinishCancelled, false},
		{"cancel in the queue", againCancelQueued, false},
		{"cancel of a run", againCancelRunning, false},
		{"edit", againEdit, false},
		{"move", againMove, false},
		{"move that renumbers", againMoveRenumbers, false},
		{"all", againAll, false},
		{"all that is refused", againAllRefused, false},
		{"normalise", againNormalise, true},
		{"ready", againReady, true},
		{"reap", againReap, true},
		{"recover", againRecover, true},
	}...)
}

// testLate sends commands again after the world has moved on.
func testLate(t *testing.T, h Harness) {
	tellAll(t, h, []tale{
		{"an enqueue does not create what was a duplicate then", lateEnqueue},
		{"a claim whose runs have ended takes nothing more", lateClaim},
		{"a cancel whose job completed all the same is answered as before", lateCancel},
		{"a cancel by the first id finds the end of a long chain", cancelLongChain},
		{"all is answered as before when a member's job has gone on", lateAll},
		{"a note by a former holder is told that the lease is lost", lateNote},
	})
	tellAll(t, h, lateCompany())
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
	y.unchanged(before)
}

func lateClaim(y *story) {
	y.enqueueMany(4)
	c := y.claimCommand(2)
	first := do[*rota.Claimed](y, c)
	took := first.Jobs
	y.complete(took[0])
	second := do[*rota.Claimed](y, c)
	open := second.Jobs
	want(y, "the first was sent before", first.Again, false)
	want(y, "the second was", second.Again, true)
	wantIDs(y, "still open", idsOf(open), took[1])
	want(y, "its token", open[0].Run.Token, took[1].Run.Token)
	y.complete(took[1])
	before := y.dump()
	last := do[*rota.Claimed](y, c)
	want(y, "taken when all have ended", len(last.Jobs), 0)
	want(y, "the last was sent before", last.Again, true)
	y.unchanged(before)
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
	y.unchanged(before)
}

func cancelLongChain(y *story) {
	const attempts = 520
	first := y.enqueue(rota.NewJob{MaxRetries: ptr(attempts), Backoff: ptr(time.Duration(0))})
	for range attempts {
		y.mustEnd(y.claim(1)[0], rota.FinishItem{Outcome: rota.OutcomeFailed})
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
	y.unchanged(before)
}

func lateNote(y *story) {
	j := y.running(rota.NewJob{})
	y.pass(time.Hour)
	do[*rota.Reaped](y, &rota.Reap{Meta: y.mint.meta()})
	before := y.dump()
	note := &rota.Note{Meta: y.mint.meta(), Items: []rota.NoteItem{{LeaseRef: leaseOf(j), Artifacts: []string{"late"}}}}
	want(y, "code", do[*rota.Noted](y, note).Items[0].Code, rota.LeaseLost)
	y.unchanged(before)
}

// wantSilent wants an answer that reports nothing done.
func (y *story) wantSilent(r rota.Result) {
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
		want(y, "given up by the second", reply.Reservation, rota.ID{})
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
	case *rota.ScheduleDeleted:
		done = count(!reply.Gone)
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

func againEnqueue(y *story) rota.Command {
	y.enqueue(rota.NewJob{UniqueKey: "taken"})
	return y.enqueueCommand(
		rota.NewJob{}, rota.NewJob{ID: y.mint.id(), UniqueKey: "k"}, rota.NewJob{UniqueKey: "k"},
		rota.NewJob{UniqueKey: "taken"}, rota.NewJob{PlanTime: dawn}, rota.NewJob{PlanTime: dawn}, rota.NewJob{Delay: time.Hour},
	)
}

func againClaim(y *story) rota.Command {
	y.enqueueMany(5)
	return y.claimCommand(3)
}

func againNote(y *story) rota.Command {
	j := y.running(rota.NewJob{})
	it := rota.NoteItem{LeaseRef: leaseOf(j), Artifacts: []string{"a", "b"}, LogPath: "log", Progress: []byte("1")}
	return &rota.Note{Meta: y.mint.meta(), Items: []rota.NoteItem{it}}
}

func againFinish(y *story) rota.Command {
	y.enqueueMany(4)
	jobs := y.claim(3)
	c := &rota.Finish{Meta: y.mint.meta()}
	for i, o := range []rota.Outcome{rota.OutcomeCompleted, rota.OutcomeFailed, rota.OutcomeSkipped} {
		c.Items = append(c.Items, rota.FinishItem{LeaseRef: leaseOf(jobs[i]), Outcome: o, Artifacts: []string{"a"}, Error: "e"})
	}
	return c
}

func againFinishDead(y *story) rota.Command {
	j := y.running(keyed)
	return &rota.Finish{Meta: y.mint.meta(), Items: []rota.FinishItem{{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed, Permanent: true}}}
}

func againFinishCancelled(y *story) rota.Command {
	j := y.running(keyed)
	y.cancel(j.ID)
	return &rota.Finish{Meta: y.mint.meta(), Items: []rota.FinishItem{{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed}}}
}

func againCancelQueued(y *story) rota.Command { return y.cancelCommand(y.enqueueMany(2)[0].ID) }

func againCancelRunning(y *story) rota.Command { return y.cancelCommand(y.running(rota.NewJob{}).ID) }

func againEdit(y *story) rota.Command {
	j := y.enqueueMany(2)[0]
	return y.editCommand(j.ID, func(c *rota.Edit) { c.Priority, c.Params, c.Version = ptr(4), []byte(`{"b":1}`), &rota.ID{} })
}

func againMove(y *story) rota.Command {
	jobs := y.enqueueMany(4)
	return &rota.Move{Meta: y.mint.meta(), JobID: jobs[3].ID, Place: rota.PlaceBefore, Anchor: jobs[1].ID, Version: &rota.ID{}}
}

func againMoveRenumbers(y *story) rota.Command {
	row, spare := squeeze(y, 0)
	return &rota.Move{Meta: y.mint.meta(), JobID: spare.ID, Place: rota.PlaceAfter, Anchor: row[0].ID}
}

func againAll(y *story) rota.Command {
	j := y.running(rota.NewJob{})
	queued := y.enqueueMany(2)
	fail := &rota.Finish{Meta: y.mint.meta(), Items: []rota.FinishItem{{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed}}}
	return y.allOf(fail, y.enqueueCommand(rota.NewJob{UniqueKey: "k"}), y.editCommand(queued[0].ID, toPriority(2)), y.cancelCommand(queued[1].ID))
}

func againAllRefused(y *story) rota.Command {
	return y.allOf(y.enqueueCommand(rota.NewJob{}), y.cancelCommand(y.mint.id()))
}

func againNormalise(y *story) rota.Command {
	squeeze(y, 0)
	return &rota.Normalise{Meta: y.mint.meta()}
}

func againReady(y *story) rota.Command {
	y.enqueue(rota.NewJob{Delay: time.Second})
	y.enqueue(rota.NewJob{Delay: time.Hour})
	y.pass(time.Minute)
	return &rota.Ready{Meta: y.mint.meta()}
}

func againReap(y *story) rota.Command {
	y.running(rota.NewJob{})
	y.pass(time.Hour)
	return &rota.Reap{Meta: y.mint.meta()}
}

func againRecover(y *story) rota.Command {
	j := y.running(rota.NewJob{})
	y.running(rota.NewJob{})
	y.damage(j.ID, BreakRun)
	return &rota.Recover{Meta: y.mint.meta(), Runner: "w1", Incarnation: lifeTwo}
}
