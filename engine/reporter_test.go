package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// reportRecorder is a Reporter that records reports.
type reportRecorder struct {
	reports chan engine.Report
	before  func(engine.Report) // called first; nil: nothing
}

func newReportRecorder() *reportRecorder {
	return &reportRecorder{reports: make(chan engine.Report, 100_000)}
}

// Report records a report.
func (p *reportRecorder) Report(_ context.Context, r engine.Report) {
	if p.before != nil {
		p.before(r)
	}
	p.reports <- r
}

// awaitReport waits for a report.
func (p *reportRecorder) awaitReport(h *harness) engine.Report {
	h.Helper()
	select {
	case r := <-p.reports:
		return r
	case <-time.After(waitMax):
		h.Fatalf("no report within %v", waitMax)
		return engine.Report{}
	}
}

// monitorRecorder is a Monitor that records reports and check-ins.
type monitorRecorder struct {
	*reportRecorder
	checkIns chan engine.CheckIn
}

func newMonitorRecorder() *monitorRecorder {
	return &monitorRecorder{newReportRecorder(), make(chan engine.CheckIn, 1_000)}
}

// CheckIn records a check-in.
func (o *monitorRecorder) CheckIn(_ context.Context, c engine.CheckIn) { o.checkIns <- c }

func (o *monitorRecorder) awaitCheckIn(h *harness) engine.CheckIn {
	h.Helper()
	select {
	case c := <-o.checkIns:
		return c
	case <-time.After(waitMax):
		h.Fatalf("no check-in within %v", waitMax)
		return engine.CheckIn{}
	}
}

// addFailing enqueues a job with one attempt.
func (h *harness) addFailing() rota.ID {
	h.Helper()
	return h.add(rota.NewJob{MaxRetries: new(0)})[0]
}

func alwaysFails(context.Context, *rota.Job) error { return errors.New("no luck") }

func TestEachFailedAttemptIsReportedOnce(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	h.start(registry(alwaysFails), engine.Config{Reporter: p})
	id := h.add(rota.NewJob{MaxRetries: new(2), Backoff: new(time.Duration(0)), Params: []byte(`{"n":7}`)})[0]
	for attempt := 1; attempt <= 3; attempt++ {
		r := p.awaitReport(h)
		if r.Job.ExecutionID != id || r.Job.Attempt != attempt || r.Dead != (attempt == 3) {
			t.Errorf("attempt %d, dead %t", r.Job.Attempt, r.Dead)
		}
		if r.Job.Run == nil || r.Job.Run.Error != "no luck" || string(r.Job.Params) != `{"n":7}` {
			t.Errorf("%+v, %s", r.Job.Run, r.Job.Params)
		}
	}
	last := h.addFailing()
	if r := p.awaitReport(h); r.Job.ID != last {
		t.Errorf("job %s was reported once more", r.Job.ID)
	}
}

func TestFailuresTimeoutsAndExpiredLeasesAreReported(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	s := newControlledHandler()
	reg := registry(s.handle, engine.WithTimeout(time.Hour))
	reg.Func("panics", rota.TypeSpec{}, func(context.Context, *rota.Job) error { panic("boom") })
	reg.Func("remote", rota.TypeSpec{}, done)
	mustApply[*rota.TypePut](h, &rota.PutType{Meta: meta(), Name: "elsewhere"})
	elsewhere := h.add(rota.NewJob{Type: "elsewhere"})[0]
	mustApply[*rota.Claimed](h, &rota.Claim{
		Meta: meta(), Worker: "remote", Types: []string{"elsewhere"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
	})
	h.start(reg, engine.Config{Reporter: p})

	completed := h.addOne()
	s.awaitStart(h)
	s.results <- nil
	h.awaitEnded(completed)
	cancelled := h.addOne()
	s.awaitStart(h)
	h.cancel(cancelled)
	h.awaitEnded(cancelled)
	waiting := h.add(rota.NewJob{Delay: time.Hour})[0]
	h.cancel(waiting)

	late := h.add(rota.NewJob{Timeout: new(20 * time.Millisecond)})[0]
	s.awaitStart(h)
	if r := p.awaitReport(h); r.Job.ID != late || r.Job.Run.ErrorCode != rota.CodeTimeout || r.Dead {
		t.Errorf("%s, %q; neither completed nor cancelled runs are reported", r.Job.ID, r.Job.Run.ErrorCode)
	}
	panics := h.add(rota.NewJob{Type: "panics", MaxRetries: new(0)})[0]
	if r := p.awaitReport(h); r.Job.ID != panics || r.Job.Run.ErrorCode != "panic" || !strings.Contains(r.Job.Run.Error, "reporter_test.go") || !r.Dead {
		t.Errorf("%s, %+v", r.Job.ID, r.Job.Run)
	}
	h.reapAll()
	if r := p.awaitReport(h); r.Job.ID != elsewhere || r.Job.Run.ErrorCode != rota.CodeLeaseExpired || r.Job.Run.Runner != "remote" {
		t.Errorf("%s, %+v", r.Job.ID, r.Job.Run)
	}
}

func TestInternalJobsAreReportedOnlyWhenDead(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	reg := registry(alwaysFails)
	reg.Func(rota.TypeWebhook, rota.TypeSpec{}, alwaysFails)
	h.start(reg, engine.Config{Reporter: p, Workers: 1})
	h.putWebhooks(rota.Webhook{URL: "http://example.org/", Events: []rota.EventKind{rota.EventJobFailed}})
	h.addFailing()
	p.awaitReport(h)
	own := h.awaitDelivery()
	for range rota.DeliveryPolicy.MaxAttempts - 1 {
		h.awaitEnded(own)
		h.clock.set(rota.DeliveryPolicy.BackoffMax * 2)
		own = h.awaitRetry(own).ID
	}
	if r := p.awaitReport(h); r.Job.ID != own || !r.Dead {
		t.Errorf("attempt %d of %s, dead %t", r.Job.Attempt, r.Job.ExecutionID, r.Dead)
	}
	id := h.addFailing()
	if r := p.awaitReport(h); r.Job.ID != id {
		t.Errorf("%s was reported", r.Job.ID)
	}
}

func TestRunCutOffByShutdownIsNotReported(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{Reporter: p, ShutdownGrace: time.Millisecond})
	id := h.add(rota.NewJob{})[0]
	s.awaitStart(h)
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if job := h.job(id); job.Run.ErrorCode != rota.CodeShutdown || len(p.reports) != 0 {
		t.Errorf("%q, %d reports", job.Run.ErrorCode, len(p.reports))
	}
}

func TestMonitorReceivesCheckInsOfSchedules(t *testing.T) {
	h := newHarness(t)
	o := newMonitorRecorder()
	h.start(registry(func(_ context.Context, job *rota.Job) error {
		switch {
		case job.Schedule == "good", job.Schedule == "":
			return nil
		case job.Attempt == 1:
			return rota.RetryAt(time.Now(), errors.New("no luck"))
		}
		return rota.Permanent(errors.New("no luck at all"))
	}), engine.Config{Reporter: o, Workers: 1})
	plain := h.addOne()
	h.awaitEnded(plain) // it belongs to no schedule
	good := h.declareSchedule("good", rota.ScheduleSpec{At: h.clock.now().Add(time.Hour)})
	h.setClock(time.Hour + 5*time.Second)
	c := o.awaitCheckIn(h)
	if c.Status != engine.CheckInStarted || c.Schedule.Name != "good" || c.Job.PlanTime != good.Spec.At || c.At.IsZero() {
		t.Errorf("%+v", c)
	}
	if c.Late < 4*time.Second || c.Late > time.Minute || c.Late != c.At.Sub(c.Job.PlanTime) {
		t.Errorf("late by %v", c.Late)
	}
	id := c.Job.ID
	if c = o.awaitCheckIn(h); c.Status != engine.CheckInCompleted || c.Job.ID != id || c.Job.State() != rota.StateCompleted || c.Late != 0 {
		t.Errorf("%+v", c)
	}
	h.declareSchedule("bad", rota.ScheduleSpec{At: h.clock.now().Add(time.Hour)})
	h.setClock(time.Hour)
	if c = o.awaitCheckIn(h); c.Status != engine.CheckInStarted || c.Schedule.Name != "bad" || c.Job.Attempt != 1 {
		t.Errorf("%+v", c)
	}
	id = c.Job.ID
	if c = o.awaitCheckIn(h); c.Status != engine.CheckInFailed || c.Job.ExecutionID != id || c.Job.Attempt != 2 { // the start of the second attempt is not reported
		t.Errorf("%+v", c)
	}
	for attempt := 1; attempt <= 2; attempt++ {
		if r := o.awaitReport(h); r.Job.Schedule != "bad" || r.Job.Attempt != attempt || r.Dead != (attempt == 2) {
			t.Errorf("%+v", r)
		}
	}
}

func TestMonitorReceivesMissedTimes(t *testing.T) {
	h := newHarness(t)
	h.declareSchedule("nightly", rota.ScheduleSpec{Every: time.Hour, CatchUp: rota.CatchUpNone})
	h.clock.set(10 * time.Hour)
	o := newMonitorRecorder()
	h.start(registry(done), engine.Config{Reporter: o})
	c := o.awaitCheckIn(h)
	if c.Status != engine.CheckInMissed || c.Schedule.Name != "nightly" || c.Schedule.Spec.Every != time.Hour || c.Job != nil || c.Missed == "" || c.At.IsZero() {
		t.Errorf("%+v", c)
	}
}

func TestCheckInOfDeletedScheduleHasItsName(t *testing.T) {
	h := newHarness(t)
	o := newMonitorRecorder()
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{Reporter: o})
	h.declareSchedule("once", rota.ScheduleSpec{At: h.clock.now().Add(time.Hour)})
	h.setClock(time.Hour)
	s.awaitStart(h)
	o.awaitCheckIn(h)
	mustApply[*rota.ScheduleDeleted](h, &rota.DeleteSchedule{Meta: meta(), Name: "once"})
	s.results <- nil
	if c := o.awaitCheckIn(h); c.Status != engine.CheckInCompleted || c.Schedule == nil || c.Schedule.Name != "once" {
		t.Errorf("%+v", c)
	}
}

// A Reporter that is no Monitor is not called for schedules.
func TestReporterWithoutMonitorGetsNoCheckIns(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	h.start(registry(alwaysFails), engine.Config{Reporter: p})
	h.declareSchedule("once", rota.ScheduleSpec{At: h.clock.now().Add(time.Hour)})
	h.setClock(time.Hour)
	if r := p.awaitReport(h); r.Job.Schedule != "once" {
		t.Errorf("%+v", r)
	}
}

func TestPanickingReporterIsLoggedAndCalledAgain(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	var calls atomic.Int64
	p.before = func(engine.Report) {
		if calls.Add(1) <= 2 {
			panic("no ink")
		}
	}
	h.start(registry(alwaysFails), engine.Config{Reporter: p})
	for range 3 {
		h.awaitEnded(h.addFailing())
	}
	p.awaitReport(h)
	if n, again := h.log.count("the reporter panicked", "no ink", "reporter_test.go"), h.log.count("no longer panics"); n != 1 || again != 1 {
		t.Errorf("it was logged %d times, its end %d times", n, again)
	}
}

func TestHangingReporterDelaysNothing(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	hang := make(chan struct{})
	defer close(hang)
	p.before = func(engine.Report) { <-hang }
	r := h.start(registry(alwaysFails), engine.Config{Reporter: p})
	r.SetReportGrace(50 * time.Millisecond)
	for range 5 {
		h.awaitEnded(h.addFailing())
	}
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if n := h.log.count("the reporter did not finish in time", "waiting=4"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

func TestReportsBeyondQueueAreDropped(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	began, release := make(chan struct{}, 1), make(chan struct{})
	p.before = func(engine.Report) {
		select {
		case began <- struct{}{}:
		default:
		}
		<-release
	}
	const queueMax, surplus = 20, 7
	r := h.start(registry(alwaysFails), engine.Config{Reporter: p})
	r.SetReportMax(queueMax)
	h.addFailing()
	<-began // it holds this report, and the queue is empty
	jobs := make([]rota.NewJob, queueMax+surplus)
	for i := range jobs {
		jobs[i].MaxRetries = new(0)
	}
	h.awaitAllEnded(h.add(jobs...))
	h.eventually("it was logged", func() bool { return h.log.count("too many reports are waiting") == 1 })
	close(release)
	for range 1 + queueMax {
		p.awaitReport(h)
	}
	if n := h.log.count("reports were dropped", fmt.Sprint("reports=", surplus)); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
	if err := r.shutdown(); err != nil || len(p.reports) != 0 {
		t.Errorf("%v, %d more reports", err, len(p.reports))
	}
}

func TestWaitingReportsAreSentDuringShutdown(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	began, release := make(chan struct{}, 100), make(chan struct{})
	p.before = func(engine.Report) {
		began <- struct{}{}
		<-release
	}
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{Reporter: p})
	r.SetReportGrace(waitMax)
	for range 3 {
		h.addFailing()
		s.awaitStart(h)
	}
	s.results <- errors.New("no luck")
	<-began
	s.results <- errors.New("no luck")
	r.stop()
	s.results <- errors.New("no luck") // it fails while the engine ends
	h.eventually("the last end is recorded", func() bool {
		return h.events.count(func(e rota.Event) bool { return e.Kind == rota.EventJobDead }) == 3
	})
	close(release)
	h.await(r.done, "the end of the engine")
	if len(p.reports) != 3 {
		t.Errorf("%d reports", len(p.reports))
	}
}

// unreadableJobs is a store whose jobs cannot be read at first.
type unreadableJobs struct {
	rota.Store
	failures counter[string]
}

// Job fails three times.
func (u *unreadableJobs) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	if u.failures.add("n", 1) <= 3 {
		return nil, errDown
	}
	return u.Store.Job(ctx, id)
}

func TestUnreadableFailureIsReportedLater(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	h.startOn(&unreadableJobs{Store: h.store}, registry(alwaysFails), engine.Config{Reporter: p})
	id := h.addFailing()
	if r := p.awaitReport(h); r.Job.ID != id {
		t.Errorf("%s", r.Job.ID)
	}
	if n := h.log.count("could not be read"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

func TestWorkOnlyEngineReportsNothing(t *testing.T) {
	h := newHarness(t)
	p := newReportRecorder()
	r := h.start(registry(alwaysFails), engine.Config{Reporter: p, WorkOnly: true})
	h.awaitEnded(h.addFailing())
	if err := r.shutdown(); err != nil || len(p.reports) != 0 {
		t.Errorf("%v, %d reports", err, len(p.reports))
	}
}

// A job that an earlier incarnation left open counts as failed.
func TestJobsRecoveredAtStartAreReported(t *testing.T) {
	h := newHarness(t)
	mustApply[*rota.TypePut](h, &rota.PutType{Meta: meta(), Name: "work"})
	id := h.add(rota.NewJob{})[0]
	mustApply[*rota.Claimed](h, &rota.Claim{
		Meta: meta(), Worker: "local", Incarnation: rota.NewID(), Types: []string{"work"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
	})
	p := newReportRecorder()
	h.start(registry(done), engine.Config{Reporter: p})
	if r := p.awaitReport(h); r.Job.ID != id || r.Dead {
		t.Errorf("%+v", r)
	}
}
