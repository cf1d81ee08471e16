package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testTrace(t *testing.T, h Harness) {
	tellAll(t, h, []tale{
		{"a job goes on from the trace it came with, through its retries", traceKept},
		{"a redrive goes on from the same trace", traceRedriven},
		{"a member of a group and a direct run have theirs", traceCompany},
		{"a job without a trace has none", traceNone},
	})
}

func traceKept(y *story) {
	j := y.running(rota.NewJob{Trace: traceOne, Backoff: new(time.Duration(0))})
	want(y, "claimed", j.Trace, traceOne)
	want(y, "read", y.look(j.ID).Trace, traceOne)
	want(y, "listed", y.allJobs()[0].Trace, traceOne)
	retry := y.look(y.fail(j).RetryID)
	want(y, "the retry", retry.Trace, traceOne)
	last := y.claimOne()
	want(y, "the retry claimed", last.Trace, traceOne)
	attempts, err := y.s.Execution(y.ctx, j.ID)
	for _, one := range must(y, "execution", attempts, err) {
		want(y, "an attempt", one.Trace, traceOne)
	}
	y.pass(time.Hour)
	y.reap()
	want(y, "a retry by the reaper", y.allJobs()[0].Trace, traceOne)
}

func traceRedriven(y *story) {
	j := y.running(rota.NewJob{Trace: traceOne})
	y.die(j)
	want(y, "redriven", y.redrive(j.ID).Trace, traceOne)
}

func traceCompany(y *story) {
	group := y.enqueueGroup(rota.GroupParallel, "", rota.NewJob{Trace: traceOne}, rota.NewJob{Trace: traceTwo})
	want(y, "first member", y.look(group.Jobs[0].ID).Trace, traceOne)
	want(y, "second member", y.look(group.Jobs[1].ID).Trace, traceTwo)
	direct := y.direct(y.reserve(), rota.NewJob{Trace: traceTwo})
	want(y, "direct run", y.look(direct.ID).Trace, traceTwo)
}

func traceNone(y *story) {
	j := y.running(rota.NewJob{})
	want(y, "trace", j.Trace, "")
	want(y, "of a retry", y.look(y.fail(j).RetryID).Trace, "")
	y.declare("nightly", rota.ScheduleSpec{})
	want(y, "of a fired job", y.fireNext("nightly").Trace, "")
}
