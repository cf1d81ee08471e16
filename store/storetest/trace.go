package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testTrace(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a job and its retries keep the trace of the request", traceKept},
		{"a redrive keeps the trace", traceRedriven},
		{"a group member and a direct run keep their traces", traceGroupAndDirect},
		{"a job without a trace has none", traceNone},
	})
}

func traceKept(y *story) {
	j := y.running(rota.NewJob{Trace: traceOne, Backoff: new(time.Duration(0))})
	want(y, "claimed", j.Trace, traceOne)
	want(y, "read", y.job(j.ID).Trace, traceOne)
	want(y, "listed", y.allJobs()[0].Trace, traceOne)
	retry := y.job(y.fail(j).RetryID)
	want(y, "the retry", retry.Trace, traceOne)
	last := y.claimOne()
	want(y, "the retry claimed", last.Trace, traceOne)
	attempts, err := y.s.Execution(y.ctx, j.ID)
	for _, one := range must(y, "execution", attempts, err) {
		want(y, "an attempt", one.Trace, traceOne)
	}
	y.advance(time.Hour)
	y.reap()
	want(y, "a retry by the reaper", y.allJobs()[0].Trace, traceOne)
}

func traceRedriven(y *story) {
	j := y.running(rota.NewJob{Trace: traceOne})
	y.failPermanently(j)
	want(y, "redriven", y.redrive(j.ID).Trace, traceOne)
}

func traceGroupAndDirect(y *story) {
	group := y.enqueueGroup(rota.GroupParallel, "", rota.NewJob{Trace: traceOne}, rota.NewJob{Trace: traceTwo})
	want(y, "first member", y.job(group.Jobs[0].ID).Trace, traceOne)
	want(y, "second member", y.job(group.Jobs[1].ID).Trace, traceTwo)
	direct := y.direct(y.reserve(), rota.NewJob{Trace: traceTwo})
	want(y, "direct run", y.job(direct.ID).Trace, traceTwo)
}

func traceNone(y *story) {
	j := y.running(rota.NewJob{})
	want(y, "trace", j.Trace, "")
	want(y, "of a retry", y.job(y.fail(j).RetryID).Trace, "")
	y.declare("nightly", rota.ScheduleSpec{})
	want(y, "of a fired job", y.fireNext("nightly").Trace, "")
}
