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

// paper is a newspaper: it takes reports, and does with them what a test says.
type paper struct {
	reports chan engine.Report
	before  func(engine.Report) // nil: nothing
}

func newPaper() *paper { return &paper{reports: make(chan engine.Report, 100_000)} }

// Report takes one.
func (p *paper) Report(_ context.Context, r engine.Report) {
	if p.before != nil {
		p.before(r)
	}
	p.reports <- r
}

// next waits for a report.
func (p *paper) next(w *world) engine.Report {
	w.Helper()
	select {
	case r := <-p.reports:
		return r
	case <-time.After(patience):
		w.Fatal("waited in vain for a report")
		return engine.Report{}
	}
}

// observer is a paper that also has a column for schedules.
type observer struct {
	*paper
	checkIns chan engine.CheckIn
}

func newObserver() *observer { return &observer{newPaper(), make(chan engine.CheckIn, 1_000)} }

// CheckIn takes one.
func (o *observer) CheckIn(_ context.Context, c engine.CheckIn) { o.checkIns <- c }

func (o *observer) checkIn(w *world) engine.CheckIn {
	w.Helper()
	select {
	case c := <-o.checkIns:
		return c
	case <-time.After(patience):
		w.Fatal("waited in vain for a check-in")
		return engine.CheckIn{}
	}
}

// fails puts a job into the queue whose only attempt fails.
func (w *world) fails() rota.ID {
	w.Helper()
	return w.add(rota.NewJob{MaxRetries: new(0)})[0]
}

func unlucky(context.Context, *rota.Job) error { return errors.New("no luck") }

func TestEachAttemptThatFailsIsReportedOnce(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	w.start(registry(unlucky), engine.Config{Reporter: p})
	id := w.add(rota.NewJob{MaxRetries: new(2), Backoff: new(time.Duration(0)), Params: []byte(`{"n":7}`)})[0]
	for attempt := 1; attempt <= 3; attempt++ {
		r := p.next(w)
		if r.Job.ExecutionID != id || r.Job.Attempt != attempt || r.Dead != (attempt == 3) {
			t.Errorf("attempt %d, dead %t", r.Job.Attempt, r.Dead)
		}
		if r.Job.Run == nil || r.Job.Run.Error != "no luck" || string(r.Job.Params) != `{"n":7}` {
			t.Errorf("%+v, %s", r.Job.Run, r.Job.Params)
		}
	}
	last := w.fails()
	if r := p.next(w); r.Job.ID != last {
		t.Errorf("job %s was reported once more", r.Job.ID)
	}
}

func TestWhatIsReported(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	s := newStage()
	reg := registry(s.play, engine.WithTimeout(time.Hour))
	reg.Func("panics", rota.TypeSpec{}, func(context.Context, *rota.Job) error { panic("boom") })
	reg.Func("afar", rota.TypeSpec{}, done)
	does[*rota.TypePut](w, &rota.PutType{Meta: meta(), Name: "elsewhere"})
	elsewhere := w.add(rota.NewJob{Type: "elsewhere"})[0]
	does[*rota.Claimed](w, &rota.Claim{
		Meta: meta(), Worker: "afar", Types: []string{"elsewhere"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
	})
	w.start(reg, engine.Config{Reporter: p})

	completed := w.addOne()
	s.next(w)
	s.end <- nil
	w.ended(completed)
	cancelled := w.addOne()
	s.next(w)
	w.cancel(cancelled)
	w.ended(cancelled)
	waiting := w.add(rota.NewJob{Delay: time.Hour})[0]
	w.cancel(waiting)

	late := w.add(rota.NewJob{Timeout: new(20 * time.Millisecond)})[0]
	s.next(w)
	if r := p.next(w); r.Job.ID != late || r.Job.Run.ErrorCode != rota.CodeTimeout || r.Dead {
		t.Errorf("%s, %q; neither one that completed nor one that somebody has cancelled is reported", r.Job.ID, r.Job.Run.ErrorCode)
	}
	panics := w.add(rota.NewJob{Type: "panics", MaxRetries: new(0)})[0]
	if r := p.next(w); r.Job.ID != panics || r.Job.Run.ErrorCode != "panic" || !strings.Contains(r.Job.Run.Error, "reporter_test.go") || !r.Dead {
		t.Errorf("%s, %+v", r.Job.ID, r.Job.Run)
	}
	w.steal()
	if r := p.next(w); r.Job.ID != elsewhere || r.Job.Run.ErrorCode != rota.CodeLeaseExpired || r.Job.Run.Runner != "afar" {
		t.Errorf("%s, %+v", r.Job.ID, r.Job.Run)
	}
}

func TestOfRotasOwnJobsOnlyTheDeadAreReported(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	reg := registry(unlucky)
	reg.Func(rota.TypeWebhook, rota.TypeSpec{}, unlucky)
	w.start(reg, engine.Config{Reporter: p, Workers: 1})
	w.hook(rota.Webhook{URL: "http://example.org/", Events: []rota.EventKind{rota.EventJobFailed}})
	w.fails()
	p.next(w)
	own := w.delivery()
	for range rota.DeliveryPolicy.MaxAttempts - 1 {
		w.ended(own)
		w.clock.set(rota.DeliveryPolicy.BackoffMax * 2)
		own = w.retryOf(own).ID
	}
	if r := p.next(w); r.Job.ID != own || !r.Dead {
		t.Errorf("attempt %d of %s, dead %t", r.Job.Attempt, r.Job.ExecutionID, r.Dead)
	}
	id := w.fails()
	if r := p.next(w); r.Job.ID != id {
		t.Errorf("%s was reported", r.Job.ID)
	}
}

func TestWhatAShutdownCutsOffIsNoFailure(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	s := newStage()
	r := w.start(registry(s.play), engine.Config{Reporter: p, ShutdownGrace: time.Millisecond})
	id := w.add(rota.NewJob{})[0]
	s.next(w)
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if job := w.job(id); job.Run.ErrorCode != rota.CodeShutdown || len(p.reports) != 0 {
		t.Errorf("%q, %d reports", job.Run.ErrorCode, len(p.reports))
	}
}

func TestAMonitorHearsHowASchedulesExecutionsFare(t *testing.T) {
	w := newWorld(t)
	o := newObserver()
	w.start(registry(func(_ context.Context, job *rota.Job) error {
		switch {
		case job.Schedule == "good", job.Schedule == "":
			return nil
		case job.Attempt == 1:
			return rota.RetryAt(time.Now(), errors.New("no luck"))
		}
		return rota.Permanent(errors.New("no luck at all"))
	}), engine.Config{Reporter: o, Workers: 1})
	plain := w.addOne()
	w.ended(plain) // which is nobody's schedule
	good := w.declare("good", rota.ScheduleSpec{At: w.clock.now().Add(time.Hour)})
	w.jump(time.Hour + 5*time.Second)
	c := o.checkIn(w)
	if c.Status != engine.CheckInStarted || c.Schedule.Name != "good" || c.Job.PlanTime != good.Spec.At || c.At.IsZero() {
		t.Errorf("%+v", c)
	}
	if c.Late < 4*time.Second || c.Late > time.Minute || c.Late != c.At.Sub(c.Job.PlanTime) {
		t.Errorf("late by %v", c.Late)
	}
	id := c.Job.ID
	if c = o.checkIn(w); c.Status != engine.CheckInCompleted || c.Job.ID != id || c.Job.State() != rota.StateCompleted || c.Late != 0 {
		t.Errorf("%+v", c)
	}
	w.declare("bad", rota.ScheduleSpec{At: w.clock.now().Add(time.Hour)})
	w.jump(time.Hour)
	if c = o.checkIn(w); c.Status != engine.CheckInStarted || c.Schedule.Name != "bad" || c.Job.Attempt != 1 {
		t.Errorf("%+v", c)
	}
	id = c.Job.ID
	if c = o.checkIn(w); c.Status != engine.CheckInFailed || c.Job.ExecutionID != id || c.Job.Attempt != 2 { // and not that the second began
		t.Errorf("%+v", c)
	}
	for attempt := 1; attempt <= 2; attempt++ {
		if r := o.next(w); r.Job.Schedule != "bad" || r.Job.Attempt != attempt || r.Dead != (attempt == 2) {
			t.Errorf("%+v", r)
		}
	}
}

func TestAMonitorHearsOfMissedTimes(t *testing.T) {
	w := newWorld(t)
	w.declare("nightly", rota.ScheduleSpec{Every: time.Hour, CatchUp: rota.CatchUpNone})
	w.clock.set(10 * time.Hour)
	o := newObserver()
	w.start(registry(done), engine.Config{Reporter: o})
	c := o.checkIn(w)
	if c.Status != engine.CheckInMissed || c.Schedule.Name != "nightly" || c.Schedule.Spec.Every != time.Hour || c.Job != nil || c.Missed == "" || c.At.IsZero() {
		t.Errorf("%+v", c)
	}
}

func TestACheckInOfAScheduleThatIsGoneHasItsName(t *testing.T) {
	w := newWorld(t)
	o := newObserver()
	s := newStage()
	w.start(registry(s.play), engine.Config{Reporter: o})
	w.declare("once", rota.ScheduleSpec{At: w.clock.now().Add(time.Hour)})
	w.jump(time.Hour)
	s.next(w)
	o.checkIn(w)
	does[*rota.ScheduleDeleted](w, &rota.DeleteSchedule{Meta: meta(), Name: "once"})
	s.end <- nil
	if c := o.checkIn(w); c.Status != engine.CheckInCompleted || c.Schedule == nil || c.Schedule.Name != "once" {
		t.Errorf("%+v", c)
	}
}

// One who only wants failures is not kept busy with schedules.
func TestAReporterThatIsNoMonitorHearsOfNoSchedules(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	w.start(registry(unlucky), engine.Config{Reporter: p})
	w.declare("once", rota.ScheduleSpec{At: w.clock.now().Add(time.Hour)})
	w.jump(time.Hour)
	if r := p.next(w); r.Job.Schedule != "once" {
		t.Errorf("%+v", r)
	}
}

func TestAReporterThatPanicsHarmsNobody(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	var calls atomic.Int64
	p.before = func(engine.Report) {
		if calls.Add(1) <= 2 {
			panic("no ink")
		}
	}
	w.start(registry(unlucky), engine.Config{Reporter: p})
	for range 3 {
		w.ended(w.fails())
	}
	p.next(w)
	if n, again := w.log.count("the reporter panicked", "no ink", "reporter_test.go"), w.log.count("no longer panics"); n != 1 || again != 1 {
		t.Errorf("it was logged %d times, its end %d times", n, again)
	}
}

func TestAReporterThatHangsHarmsNobody(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	hang := make(chan struct{})
	defer close(hang)
	p.before = func(engine.Report) { <-hang }
	r := w.start(registry(unlucky), engine.Config{Reporter: p})
	r.SetReportGrace(50 * time.Millisecond)
	for range 5 {
		w.ended(w.fails())
	}
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if n := w.log.count("the reporter did not finish in time", "waiting=4"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

func TestReportsThatDoNotFitAreLeftOut(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	began, release := make(chan struct{}, 1), make(chan struct{})
	p.before = func(engine.Report) {
		select {
		case began <- struct{}{}:
		default:
		}
		<-release
	}
	const room, surplus = 20, 7
	r := w.start(registry(unlucky), engine.Config{Reporter: p})
	r.SetReportMax(room)
	w.fails()
	<-began // it holds this one, and all places are free
	jobs := make([]rota.NewJob, room+surplus)
	for i := range jobs {
		jobs[i].MaxRetries = new(0)
	}
	w.allEnd(w.add(jobs...))
	w.until("it was logged", func() bool { return w.log.count("too many reports are waiting") == 1 })
	close(release)
	for range 1 + room {
		p.next(w)
	}
	if n := w.log.count("reports were dropped", fmt.Sprint("reports=", surplus)); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
	if err := r.shutdown(); err != nil || len(p.reports) != 0 {
		t.Errorf("%v, %d more reports", err, len(p.reports))
	}
}

func TestWhatWaitsToBeReportedIsToldInAShutdown(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	began, release := make(chan struct{}, 100), make(chan struct{})
	p.before = func(engine.Report) {
		began <- struct{}{}
		<-release
	}
	s := newStage()
	r := w.start(registry(s.play), engine.Config{Reporter: p})
	r.SetReportGrace(patience)
	for range 3 {
		w.fails()
		s.next(w)
	}
	s.end <- errors.New("no luck")
	<-began
	s.end <- errors.New("no luck")
	r.stop()
	s.end <- errors.New("no luck") // it fails while the engine ends
	w.until("the last end is recorded", func() bool {
		return w.seen.count(func(e rota.Event) bool { return e.Kind == rota.EventJobDead }) == 3
	})
	close(release)
	w.comes(r.over, "the end of the engine")
	if len(p.reports) != 3 {
		t.Errorf("%d reports", len(p.reports))
	}
}

// unread is a store whose jobs cannot be read at first.
type unread struct {
	rota.Store
	failures tally[string]
}

// Job fails three times.
func (u *unread) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	if u.failures.add("n", 1) <= 3 {
		return nil, errDown
	}
	return u.Store.Job(ctx, id)
}

func TestAFailureThatCannotBeReadIsReportedLater(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	w.startOn(&unread{Store: w.store}, registry(unlucky), engine.Config{Reporter: p})
	id := w.fails()
	if r := p.next(w); r.Job.ID != id {
		t.Errorf("%s", r.Job.ID)
	}
	if n := w.log.count("could not be read"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

func TestAnEngineThatOnlyWorksReportsNothing(t *testing.T) {
	w := newWorld(t)
	p := newPaper()
	r := w.start(registry(unlucky), engine.Config{Reporter: p, WorkOnly: true})
	w.ended(w.fails())
	if err := r.shutdown(); err != nil || len(p.reports) != 0 {
		t.Errorf("%v, %d reports", err, len(p.reports))
	}
}

// What an earlier life left is a failure, too.
func TestWhatIsSettledAtTheStartIsReported(t *testing.T) {
	w := newWorld(t)
	does[*rota.TypePut](w, &rota.PutType{Meta: meta(), Name: "work"})
	id := w.add(rota.NewJob{})[0]
	does[*rota.Claimed](w, &rota.Claim{
		Meta: meta(), Worker: "local", Incarnation: rota.NewID(), Types: []string{"work"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
	})
	p := newPaper()
	w.start(registry(done), engine.Config{Reporter: p})
	if r := p.next(w); r.Job.ID != id || r.Dead {
		t.Errorf("%+v", r)
	}
}
