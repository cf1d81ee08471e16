package engine_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// declare makes a schedule of a template of type work. Its jobs are of that
// type.
func (w *world) declare(name string, spec rota.ScheduleSpec) *rota.Schedule {
	w.Helper()
	spec.Template = "t"
	does[*rota.TemplatePut](w, &rota.PutTemplate{Meta: meta(), Name: "t", Spec: rota.TemplateSpec{Type: "work"}})
	put, err := rota.Declare(meta(), name, spec, w.clock.now())
	if err != nil {
		w.Fatal(err)
	}
	does[*rota.SchedulePut](w, put)
	return w.schedule(name)
}

func (w *world) schedule(name string) *rota.Schedule {
	w.Helper()
	s, err := w.store.Schedule(context.Background(), name)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// planned are the times that a schedule was fired for, and how often.
func (w *world) planned(name string) map[time.Time]int {
	w.Helper()
	jobs, err := w.store.Jobs(context.Background(), rota.JobQuery{Schedule: name, Limit: rota.PageMax})
	if err != nil {
		w.Fatal(err)
	}
	times := map[time.Time]int{}
	for _, job := range jobs {
		times[job.PlanTime]++
	}
	return times
}

// jump sets the clock and has the engine look at it, which it would do within a
// second by itself.
func (w *world) jump(d time.Duration) {
	w.Helper()
	w.clock.set(d)
	w.add(rota.NewJob{Type: "far", Delay: 9 * 365 * 24 * time.Hour})
}

// fires waits until a schedule has been fired for so many times, each once.
func (w *world) fires(name string, times int) {
	w.Helper()
	w.until("schedule "+name+" has fired", func() bool { return len(w.planned(name)) >= times })
	for at, n := range w.planned(name) {
		if n != 1 {
			w.T.Errorf("%s fired %d times for %s", name, n, at) // however slow the machine is
		}
	}
	if n := len(w.planned(name)); n != times {
		w.Errorf("%s fired for %d times, want %d: %v", name, n, times, w.planned(name))
	}
}

func done(context.Context, *rota.Job) error { return nil }

func TestAScheduleFiresOncePerTime(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		w.start(registry(done), engine.Config{Name: "a"})
		store, roll := w.another()
		w.startOn(store, registry(done), engine.Config{Name: "b", Membership: roll}) // and two engines fire no more than one
		w.declare("hourly", rota.ScheduleSpec{Every: time.Hour})
		for n := 1; n <= 4; n++ {
			w.jump(w.schedule("hourly").NextFire.Sub(w.clock.now()) + time.Second)
			w.fires("hourly", n)
		}
	})
}

func TestAScheduleFiresInTime(t *testing.T) {
	w := newWorld(t)
	w.start(registry(done), engine.Config{})
	w.soon("a fire", func() time.Duration {
		name := "soon-" + rota.NewID().String()
		spec := w.declare(name, rota.ScheduleSpec{At: w.clock.now().Add(time.Second)}).Spec
		e := w.seen.await(t, "the fire", func(e rota.Event) bool { return e.Kind == rota.EventScheduleFired && e.Schedule == name })
		return e.At.Sub(spec.At)
	})
}

// A schedule belongs to nobody while it is fired: whoever hangs or dies in the
// middle keeps nobody from firing it, and fires it no second time when it goes on.
func TestAProcessThatStopsBetweenPlanningAndFiringFiresOnce(t *testing.T) {
	for name, fault := range map[string]func(*gate) wrap.Fault{"before it is written": (*gate).before, "after it is written": (*gate).after} {
		t.Run(name, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, w *world) {
				g := newGate(rota.VerbFire)
				r := w.startOn(wrap.Flaky(w.store, fault(g)), registry(done), engine.Config{})
				w.declare("hourly", rota.ScheduleSpec{Every: time.Hour})
				w.jump(time.Hour + time.Second)
				w.comes(g.reached, "the fire")
				store, roll := w.another()
				other := w.startOn(store, registry(done), engine.Config{Name: "other", Membership: roll}) // takes over while the first hangs
				w.fires("hourly", 1)
				close(g.open)
				_ = r.shutdown()
				_ = other.shutdown()
				w.start(registry(done), engine.Config{})
				w.jump(time.Hour)
				w.fires("hourly", 2)
			})
		})
	}
}

func TestAScheduleThatIsRefusedStopsNoOther(t *testing.T) {
	w := newWorld(t)
	var refuse tally[string]
	refuse.add("bad", 1)
	store := &refusing{w.store, func(c rota.Command) *rota.Error {
		if fire, ok := c.(*rota.Fire); ok && refuse.of(fire.Schedule) > 0 {
			refuse.add("seen", 1)
			return rota.Errorf(rota.Internal, "fire", "no row like that")
		}
		return nil
	}}
	w.startOn(store, registry(done), engine.Config{})
	w.declare("bad", rota.ScheduleSpec{Every: time.Hour}) // it is the oldest that is due, always
	w.clock.set(time.Second)
	w.declare("good", rota.ScheduleSpec{Every: time.Hour})
	w.jump(time.Hour + time.Second)
	w.fires("good", 1)
	w.jump(time.Hour)
	w.fires("good", 2)
	if n := refuse.of("seen"); n == 0 || n > 10 {
		t.Errorf("the bad one was tried %d times", n)
	}
	refuse.add("bad", -1)
	w.fires("bad", 1) // in time it is tried again; the two missed times are one, by its catch-up
}

func TestAZoneThatIsUnknownHereHoldsUpItsScheduleAlone(t *testing.T) {
	w := newWorld(t)
	w.start(registry(done), engine.Config{})
	w.declare("good", rota.ScheduleSpec{Every: time.Hour})
	good := w.schedule("good")
	spec := rota.ScheduleSpec{Template: "t", Cron: "0 * * * *", Zone: "Atlantis/Capital"}
	does[*rota.SchedulePut](w, &rota.PutSchedule{
		Meta: meta(), Name: "bad", Spec: spec.Canonical(), Anchor: good.Anchor, Next: good.NextFire.Add(-time.Minute),
	})
	w.jump(time.Hour + time.Second)
	w.fires("good", 1)
	w.jump(time.Hour)
	w.fires("good", 2)
	tried := w.log.count("level=ERROR", "schedule=bad", "Atlantis")
	if state := w.schedule("bad").State; len(w.planned("bad")) != 0 || state != rota.ScheduleEnabled || tried == 0 || tried > 3 {
		t.Errorf("fired for %v, %s, tried %d times", w.planned("bad"), state, tried)
	}
}

// TestManyScopesAreFiredInSeveralSteps fires schedules that make many jobs each:
// no transaction has many more than it should.
func TestManyScopesAreFiredInSeveralSteps(t *testing.T) {
	w := newWorld(t)
	store := &measured{Store: w.store}
	w.startOn(store, registry(done), engine.Config{})
	var scopes []rota.Scope
	for i := range 400 {
		scopes = append(scopes, rota.Scope{Kind: "user", ID: strconv.Itoa(i)})
	}
	for i := range 4 {
		w.declare("many"+strconv.Itoa(i), rota.ScheduleSpec{Every: time.Hour, Scopes: scopes})
	}
	w.jump(time.Hour + time.Second)
	for i := range 4 {
		w.until("all are fired", func() bool {
			jobs, err := w.store.Jobs(t.Context(), rota.JobQuery{Schedule: "many" + strconv.Itoa(i), Limit: rota.PageMax})
			return err == nil && len(jobs) == len(scopes)
		})
	}
	if most := store.most.Load(); most > 3 {
		t.Errorf("one transaction fired %d schedules of 400 scopes", most)
	}
}

// measured notes the most fires that came in one batch.
type measured struct {
	rota.Store
	most atomic.Int64
}

func (m *measured) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	n := int64(0)
	for _, c := range b.Commands {
		if c.Verb() == rota.VerbFire {
			n++
		}
	}
	m.most.Store(max(n, m.most.Load()))
	return m.Store.Apply(ctx, b)
}

func TestAnOutageEndsNoSchedule(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		p := &power{}
		w.startOn(wrap.Flaky(w.store, p.fault()), registry(done), engine.Config{})
		w.declare("hourly", rota.ScheduleSpec{Every: time.Hour})
		p.off.Store(true)
		w.jump(time.Hour + time.Second)
		w.until("the fire was sent in vain", func() bool { return p.denied.Load() > 1 })
		p.off.Store(false)
		w.fires("hourly", 1)
		w.jump(time.Hour)
		w.fires("hourly", 2)
	})
}
