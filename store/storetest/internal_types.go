package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// testInternalTypes shows that jobs of Rota's internal types do not interfere with the jobs of
// users.
func testInternalTypes(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"jobs of an internal type are listed only if the query names the type", internalLists},
		{"an internal type is read by its name and not listed", internalTypeListed},
		{"stats count deliveries separately", internalStats},
		{"retention counts internal jobs separately", internalPrune},
		{"internal jobs take no positions", internalPositions},
		{"the global limit does not apply to internal jobs", internalGlobalLimit},
		{"a claim of internal jobs at the global limit reports no more jobs", internalGlobalLimitMore},
		{"a type limit applies to internal jobs", internalTypeLimit},
		{"enqueues, edits and moves of internal jobs are refused", internalRefused},
		{"internal jobs can be cancelled, read and explained", internalCancel},
	})
}

// jobWithDelivery enqueues a job that one webhook is notified of, and returns the job and the
// delivery.
func (y *story) jobWithDelivery() (user, own *rota.Job) {
	y.Helper()
	y.putWebhooks(hook("a", rota.EventJobEnqueued))
	user = y.enqueue(rota.NewJob{})
	return user, y.deliveries()[0]
}

func internalLists(y *story) {
	user, own := y.jobWithDelivery()
	list := func(q rota.JobQuery) []rota.ID {
		jobs, err := y.s.Jobs(y.ctx, q)
		return idsOf(must(y, "jobs", jobs, err))
	}
	for _, q := range []rota.JobQuery{{}, {Status: rota.StatusQueued}, {State: rota.StateQueued}, {Tails: true}, {Type: "mail"}} {
		wantIDs(y, "a list", list(q), user)
	}
	internalType := rota.TypeWebhook
	for _, q := range []rota.JobQuery{{Type: internalType}, {Type: internalType, State: rota.StateQueued}, {Type: internalType, Status: rota.StatusQueued}} {
		wantIDs(y, "jobs of the named type", list(q), own)
	}
	wantIDs(y, "the queue", y.queue(), user)
	after, err := y.s.Queue(y.ctx, user.ID, 10)
	want(y, "behind the last", len(must(y, "queue", after, err)), 0)
	running := y.claim(1, internalType)[0]
	wantIDs(y, "running", list(rota.JobQuery{State: rota.StateRunning}))
	wantIDs(y, "running jobs of the named type", list(rota.JobQuery{State: rota.StateRunning, Type: internalType}), running)
	retry := y.job(y.fail(running).RetryID)
	wantIDs(y, "scheduled", list(rota.JobQuery{State: rota.StateScheduled}))
	wantIDs(y, "scheduled jobs of the named type", list(rota.JobQuery{State: rota.StateScheduled, Type: internalType}), retry)
	y.advanceTo(retry.RunAt)
	y.makeReady()
	dead := y.claim(1, internalType)[0]
	y.failPermanently(dead)
	wantIDs(y, "dead", list(rota.JobQuery{Dead: true}))
	wantIDs(y, "dead jobs of the named type", list(rota.JobQuery{Dead: true, Type: internalType}), dead)
}

func internalTypeListed(y *story) {
	y.declareType("mail", typeSpec)
	y.declareType(rota.TypeWebhook, rota.TypeSpec{})
	y.declareType("web", typeSpec)
	types, err := y.s.Types(y.ctx, rota.NameQuery{})
	want(y, "listed", joinNames(must(y, "types", types, err), func(t *rota.Type) string { return t.Name }),
		joinNames([]string{"mail", "web"}, func(name string) string { return name }))
	one, err := y.s.Type(y.ctx, rota.TypeWebhook)
	want(y, "read", must(y, "type", one, err).Name, rota.TypeWebhook)
	y.jobWithDelivery()
	y.pause(rota.TypeWebhook, true)
	want(y, "claimed while paused", len(y.claim(5, rota.TypeWebhook)), 0)
	y.pause(rota.TypeWebhook, false)
	want(y, "claimed", len(y.claim(5, rota.TypeWebhook)), 1)
}

func internalStats(y *story) {
	y.putWebhooks(hook("a", rota.EventJobEnqueued))
	y.enqueueMany(4)
	y.cancel(y.deliveries()[3].ID)
	own := y.claim(2, rota.TypeWebhook)
	y.fail(own[0])
	y.advance(time.Hour)
	for _, j := range y.claim(4) {
		y.complete(j)
	}
	want(y, "stats", statsLines(y.stats()), statsLines(&rota.Stats{Deliveries: 3}))
	y.failPermanently(own[1])
	want(y, "stats", statsLines(y.stats()), statsLines(&rota.Stats{Deliveries: 2}))
}

func internalPrune(y *story) {
	y.putWebhooks(hook("a", rota.EventJobEnqueued))
	users := y.enqueueMany(2)
	for _, j := range append(y.claim(5), y.claim(5, rota.TypeWebhook)...) {
		y.complete(j)
	}
	own := y.deliveries()
	keep := rota.Retention{Completed: rota.Keep{Count: 1}}
	page, err := y.s.Prunable(y.ctx, rota.PruneQuery{Retention: keep, Now: y.now})
	want(y, "of each the older", sortedText(must(y, "page", page, err).Executions), sortedText([]rota.ID{users[0].ID, own[0].ID}))
	y.advance(time.Hour)
	page, err = y.s.Prunable(y.ctx, rota.PruneQuery{Retention: rota.Retention{Completed: rota.Keep{Age: time.Minute}}, Now: y.now})
	want(y, "by age", len(must(y, "page", page, err).Executions), 4)
	want(y, "pruned", y.prune(page.Executions...).Executions, 4)
	want(y, "left", len(y.deliveries()), 0)
}

func sortedText(ids []rota.ID) string {
	return joinNames(ids, rota.ID.String)
}

func internalPositions(y *story) {
	low := rota.NewJob{Priority: new(rota.PriorityMin)}
	y.putWebhooks(hook("a"))
	first, second := y.enqueue(low), y.enqueue(low)
	want(y, "first", first.Position, 100)
	want(y, "second", second.Position, 200)
	y.fail(y.claim(1, rota.TypeWebhook)[0])
	y.advance(time.Hour)
	y.makeReady()
	want(y, "third", y.enqueue(low).Position, 300)
	for range 10 { // until the gap between the two is exhausted
		y.move(y.enqueue(low), rota.PlaceBefore, second)
	}
	do[*rota.Normalised](y, &rota.Normalise{Meta: y.ids.meta(), Priority: rota.PriorityMin})
	want(y, "first after renumbering", y.job(first.ID).Position, 100)
	for _, j := range y.deliveries() {
		if j.Status == rota.StatusQueued {
			want(y, "position of a delivery", j.Position, 0)
		}
	}
	want(y, "violations", violations(y.ctx, y.s), "")
}

func internalGlobalLimit(y *story) {
	y.putWebhooks(hook("a", rota.EventJobEnqueued))
	y.throttle(rota.ThrottleSpec{Global: 2})
	y.enqueueMany(3)
	y.enqueue(rota.NewJob{Type: "web"})
	mixed := do[*rota.Claimed](y, y.claimCommand(3, rota.TypeWebhook, "mail", "web"))
	want(y, "users", countType(mixed.Jobs, "mail")+countType(mixed.Jobs, "web"), 2)
	want(y, "deliveries beside them", countType(mixed.Jobs, rota.TypeWebhook), 1)
	want(y, "users at the limit", len(y.claim(5)), 0)
	want(y, "deliveries at the limit", len(y.claim(2, "mail", rota.TypeWebhook)), 2)
	for _, j := range mixed.Jobs {
		if j.Type == "mail" {
			y.complete(j)
			break
		}
	}
	want(y, "users after an end", len(y.claim(5)), 1)
	reasons, err := y.s.Explain(y.ctx, y.deliveries()[0].ID)
	for _, r := range must(y, "reasons", reasons, err) {
		want(y, "the global limit is a reason", r.Code == rota.ReasonGlobalLimit, false)
	}
}

func internalGlobalLimitMore(y *story) {
	y.throttle(rota.ThrottleSpec{Global: 1})
	y.enqueueMany(2)
	got := do[*rota.Claimed](y, y.claimCommand(2, rota.TypeWebhook, "mail"))
	want(y, "claimed", len(got.Jobs), 1)
	want(y, "more", got.More, false)
}

func countType(jobs []*rota.Job, typ string) (n int) {
	for _, j := range jobs {
		if j.Type == typ {
			n++
		}
	}
	return n
}

func internalTypeLimit(y *story) {
	y.putWebhooks(hook("a", rota.EventJobEnqueued))
	y.throttle(rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: rota.TypeWebhook, Concurrency: 2}}})
	y.enqueueMany(3)
	want(y, "claimed", len(y.claim(5, rota.TypeWebhook)), 2)
	want(y, "users", len(y.claim(5)), 3)
}

func internalRefused(y *story) {
	user, own := y.jobWithDelivery()
	y.wantField(rota.Conflict, "job_id", y.editCommand(own.ID, toPriority(1)))
	y.wantField(rota.Conflict, "job_id", &rota.Move{Meta: y.ids.meta(), JobID: own.ID, Place: rota.PlaceTop})
	y.wantField(rota.Conflict, "anchor", &rota.Move{Meta: y.ids.meta(), JobID: user.ID, Place: rota.PlaceBefore, Anchor: own.ID})
	y.wantField(rota.Invalid, "jobs[0].type", y.enqueueCommand(rota.NewJob{Type: rota.TypeWebhook}))
	y.wantField(rota.Invalid, "type", y.templateCommand("letter", rota.TemplateSpec{Type: "rota.other"}))
	y.wantField(rota.Invalid, "job.type", y.directCommand(y.reserve(), rota.NewJob{Type: rota.TypeWebhook}))
	y.wantField(rota.Invalid, "jobs[1].type", y.groupCommand("", "", rota.NewJob{}, rota.NewJob{Type: rota.TypeWebhook}))
	y.enqueue(rota.NewJob{Type: "rotation"})
	y.enqueue(rota.NewJob{Type: "rota"})
}

func internalCancel(y *story) {
	_, own := y.jobWithDelivery()
	attempts, err := y.s.Execution(y.ctx, own.ID)
	wantIDs(y, "execution", idsOf(must(y, "execution", attempts, err)), own)
	reasons, err := y.s.Explain(y.ctx, own.ID)
	want(y, "is explained", len(must(y, "reasons", reasons, err)) > 0, true)
	y.cancel(own.ID)
	want(y, "status", y.job(own.ID).Status, rota.StatusCancelled)
	again := y.redrive(own.ID)
	want(y, "type", again.Type, rota.TypeWebhook)
	want(y, "violations", violations(y.ctx, y.s), "")
}
