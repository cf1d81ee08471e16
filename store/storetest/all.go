package storetest

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

func testAll(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"members are applied in order, and each sees the changes of those before it", allInOrder},
		{"a position that a member frees is used by the next member", allPositions},
		{"a position that one member uses and another frees is used by the next member", allOwnPositions},
		{"the first refused member refuses the whole command", allRefused},
		{"a refusal names the member and the field", allNamesField},
		{"a member with a lost lease refuses the whole command", allLostLease},
		{"a refused command leaves no keys, audit entries or retries", allRefusedLeavesNothing},
		{"an invalid member refuses the whole command before any member is applied", allBadMember},
		{"verbs that select rows by order cannot be members", allForbidden},
		{"one command declares definitions and creates jobs from them", allDeclares},
		{"a refused command leaves no definitions, groups, limits or webhooks", allRefusedDefinitions},
		{"keys are balanced after each member", allBalances},
	})
}

func (y *story) allOf(members ...rota.Command) *rota.All {
	return &rota.All{Meta: y.ids.meta(), Members: members}
}

func (y *story) enqueueCommand(n ...rota.NewJob) *rota.Enqueue {
	for i := range n {
		if n[i].Type == "" {
			n[i].Type = "mail"
		}
	}
	return &rota.Enqueue{Meta: y.ids.meta(), Jobs: n}
}

func allInOrder(y *story) {
	enqueue := y.enqueueCommand(rota.NewJob{UniqueKey: "k"})
	edit := y.editCommand(enqueue.JobID(0), toPriority(7))
	again := y.enqueueCommand(rota.NewJob{UniqueKey: "k"})
	stop := y.cancelCommand(enqueue.JobID(0))
	free := y.enqueueCommand(rota.NewJob{UniqueKey: "k"})
	replies := do[*rota.AllDone](y, y.allOf(enqueue, edit, again, stop, free)).Replies
	if len(replies) != 5 {
		y.Fatalf("5 members got %d replies", len(replies))
	}
	want(y, "priority as edited", replies[1].(*rota.Edited).Job.Priority, 7)
	want(y, "duplicate of the first", replies[2].(*rota.Enqueued).Jobs[0].Duplicate, true)
	want(y, "cancelled", replies[3].(*rota.CancelledJob).Job.Status, rota.StatusCancelled)
	last := replies[4].(*rota.Enqueued).Jobs[0]
	want(y, "the freed key", last.Duplicate, false)
	wantIDs(y, "the queue", y.queue(), last.Job)
}

func allPositions(y *story) {
	jobs := y.enqueueMany(3)
	for i, leaving := range []rota.Command{y.cancelCommand(jobs[2].ID), y.editCommand(jobs[1].ID, toPriority(1))} {
		next := y.enqueueCommand(rota.NewJob{}, rota.NewJob{Priority: new(1)})
		created := do[*rota.AllDone](y, y.allOf(leaving, next)).Replies[1].(*rota.Enqueued).Jobs
		want(y, "position after the rest", created[0].Job.Position, int64(3-i)*100)
		want(y, "position in the other priority", created[1].Job.Position, int64(1+2*i)*100)
		y.cancel(created[0].Job.ID)
	}
}

func allOwnPositions(y *story) {
	y.enqueue(rota.NewJob{})
	for _, leaving := range []func(rota.ID) rota.Command{
		func(id rota.ID) rota.Command { return y.cancelCommand(id) },
		func(id rota.ID) rota.Command { return y.editCommand(id, toPriority(1)) },
	} {
		first, next := y.enqueueCommand(rota.NewJob{}), y.enqueueCommand(rota.NewJob{})
		created := do[*rota.AllDone](y, y.allOf(first, leaving(first.JobID(0)), next)).Replies[2].(*rota.Enqueued).Jobs
		want(y, "the freed position", created[0].Job.Position, 200)
		y.cancel(created[0].Job.ID)
	}
}

func allRefused(y *story) {
	j := y.running(rota.NewJob{})
	done := rota.FinishItem{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed}
	finish := &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{done}}
	all := y.allOf(finish, y.enqueueCommand(rota.NewJob{}), y.cancelCommand(y.ids.next()), y.enqueueCommand(rota.NewJob{}))
	err := y.refused(rota.NotFound, all)
	want(y, "member", specifiedField(err), "members[2]")
	want(y, "the run is open", y.job(j.ID).Run.Open(), true)
}

func allNamesField(y *story) {
	j := y.enqueue(rota.NewJob{})
	clash := y.enqueueCommand(rota.NewJob{}, rota.NewJob{Type: "other", ID: j.ID})
	err := y.refused(rota.Conflict, y.allOf(y.enqueueCommand(rota.NewJob{}), clash))
	want(y, "field", err.Field, "members[1].jobs[1].id")
}

func allLostLease(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	late := &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed}}}
	err := y.refused(rota.LeaseLost, y.allOf(y.enqueueCommand(rota.NewJob{}), late))
	want(y, "field", err.Field, "members[1].items[0]")
	want(y, "in the queue", len(y.queue()), 0)
}

func allRefusedLeavesNothing(y *story) {
	held := y.enqueue(keyed)
	other := y.enqueue(rota.NewJob{Priority: new(-1)})
	y.refused(rota.NotFound, y.allOf(
		y.cancelCommand(held.ID),
		y.editCommand(other.ID, toPriority(4)),
		y.enqueueCommand(rota.NewJob{UniqueKey: "new"}),
		y.cancelCommand(y.ids.next()),
	))
	y.wantKeyHeldBy(held)
	if y.submit(rota.NewJob{UniqueKey: "new"}).Duplicate {
		y.Error("a key of the refused command is held")
	}
	y.wantAudit()
}

func allBadMember(y *story) {
	err := y.refused(rota.Invalid, y.allOf(y.enqueueCommand(rota.NewJob{}), y.enqueueCommand(rota.NewJob{}, rota.NewJob{Type: "no spaces"})))
	want(y, "field", err.Field, "members[1].jobs[1].type")
}

func allForbidden(y *story) {
	y.enqueue(rota.NewJob{})
	for _, c := range []rota.Command{
		y.claimCommand(1),
		&rota.Ready{Meta: y.ids.meta()},
		&rota.Reap{Meta: y.ids.meta()},
		&rota.Recover{Meta: y.ids.meta(), Runner: "w1", Incarnation: incarnationTwo},
		&rota.Normalise{Meta: y.ids.meta()},
		&rota.Expire{Meta: y.ids.meta()},
		&rota.Sweep{Meta: y.ids.meta()},
		&rota.Prune{Meta: y.ids.meta(), Executions: []rota.ID{y.ids.next()}},
		y.reserveCommand(),
		y.directCommand(&rota.Reservation{ID: y.ids.next()}, rota.NewJob{}),
		y.allOf(y.enqueueCommand(rota.NewJob{})),
	} {
		err := y.refused(rota.Invalid, y.allOf(y.enqueueCommand(rota.NewJob{}), c))
		want(y, "field", err.Field, "members[1]")
	}
}

func allDeclares(y *story) {
	trigger := &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}
	replies := do[*rota.AllDone](y, y.allOf(
		y.templateCommand("report", rota.TemplateSpec{}), y.declareCommand("nightly", rota.ScheduleSpec{}), trigger,
		&rota.Archive{Meta: y.ids.meta(), Name: "report"},
	)).Replies
	want(y, "triggered", replies[2].(*rota.Triggered).Jobs[0].ID, trigger.JobID(0))
	want(y, "disabled", replies[3].(*rota.TemplatePut).Disabled, 1)
	want(y, "claimed", y.claimOne().ID, trigger.JobID(0))
}

func allRefusedDefinitions(y *story) {
	j := y.enqueueLimited(1, 2)[0]
	y.declare("old", rota.ScheduleSpec{})
	group := y.groupCommand(rota.GroupSequential, "", rota.NewJob{}, keyed)
	err := y.refused(rota.NotFound, y.allOf(
		y.typeCommand("mail", typeSpec), y.templateCommand("letter", templateSpec),
		&rota.PutThrottle{Meta: y.ids.meta(), Spec: keyLimit("db", 9)}, y.webhooksCommand(hook("a")),
		y.declareCommand("nightly", rota.ScheduleSpec{DependsOn: []string{"old"}}),
		&rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}, group,
		&rota.CancelGroup{Meta: y.ids.meta(), GroupID: group.GroupID()},
		y.cancelCommand(j.ID), y.redriveCommand(j.ID),
		&rota.DeleteSchedule{Meta: y.ids.meta(), Name: "old"},
		&rota.SwitchSchedule{Meta: y.ids.meta(), Name: "missing", State: rota.SchedulePaused},
	))
	want(y, "member", refusedMember(err), "members[11]")
	y.wantKeyFree()
}

// refusedMember returns which member of an All was refused.
func refusedMember(err *rota.Error) string {
	member, _, _ := strings.Cut(err.Field, ".")
	return member
}

func allBalances(y *story) {
	jobs := y.enqueueLimited(1, 2)
	replies := do[*rota.AllDone](y, y.allOf(y.cancelCommand(jobs[0].ID), y.editCommand(jobs[1].ID, toPriority(1)))).Replies
	want(y, "hold of the second in the answer to its edit", replies[1].(*rota.Edited).Job.Hold, 0)
}
