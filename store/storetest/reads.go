package storetest

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testReads(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a job that does not exist is not found", readUnknown},
		{"jobs are listed by id, newest first, page by page", readPages},
		{"jobs are filtered by status and by type", readPicked},
		{"a listed job equals the job read by id", readListedEqual},
		{"without a limit a list has 100 jobs", readDefaultLimit},
		{"a job is visible to every reader once its enqueue is answered", readAtOnce},
		{"the queue is listed in dispatch order, page by page", readQueue},
		{"a page after a job that left the queue is not found", readQueueGone},
		{"an execution is found by any attempt and listed first to last", readExecution},
		{"later changes of a read job do not change the stored job", readCopies},
		{"a query with an invalid filter is refused", readWrongQuery},
		{"a name that is not valid text is not found", readNoText},
		{"the stated limits can be used in full", readLimits},
		{"verify finds no violation in a correct store", readVerify},
	})
}

func readUnknown(y *story) {
	y.enqueue(rota.NewJob{})
	_, err := y.s.Job(y.ctx, y.ids.next())
	want(y, "job", rota.CodeOf(err), rota.NotFound)
	_, err = y.s.Execution(y.ctx, y.ids.next())
	want(y, "execution", rota.CodeOf(err), rota.NotFound)
	_, err = y.s.LastAttempt(y.ctx, y.ids.next())
	want(y, "last attempt", rota.CodeOf(err), rota.NotFound)
	_, err = y.s.Queue(y.ctx, y.ids.next(), 10)
	want(y, "queue", rota.CodeOf(err), rota.NotFound)
}

func readPages(y *story) {
	jobs := y.enqueueMany(7)
	slices.Reverse(jobs)
	for _, limit := range []int{1, 2, 3, 7, 8} {
		got, err := allJobs(y.ctx, y.s, rota.JobQuery{Limit: limit})
		if err != nil {
			y.Fatal(err)
		}
		wantIDs(y, "the list", idsOf(got), jobs...)
	}
}

func readPicked(y *story) {
	running := y.running(rota.NewJob{})
	cancelled := y.enqueue(rota.NewJob{})
	y.cancel(cancelled.ID)
	other := y.enqueue(rota.NewJob{Type: "other"})
	queued := y.enqueue(rota.NewJob{})
	for _, one := range []struct {
		q    rota.JobQuery
		jobs []*rota.Job
	}{
		{rota.JobQuery{Status: rota.StatusQueued}, []*rota.Job{queued, other}},
		{rota.JobQuery{Status: rota.StatusRunning}, []*rota.Job{running}},
		{rota.JobQuery{Status: rota.StatusCancelled}, []*rota.Job{cancelled}},
		{rota.JobQuery{Type: "other"}, []*rota.Job{other}},
		{rota.JobQuery{Type: "mail", Status: rota.StatusQueued}, []*rota.Job{queued}},
		{rota.JobQuery{Type: "mail", Before: cancelled.ID}, []*rota.Job{running}},
		{rota.JobQuery{Type: "none"}, nil},
	} {
		got, err := y.s.Jobs(y.ctx, one.q)
		if err != nil {
			y.Fatal(err)
		}
		wantIDs(y, "the list", idsOf(got), one.jobs...)
	}
}

func readListedEqual(y *story) {
	j := y.running(rota.NewJob{Params: []byte(`{"a":1}`), UniqueKey: "k"})
	y.note(j, rota.NoteItem{Artifacts: []string{"a", "b"}, Progress: []byte(`3`)})
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, ExitCode: ptr(2), Result: []byte(`[1]`), Error: "e", ErrorCode: "c"})
	y.enqueue(rota.NewJob{})
	for _, listed := range y.allJobs() {
		want(y, "difference between listed and read", difference(jobText(y.job(listed.ID)), jobText(listed)), "")
	}
	chain, err := y.s.Execution(y.ctx, j.ID)
	if err != nil {
		y.Fatal(err)
	}
	for _, attempt := range chain {
		want(y, "difference between attempt and job", difference(jobText(y.job(attempt.ID)), jobText(attempt)), "")
	}
	queue, err := wholeQueue(y.ctx, y.s)
	if err != nil {
		y.Fatal(err)
	}
	want(y, "difference between queued and read", difference(jobText(y.job(queue[0].ID)), jobText(queue[0])), "")
}

func readDefaultLimit(y *story) {
	do[*rota.Enqueued](y, y.enqueueCommand(make([]rota.NewJob, 120)...))
	got, err := y.s.Jobs(y.ctx, rota.JobQuery{})
	if err != nil {
		y.Fatal(err)
	}
	want(y, "listed", len(got), 100)
	want(y, "in the queue", len(y.queue()), 120)
}

func readQueue(y *story) {
	low := y.enqueueMany(2)
	y.enqueue(rota.NewJob{Delay: time.Hour})
	high := y.enqueue(rota.NewJob{Priority: new(1), Type: "other"})
	first, err := y.s.Queue(y.ctx, rota.ID{}, 2)
	if err != nil {
		y.Fatal(err)
	}
	wantIDs(y, "first page", idsOf(first), high, low[0])
	rest, err := y.s.Queue(y.ctx, low[0].ID, 2)
	if err != nil {
		y.Fatal(err)
	}
	wantIDs(y, "second page", idsOf(rest), low[1])
	end, err := y.s.Queue(y.ctx, low[1].ID, 2)
	if err != nil || len(end) != 0 {
		y.Errorf("after the last: %d jobs, %v", len(end), err)
	}
}

func readQueueGone(y *story) {
	j := y.running(rota.NewJob{})
	y.enqueue(rota.NewJob{})
	held := y.enqueue(rota.NewJob{Delay: time.Hour})
	for _, after := range []*rota.Job{j, held} {
		_, err := y.s.Queue(y.ctx, after.ID, 10)
		want(y, "after "+string(after.State()), rota.CodeOf(err), rota.NotFound)
	}
}

func readExecution(y *story) {
	first := y.running(rota.NewJob{Backoff: ptr(time.Duration(0))})
	y.fail(first)
	second := y.claimOne()
	y.fail(second)
	third := y.claimOne()
	y.running(rota.NewJob{})
	for _, id := range []rota.ID{first.ID, second.ID, third.ID} {
		chain, err := y.s.Execution(y.ctx, id)
		if err != nil {
			y.Fatal(err)
		}
		wantIDs(y, "the attempts", idsOf(chain), first, second, third)
		want(y, "token", chain[2].Run.Token, rota.Token{})
		last, err := y.s.LastAttempt(y.ctx, id)
		want(y, "difference of the last attempt", difference(jobText(chain[2]), jobText(must(y, "last attempt", last, err))), "")
	}
	want(y, "idempotency key", third.IdempotencyKey(), first.IdempotencyKey())
}

// readAtOnce has several goroutines read in a loop, so that all connections of a store are in
// use and have read its earlier state.
func readAtOnce(y *story) {
	const readers, jobs = 8, 25
	var created [jobs]rota.ID
	for i := range created {
		created[i] = y.ids.next()
	}
	var written atomic.Int64
	concurrently(readers+1, func(caller int) {
		for i := 0; i < jobs; {
			if caller == readers {
				apply[*rota.Enqueued](y, y.now, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail", ID: created[i]}}})
				i++
				written.Store(int64(i))
				continue
			}
			for ; i < int(written.Load()); i++ {
				if _, err := y.s.Job(y.ctx, created[i]); err != nil {
					y.Errorf("job %d was enqueued, but a read returned: %v", i, err)
				}
			}
			if _, err := y.s.Jobs(y.ctx, rota.JobQuery{Limit: 1}); err != nil {
				y.Errorf("jobs: %v", err)
			}
		}
	})
}

func readCopies(y *story) {
	j := y.running(rota.NewJob{Params: []byte(`{"a":1}`)})
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted, Artifacts: []string{"a"}, ExitCode: ptr(1), Result: []byte(`{"r":1}`)})
	before := y.dump()
	got := y.job(j.ID)
	got.Params[2], got.Run.Result[2], got.Run.Artifacts[0] = 'X', 'X', "X"
	*got.Run.ExitCode = 9
	got.Run.Outcome = rota.OutcomeFailed
	y.wantUnchanged(before)
}

func readWrongQuery(y *story) {
	y.enqueue(rota.NewJob{})
	for field, q := range map[string]rota.JobQuery{
		"status": {Status: "queued"}, "type": {Type: "two words"}, "limit": {Limit: rota.PageMax + 1},
	} {
		_, err := y.s.Jobs(y.ctx, q)
		var refusal *rota.Error
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || refusal.Field != field {
			y.Errorf("%s: %v", field, err)
		}
	}
}

func readNoText(y *story) {
	for _, name := range []string{"a\x00b", "\x00", "a\xff", "\xc3\x28"} {
		_, err := y.s.Type(y.ctx, name)
		want(y, "type", rota.CodeOf(err), rota.NotFound)
		_, err = y.s.Template(y.ctx, name)
		want(y, "template", rota.CodeOf(err), rota.NotFound)
		_, err = y.s.Schedule(y.ctx, name)
		want(y, "schedule", rota.CodeOf(err), rota.NotFound)
		_, err = y.s.Types(y.ctx, rota.NameQuery{After: name})
		want(y, "types after it", rota.CodeOf(err), rota.Invalid)
		_, err = y.s.Templates(y.ctx, rota.NameQuery{After: name})
		want(y, "templates after it", rota.CodeOf(err), rota.Invalid)
		_, err = y.s.Schedules(y.ctx, rota.ScheduleQuery{After: name})
		want(y, "schedules after it", rota.CodeOf(err), rota.Invalid)
		_, err = y.s.Jobs(y.ctx, rota.JobQuery{Type: name})
		want(y, "jobs of it", rota.CodeOf(err), rota.Invalid)
	}
}

func readLimits(y *story) {
	l := y.s.Limits()
	if l.Jobs < 1 || l.Claim < 1 || l.Items < 1 {
		y.Fatalf("the limits are %+v", l)
	}
	count := min(l.Claim, l.Items, l.Jobs)
	do[*rota.Enqueued](y, y.enqueueCommand(make([]rota.NewJob, count)...))
	jobs := y.claim(count)
	want(y, "claimed", len(jobs), count)
	c := &rota.Finish{Meta: y.ids.meta()}
	for _, j := range jobs {
		c.Items = append(c.Items, rota.FinishItem{LeaseRef: leaseOf(j), Outcome: rota.OutcomeCompleted})
	}
	for _, a := range do[*rota.Finished](y, c).Items {
		want(y, "finished", a.Code, "")
	}
}

func readVerify(y *story) {
	y.fail(y.running(keyed))
	y.cancel(y.enqueue(rota.NewJob{}).ID)
	y.running(rota.NewJob{})
	y.enqueue(planned)
	if found := violations(y.ctx, y.s); found != "" {
		y.Errorf("verify found:\n%s", found)
	}
}
