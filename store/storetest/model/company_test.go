package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func TestAKeyKeepsAsManyReadyAsMayStart(t *testing.T) {
	w := newWorld(t)
	w.limit(rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "k", Concurrency: 1}}})
	do[*rota.Swept](w, &rota.Sweep{Meta: meta()})
	list := jobs(3)
	for i := range list {
		list[i].ConcurrencyKey = new("k")
	}
	made := do[*rota.Enqueued](w, &rota.Enqueue{Meta: meta(), Jobs: list}).Jobs
	for i, want := range []rota.Hold{0, rota.HoldKey, rota.HoldKey} {
		if made[i].Job.Hold != want {
			t.Errorf("job %d has hold %d", i, made[i].Job.Hold)
		}
	}
	do[*rota.Moved](w, &rota.Move{Meta: meta(), JobID: made[2].Job.ID, Place: rota.PlaceTop})
	w.wantState(made[2].Job.ID, rota.StateQueued)
	w.wantState(made[0].Job.ID, rota.StateBlocked)
	running := w.claim(5).Jobs
	if len(running) != 1 || running[0].ID != made[2].Job.ID {
		t.Fatalf("claimed %d", len(running))
	}
	w.wantState(made[0].Job.ID, rota.StateBlocked)
	w.finish(running[0], rota.OutcomeCompleted)
	w.wantState(made[0].Job.ID, rota.StateQueued)
}

func TestARateSaysWhenItHasRoom(t *testing.T) {
	w := newWorld(t)
	w.limit(rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "mail", Rate: rota.Rate{Count: 2, Per: time.Minute}}}})
	do[*rota.Enqueued](w, &rota.Enqueue{Meta: meta(), Jobs: jobs(3)})
	first := w.claim(5)
	if len(first.Jobs) != 2 || !first.Next.After(w.now) {
		t.Fatalf("claimed %d, next %s", len(first.Jobs), first.Next)
	}
	w.now = first.Next
	if again := w.claim(5); len(again.Jobs) != 1 {
		t.Errorf("claimed %d when there was room again", len(again.Jobs))
	}
}

func TestTheDeathOfAMemberSkipsTheOthers(t *testing.T) {
	w := newWorld(t)
	made := w.group(&rota.EnqueueGroup{Mode: rota.GroupSequential, OnFailure: rota.FailureSkip, Jobs: jobs(3)})
	first := w.claim(5).Jobs
	if len(first) != 1 {
		t.Fatalf("claimed %d of a row", len(first))
	}
	w.finish(first[0], rota.OutcomeFailed)
	w.wantState(made.Jobs[2].ID, rota.StateSkipped)
	g, _ := w.m.Group(context.Background(), made.Group.ID)
	if g.Tally != (rota.GroupTally{Dead: 1, Skipped: 2}) || g.Status() != rota.GroupPartial {
		t.Errorf("%+v", g)
	}
	ids := []rota.ID{made.Jobs[0].ID, made.Jobs[1].ID, made.Jobs[2].ID}
	if p := do[*rota.Pruned](w, &rota.Prune{Meta: meta(), Executions: ids}); p.Executions != 3 {
		t.Errorf("%+v", p)
	}
	if _, err := w.m.Group(context.Background(), made.Group.ID); rota.CodeOf(err) != rota.NotFound {
		t.Error("the group is kept without members")
	}
}

func TestALargeGroupIsCancelledBySweeps(t *testing.T) {
	w := newWorld(t)
	made := w.group(&rota.EnqueueGroup{Jobs: jobs(rota.MembersMax + 5)})
	done := do[*rota.CancelledGroup](w, &rota.CancelGroup{Meta: meta(), GroupID: made.Group.ID, Reason: "no"})
	if done.Cancelled != rota.MembersMax || !done.More {
		t.Fatalf("%+v", done)
	}
	if c := w.claim(2); len(c.Jobs) != 0 || !c.More {
		t.Errorf("claimed %d of a cancelled group", len(c.Jobs))
	}
	if swept := do[*rota.Swept](w, &rota.Sweep{Meta: meta()}); swept.Count != 3 || swept.More {
		t.Errorf("%+v", swept)
	}
}

func TestAFireWaitsForWhatItDependsOn(t *testing.T) {
	w := newWorld(t)
	w.declare("a", rota.ScheduleSpec{})
	w.declare("b", rota.ScheduleSpec{DependsOn: []string{"a"}})
	w.now = w.now.Add(time.Minute)
	b := w.fire("b").Jobs[0]
	w.wantState(b.ID, rota.StateBlocked)
	w.fire("a")
	w.finish(w.claim(5).Jobs[0], rota.OutcomeCompleted)
	w.wantState(b.ID, rota.StateQueued)
	w.claim(5)
	w.now = w.now.Add(time.Minute)
	late := w.fire("b").Jobs[0]
	w.now = late.WaitUntil
	if e := do[*rota.Expired](w, &rota.Expire{Meta: meta()}); len(e.Skipped) != 1 || e.Skipped[0] != late.ID {
		t.Errorf("%+v", e)
	}
	if r := w.look(late.ID).Run; r.ErrorCode != rota.CodeDependency || r.Error != "skipped: schedule a did not complete in time" {
		t.Errorf("%+v", r)
	}
}

func TestALaterFireReplacesAnEarlierOne(t *testing.T) {
	w := newWorld(t)
	w.declare("a", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	w.now = w.now.Add(time.Minute)
	w.fire("a")
	running := w.claim(1).Jobs[0]
	w.now = w.now.Add(time.Minute)
	next := w.fire("a").Jobs[0]
	w.wantState(next.ID, rota.StateBlocked)
	if w.look(running.ID).Run.CancelAt.IsZero() {
		t.Error("the earlier one was not asked to stop")
	}
	w.finish(running, rota.OutcomeCancelled)
	w.wantState(next.ID, rota.StateQueued)
}

func TestAScheduleThatRanOnceIsDropped(t *testing.T) {
	w := newWorld(t)
	w.declare("once", rota.ScheduleSpec{At: w.now.Add(time.Minute), OnCompletion: rota.CompletionDrop})
	w.now = w.now.Add(time.Minute)
	w.fire("once")
	w.finish(w.claim(1).Jobs[0], rota.OutcomeCompleted)
	if _, err := w.m.Schedule(context.Background(), "once"); rota.CodeOf(err) != rota.NotFound {
		t.Error("the schedule is still there")
	}
	if tpl, _ := w.m.Template(context.Background(), "once"); tpl.State != rota.TemplateArchived {
		t.Errorf("its template is %s", tpl.State)
	}
}

func TestADirectRunHoldsAndReleasesItsNode(t *testing.T) {
	w := newWorld(t)
	do[*rota.Enqueued](w, &rota.Enqueue{Meta: meta(), Jobs: jobs(1)})
	r := do[*rota.Reserved](w, &rota.Reserve{Meta: meta(), Node: "w"}).Reservation
	if c := w.claim(1); len(c.Jobs) != 0 {
		t.Error("a reserved node claimed")
	}
	w.refused(rota.Busy, &rota.Reserve{Meta: meta(), Node: "v"})
	direct := &rota.Direct{Meta: meta(), ReservationID: r.ID, Job: jobs(1)[0], Lease: time.Minute, Seed: rota.NewToken()}
	j := do[*rota.Directed](w, direct).Job
	w.refused(rota.Conflict, &rota.Release{Meta: meta(), ReservationID: r.ID})
	w.finish(j, rota.OutcomeFailed)
	after := do[*rota.Released](w, &rota.Release{Meta: meta(), ReservationID: r.ID}).Reservation
	if after.Status != rota.ReservationReleased || w.look(j.ID).Sequel != rota.SequelDead {
		t.Errorf("%+v", after)
	}
	if again := do[*rota.Directed](w, direct).Job; !again.Run.Token.IsZero() {
		t.Error("a closed run shows its token")
	}
}

func TestADeadLetterIsRedrivenOnce(t *testing.T) {
	w := newWorld(t)
	do[*rota.Enqueued](w, &rota.Enqueue{Meta: meta(), Jobs: jobs(1)})
	dead := w.claim(1).Jobs[0]
	w.refused(rota.Conflict, &rota.Redrive{Meta: meta(), JobID: dead.ID})
	w.finish(dead, rota.OutcomeFailed)
	first := do[*rota.Redriven](w, &rota.Redrive{Meta: meta(), JobID: dead.ID}).Job
	w.refused(rota.Conflict, &rota.Redrive{Meta: meta(), JobID: dead.ID})
	do[*rota.CancelledJob](w, &rota.Cancel{Meta: meta(), JobID: first.ID})
	do[*rota.Redriven](w, &rota.Redrive{Meta: meta(), JobID: dead.ID})
	if letters, _ := w.m.Jobs(context.Background(), rota.JobQuery{Dead: true}); len(letters) != 0 {
		t.Errorf("%d dead letters are left", len(letters))
	}
}

func TestRetentionKeepsTheNewest(t *testing.T) {
	w := newWorld(t)
	made := do[*rota.Enqueued](w, &rota.Enqueue{Meta: meta(), Jobs: jobs(4)}).Jobs
	for _, j := range w.claim(3).Jobs {
		w.finish(j, rota.OutcomeCompleted)
	}
	q := rota.PruneQuery{Retention: rota.Retention{Completed: rota.Keep{Count: 2}}, Now: w.now, Limit: 2}
	page, _ := w.m.Prunable(context.Background(), q)
	if len(page.Executions) != 0 || !page.More {
		t.Fatalf("%+v", page)
	}
	q.From = page.Next
	page, _ = w.m.Prunable(context.Background(), q)
	if len(page.Executions) != 1 || page.Executions[0] != made[0].Job.ID || page.More {
		t.Errorf("%+v", page)
	}
}
