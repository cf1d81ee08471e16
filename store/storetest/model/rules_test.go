package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func TestLimitedKeyKeepsAsManyJobsReadyAsMayStart(t *testing.T) {
	f := newFixture(t)
	f.limit(rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "k", Concurrency: 1}}})
	do[*rota.Swept](f, &rota.Sweep{Meta: meta()})
	list := jobs(3)
	for i := range list {
		list[i].ConcurrencyKey = new("k")
	}
	created := do[*rota.Enqueued](f, &rota.Enqueue{Meta: meta(), Jobs: list}).Jobs
	for i, want := range []rota.Hold{0, rota.HoldKey, rota.HoldKey} {
		if created[i].Job.Hold != want {
			t.Errorf("job %d has hold %d", i, created[i].Job.Hold)
		}
	}
	do[*rota.Moved](f, &rota.Move{Meta: meta(), JobID: created[2].Job.ID, Place: rota.PlaceTop})
	f.wantState(created[2].Job.ID, rota.StateQueued)
	f.wantState(created[0].Job.ID, rota.StateBlocked)
	running := f.claim(5).Jobs
	if len(running) != 1 || running[0].ID != created[2].Job.ID {
		t.Fatalf("claimed %d", len(running))
	}
	f.wantState(created[0].Job.ID, rota.StateBlocked)
	f.finish(running[0], rota.OutcomeCompleted)
	f.wantState(created[0].Job.ID, rota.StateQueued)
}

func TestClaimAtRateLimitReportsNextTime(t *testing.T) {
	f := newFixture(t)
	f.limit(rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "mail", Rate: rota.Rate{Count: 2, Per: time.Minute}}}})
	do[*rota.Enqueued](f, &rota.Enqueue{Meta: meta(), Jobs: jobs(3)})
	first := f.claim(5)
	if len(first.Jobs) != 2 || !first.Next.After(f.now) {
		t.Fatalf("claimed %d, next %s", len(first.Jobs), first.Next)
	}
	f.now = first.Next
	if again := f.claim(5); len(again.Jobs) != 1 {
		t.Errorf("claimed %d when the rate allowed the next start", len(again.Jobs))
	}
}

func TestDeadMemberSkipsRestOfGroup(t *testing.T) {
	f := newFixture(t)
	created := f.group(&rota.EnqueueGroup{Mode: rota.GroupSequential, OnFailure: rota.FailureSkip, Jobs: jobs(3)})
	first := f.claim(5).Jobs
	if len(first) != 1 {
		t.Fatalf("claimed %d of a sequential group", len(first))
	}
	f.finish(first[0], rota.OutcomeFailed)
	f.wantState(created.Jobs[2].ID, rota.StateSkipped)
	g, _ := f.m.Group(context.Background(), created.Group.ID)
	if g.Tally != (rota.GroupTally{Dead: 1, Skipped: 2}) || g.Status() != rota.GroupPartial {
		t.Errorf("the group is %+v", g)
	}
	ids := []rota.ID{created.Jobs[0].ID, created.Jobs[1].ID, created.Jobs[2].ID}
	if p := do[*rota.Pruned](f, &rota.Prune{Meta: meta(), Executions: ids}); p.Executions != 3 {
		t.Errorf("pruned %+v", p)
	}
	if _, err := f.m.Group(context.Background(), created.Group.ID); rota.CodeOf(err) != rota.NotFound {
		t.Error("the group is kept without members")
	}
}

func TestSweepCancelsRestOfLargeGroup(t *testing.T) {
	f := newFixture(t)
	created := f.group(&rota.EnqueueGroup{Jobs: jobs(rota.MembersMax + 5)})
	done := do[*rota.CancelledGroup](f, &rota.CancelGroup{Meta: meta(), GroupID: created.Group.ID, Reason: "no"})
	if done.Cancelled != rota.MembersMax || !done.More {
		t.Fatalf("the cancelled group is %+v", done)
	}
	if c := f.claim(2); len(c.Jobs) != 0 || !c.More {
		t.Errorf("claimed %d of a cancelled group", len(c.Jobs))
	}
	if swept := do[*rota.Swept](f, &rota.Sweep{Meta: meta()}); swept.Count != 3 || swept.More {
		t.Errorf("swept %+v", swept)
	}
}

func TestFiredJobWaitsForDependency(t *testing.T) {
	f := newFixture(t)
	f.declare("a", rota.ScheduleSpec{})
	f.declare("b", rota.ScheduleSpec{DependsOn: []string{"a"}})
	f.now = f.now.Add(time.Minute)
	b := f.fire("b").Jobs[0]
	f.wantState(b.ID, rota.StateBlocked)
	f.fire("a")
	f.finish(f.claim(5).Jobs[0], rota.OutcomeCompleted)
	f.wantState(b.ID, rota.StateQueued)
	f.claim(5)
	f.now = f.now.Add(time.Minute)
	late := f.fire("b").Jobs[0]
	f.now = late.WaitUntil
	if e := do[*rota.Expired](f, &rota.Expire{Meta: meta()}); len(e.Skipped) != 1 || e.Skipped[0] != late.ID {
		t.Errorf("expired %+v", e)
	}
	if r := f.job(late.ID).Run; r.ErrorCode != rota.CodeDependency || r.Error != "skipped: schedule a did not complete in time" {
		t.Errorf("the run is %+v", r)
	}
}

func TestLaterFireReplacesEarlierFire(t *testing.T) {
	f := newFixture(t)
	f.declare("a", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	f.now = f.now.Add(time.Minute)
	f.fire("a")
	running := f.claim(1).Jobs[0]
	f.now = f.now.Add(time.Minute)
	next := f.fire("a").Jobs[0]
	f.wantState(next.ID, rota.StateBlocked)
	if f.job(running.ID).Run.CancelAt.IsZero() {
		t.Error("the earlier run was not asked to stop")
	}
	f.finish(running, rota.OutcomeCancelled)
	f.wantState(next.ID, rota.StateQueued)
}

func TestOneTimeScheduleIsDroppedOnCompletion(t *testing.T) {
	f := newFixture(t)
	f.declare("once", rota.ScheduleSpec{At: f.now.Add(time.Minute), OnCompletion: rota.CompletionDrop})
	f.now = f.now.Add(time.Minute)
	f.fire("once")
	f.finish(f.claim(1).Jobs[0], rota.OutcomeCompleted)
	if _, err := f.m.Schedule(context.Background(), "once"); rota.CodeOf(err) != rota.NotFound {
		t.Error("the schedule still exists")
	}
	if tpl, _ := f.m.Template(context.Background(), "once"); tpl.State != rota.TemplateArchived {
		t.Errorf("its template is %s", tpl.State)
	}
}

func TestDirectRunHoldsAndReleasesNode(t *testing.T) {
	f := newFixture(t)
	do[*rota.Enqueued](f, &rota.Enqueue{Meta: meta(), Jobs: jobs(1)})
	r := do[*rota.Reserved](f, &rota.Reserve{Meta: meta(), Node: "w"}).Reservation
	if c := f.claim(1); len(c.Jobs) != 0 {
		t.Error("a reserved node claimed a job")
	}
	f.refused(rota.Busy, &rota.Reserve{Meta: meta(), Node: "v"})
	direct := &rota.Direct{Meta: meta(), ReservationID: r.ID, Job: jobs(1)[0], Lease: time.Minute, Seed: rota.NewToken()}
	j := do[*rota.Directed](f, direct).Job
	f.refused(rota.Conflict, &rota.Release{Meta: meta(), ReservationID: r.ID})
	f.finish(j, rota.OutcomeFailed)
	after := do[*rota.Released](f, &rota.Release{Meta: meta(), ReservationID: r.ID}).Reservation
	if after.Status != rota.ReservationReleased || f.job(j.ID).Sequel != rota.SequelDead {
		t.Errorf("the reservation is %+v", after)
	}
	if again := do[*rota.Directed](f, direct).Job; !again.Run.Token.IsZero() {
		t.Error("a closed run shows its token")
	}
}

func TestDeadLetterIsRedrivenOnce(t *testing.T) {
	f := newFixture(t)
	do[*rota.Enqueued](f, &rota.Enqueue{Meta: meta(), Jobs: jobs(1)})
	dead := f.claim(1).Jobs[0]
	f.refused(rota.Conflict, &rota.Redrive{Meta: meta(), JobID: dead.ID})
	f.finish(dead, rota.OutcomeFailed)
	first := do[*rota.Redriven](f, &rota.Redrive{Meta: meta(), JobID: dead.ID}).Job
	f.refused(rota.Conflict, &rota.Redrive{Meta: meta(), JobID: dead.ID})
	do[*rota.CancelledJob](f, &rota.Cancel{Meta: meta(), JobID: first.ID})
	do[*rota.Redriven](f, &rota.Redrive{Meta: meta(), JobID: dead.ID})
	if letters, _ := f.m.Jobs(context.Background(), rota.JobQuery{Dead: true}); len(letters) != 0 {
		t.Errorf("%d dead letters are left", len(letters))
	}
}

func TestRetentionKeepsNewest(t *testing.T) {
	f := newFixture(t)
	created := do[*rota.Enqueued](f, &rota.Enqueue{Meta: meta(), Jobs: jobs(4)}).Jobs
	for _, j := range f.claim(3).Jobs {
		f.finish(j, rota.OutcomeCompleted)
	}
	q := rota.PruneQuery{Retention: rota.Retention{Completed: rota.Keep{Count: 2}}, Now: f.now, Limit: 2}
	page, _ := f.m.Prunable(context.Background(), q)
	if len(page.Executions) != 0 || !page.More {
		t.Fatalf("the page is %+v", page)
	}
	q.From = page.Next
	page, _ = f.m.Prunable(context.Background(), q)
	if len(page.Executions) != 1 || page.Executions[0] != created[0].Job.ID || page.More {
		t.Errorf("the page is %+v", page)
	}
}
