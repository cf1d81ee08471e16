package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testView(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a view does not change while others write", viewUnchanged},
		{"a view supports the reads of a store", viewReads},
		{"a view has the time of its creation", viewNow},
		{"several views each show their own state", viewSeveral},
		{"a closed view refuses reads", viewClosed},
		{"a view ends with its context", viewContext},
		{"a store that closes does not wait for its views", viewStoreClosed},
		{"a cancelled read does not affect its view or others", viewReadCancelled},
	})
}

// view opens a view and closes it when the story ends.
func (y *story) view() rota.View {
	y.Helper()
	v, err := y.s.View(y.ctx)
	must(y, "view", v, err)
	y.Cleanup(func() { _ = v.Close() })
	return v
}

// countJobs returns how many jobs a reader counts.
func (y *story) countJobs(r rota.Reader, q rota.JobQuery) int64 {
	y.Helper()
	n, err := r.CountJobs(y.ctx, q)
	return must(y, "count", n, err)
}

func viewUnchanged(y *story) {
	queued, running := y.enqueueMany(2), y.running(rota.NewJob{Priority: new(9)})
	y.declare("nightly", rota.ScheduleSpec{})
	v := y.view()
	before := readerText(y, v)
	y.complete(running)
	y.cancel(queued[0].ID)
	y.enqueue(rota.NewJob{})
	y.switchTo("nightly", rota.SchedulePaused)
	y.declare("weekly", rota.ScheduleSpec{})
	want(y, "difference of the view", difference(before, readerText(y, v)), "")
	if readerText(y, y.s) == before {
		y.Error("the store has not changed, so the comparison shows nothing")
	}
	if err := v.Close(); err != nil {
		y.Errorf("close: %v", err)
	}
	want(y, "difference between a later view and the store", difference(readerText(y, y.s), readerText(y, y.view())), "")
}

// readerText returns the jobs, schedules and audit that a reader returns.
func readerText(y *story, r rota.Reader) (all string) {
	y.Helper()
	jobs, err := r.Jobs(y.ctx, rota.JobQuery{})
	for _, j := range must(y, "jobs", jobs, err) {
		all += jobText(j) + "\n"
	}
	queue, err := r.Queue(y.ctx, rota.ID{}, 0)
	for _, j := range must(y, "queue", queue, err) {
		all += "queued " + j.ID.String() + "\n"
	}
	schedules, err := r.Schedules(y.ctx, rota.ScheduleQuery{})
	for _, s := range must(y, "schedules", schedules, err) {
		all += s.Name + " " + string(s.State) + "\n"
	}
	audit, err := r.Audit(y.ctx, rota.AuditQuery{})
	for _, e := range must(y, "audit", audit, err).Entries {
		all += e.Act + " " + e.ID.String() + "\n"
	}
	return all
}

func viewReads(y *story) {
	first := y.running(rota.NewJob{Backoff: ptr(time.Duration(0))})
	y.fail(first)
	y.declareType("mail", rota.TypeSpec{})
	y.declare("nightly", rota.ScheduleSpec{})
	group := y.enqueueGroup(rota.GroupParallel, rota.FailureContinue, rota.NewJob{}).Group.ID
	v := y.view()
	for _, r := range []rota.Reader{y.s, v} {
		chain, err := r.Execution(y.ctx, first.ID)
		want(y, "attempts", len(must(y, "execution", chain, err)), 2)
		j, err := r.Job(y.ctx, first.ID)
		want(y, "state", must(y, "job", j, err).State(), rota.StateFailed)
		typ, err := r.Type(y.ctx, "mail")
		want(y, "type", must(y, "type", typ, err).Name, "mail")
		tpl, err := r.Templates(y.ctx, rota.NameQuery{})
		want(y, "templates", len(must(y, "templates", tpl, err)), 1)
		g, err := r.Group(y.ctx, group)
		want(y, "queued in the group", must(y, "group", g, err).Tally.Queued, 1)
		reasons, err := r.Explain(y.ctx, chain[1].ID)
		want(y, "some reason", len(must(y, "explain", reasons, err)) > 0, true)
		stats, err := r.Stats(y.ctx)
		want(y, "queued", must(y, "stats", stats, err).Queued, 2)
		_, err = r.Job(y.ctx, y.ids.next())
		y.wantNotFound("a job that is not there", err)
	}
}

func viewNow(y *story) {
	v := y.view()
	if off := time.Since(v.Now()); off > maxWait || off < -maxWait || v.Now().Location() != time.UTC {
		y.Errorf("the view has the time %s, %s from now", v.Now(), off)
	}
	stats, err := v.Stats(y.ctx)
	wantTime(y, "time of its stats", must(y, "stats", stats, err).Now, v.Now())
	if later := y.view().Now(); later.Before(v.Now()) {
		y.Errorf("a later view has the time %s, before %s", later, v.Now())
	}
}

func viewSeveral(y *story) {
	var views []rota.View
	for range 3 {
		views = append(views, y.view())
		y.enqueue(rota.NewJob{})
	}
	concurrently(len(views), func(i int) {
		for range 20 {
			n, err := views[i].CountJobs(y.ctx, rota.JobQuery{})
			if err != nil || n != int64(i) {
				y.Errorf("view %d counts %d jobs, %v", i, n, err)
			}
		}
	})
	want(y, "jobs in the store", y.countJobs(y.s, rota.JobQuery{}), 3)
}

// wantViewClosed wants the reads of a view to be refused.
func (y *story) wantViewClosed(what string, v rota.View) {
	y.Helper()
	_, err := v.Jobs(y.ctx, rota.JobQuery{})
	want(y, "jobs of a view "+what, rota.CodeOf(err), rota.Unavailable)
	_, err = v.Stats(y.ctx)
	want(y, "stats of a view "+what, rota.CodeOf(err), rota.Unavailable)
}

func viewClosed(y *story) {
	v := y.view()
	for range 2 {
		if err := v.Close(); err != nil {
			y.Errorf("close: %v", err)
		}
	}
	y.wantViewClosed("that was closed", v)
	y.enqueue(rota.NewJob{})
	want(y, "jobs in the store", y.countJobs(y.s, rota.JobQuery{}), 1)
}

func viewContext(y *story) {
	ended, _ := endedContext()
	if _, err := y.s.View(ended); err == nil {
		y.Error("a view was opened for an ended context")
	}
	ctx, end := context.WithCancel(y.ctx)
	defer end()
	v, err := y.s.View(ctx)
	want(y, "jobs before", y.countJobs(must(y, "view", v, err), rota.JobQuery{}), 0)
	end()
	for until := time.Now().Add(maxWait); ; { // the view ends asynchronously
		if _, err := v.Stats(y.ctx); err != nil || time.Now().After(until) {
			break
		}
	}
	y.wantViewClosed("whose context has ended", v)
	if err := v.Close(); err != nil {
		y.Errorf("close: %v", err)
	}
}

func viewStoreClosed(y *story) {
	s := y.h.Open(y.TB)
	v, err := s.View(y.ctx)
	must(y, "view", v, err)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			y.Errorf("close: %v", err)
		}
	case <-time.After(maxWait):
		y.Fatal("the close of the store waits for a view")
	}
	y.wantViewClosed("of a closed store", v)
	if err := v.Close(); err != nil {
		y.Errorf("close of the view: %v", err)
	}
}

func viewReadCancelled(y *story) {
	y.enqueueMany(3)
	one, other := y.view(), y.view()
	ended, _ := endedContext()
	_, _ = one.Jobs(ended, rota.JobQuery{})
	want(y, "jobs in the same view", y.countJobs(one, rota.JobQuery{}), 3)
	want(y, "jobs in the other", y.countJobs(other, rota.JobQuery{}), 3)
}
