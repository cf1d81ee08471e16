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

// declareSchedule declares a schedule of a template of type work.
func (h *harness) declareSchedule(name string, spec rota.ScheduleSpec) *rota.Schedule {
	h.Helper()
	spec.Template = "t"
	mustApply[*rota.TemplatePut](h, &rota.PutTemplate{Meta: meta(), Name: "t", Spec: rota.TemplateSpec{Type: "work"}})
	put, err := rota.Declare(meta(), name, spec, h.clock.now())
	if err != nil {
		h.Fatal(err)
	}
	mustApply[*rota.SchedulePut](h, put)
	return h.schedule(name)
}

func (h *harness) schedule(name string) *rota.Schedule {
	h.Helper()
	s, err := h.store.Schedule(context.Background(), name)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// planTimes returns the times that a schedule was fired for, and how often.
func (h *harness) planTimes(name string) map[time.Time]int {
	h.Helper()
	jobs, err := h.store.Jobs(context.Background(), rota.JobQuery{Schedule: name, Limit: rota.PageMax})
	if err != nil {
		h.Fatal(err)
	}
	times := map[time.Time]int{}
	for _, job := range jobs {
		times[job.PlanTime]++
	}
	return times
}

// setClock moves the clock and wakes the engine, which would otherwise notice it within a
// second.
func (h *harness) setClock(d time.Duration) {
	h.Helper()
	h.clock.set(d)
	h.add(rota.NewJob{Type: "far", Delay: 9 * 365 * 24 * time.Hour})
}

// awaitFires waits until a schedule has fired for a number of times, each once.
func (h *harness) awaitFires(name string, times int) {
	h.Helper()
	h.eventually("schedule "+name+" has fired", func() bool { return len(h.planTimes(name)) >= times })
	for at, n := range h.planTimes(name) {
		if n != 1 {
			h.T.Errorf("%s fired %d times for %s", name, n, at) // however slow the machine is
		}
	}
	if n := len(h.planTimes(name)); n != times {
		h.Errorf("%s fired for %d times, want %d: %v", name, n, times, h.planTimes(name))
	}
}

func done(context.Context, *rota.Job) error { return nil }

func TestScheduleFiresOncePerTime(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		h.start(registry(done), engine.Config{Name: "a"})
		store, membership := h.secondProcess()
		h.startOn(store, registry(done), engine.Config{Name: "b", Membership: membership}) // two engines fire no more than one
		h.declareSchedule("hourly", rota.ScheduleSpec{Every: time.Hour})
		for n := 1; n <= 4; n++ {
			h.setClock(h.schedule("hourly").NextFire.Sub(h.clock.now()) + time.Second)
			h.awaitFires("hourly", n)
		}
	})
}

func TestScheduleFiresInTime(t *testing.T) {
	h := newHarness(t)
	h.start(registry(done), engine.Config{})
	h.inTime("a fire", func() time.Duration {
		name := "soon-" + rota.NewID().String()
		spec := h.declareSchedule(name, rota.ScheduleSpec{At: h.clock.now().Add(time.Second)}).Spec
		e := h.events.await(t, "the fire", func(e rota.Event) bool { return e.Kind == rota.EventScheduleFired && e.Schedule == name })
		return e.At.Sub(spec.At)
	})
}

// No process owns a schedule while firing it: a process that hangs or dies in between
// does not keep others from firing, and does not fire again when it continues.
func TestProcessStoppedBetweenPlanAndFireFiresOnce(t *testing.T) {
	for name, fault := range map[string]func(*gate) wrap.Fault{"before it is written": (*gate).before, "after it is written": (*gate).after} {
		t.Run(name, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, h *harness) {
				g := newGate(rota.VerbFire)
				r := h.startOn(wrap.Flaky(h.store, fault(g)), registry(done), engine.Config{})
				h.declareSchedule("hourly", rota.ScheduleSpec{Every: time.Hour})
				h.setClock(time.Hour + time.Second)
				h.await(g.reached, "the fire")
				store, membership := h.secondProcess()
				other := h.startOn(store, registry(done), engine.Config{Name: "other", Membership: membership}) // it fires while the first hangs
				h.awaitFires("hourly", 1)
				close(g.open)
				_ = r.shutdown()
				_ = other.shutdown()
				h.start(registry(done), engine.Config{})
				h.setClock(time.Hour)
				h.awaitFires("hourly", 2)
			})
		})
	}
}

func TestRefusedScheduleDoesNotBlockOthers(t *testing.T) {
	h := newHarness(t)
	var refuse counter[string]
	refuse.add("bad", 1)
	store := &refusing{h.store, func(c rota.Command) *rota.Error {
		if fire, ok := c.(*rota.Fire); ok && refuse.get(fire.Schedule) > 0 {
			refuse.add("seen", 1)
			return rota.Errorf(rota.Internal, "fire", "no row like that")
		}
		return nil
	}}
	h.startOn(store, registry(done), engine.Config{})
	h.declareSchedule("bad", rota.ScheduleSpec{Every: time.Hour}) // always the first that is due
	h.clock.set(time.Second)
	h.declareSchedule("good", rota.ScheduleSpec{Every: time.Hour})
	h.setClock(time.Hour + time.Second)
	h.awaitFires("good", 1)
	h.setClock(time.Hour)
	h.awaitFires("good", 2)
	if n := refuse.get("seen"); n == 0 || n > 10 {
		t.Errorf("the bad one was tried %d times", n)
	}
	refuse.add("bad", -1)
	h.awaitFires("bad", 1) // it is retried; its catch-up makes one fire of the two missed times
}

func TestUnknownTimeZoneBlocksOnlyItsSchedule(t *testing.T) {
	h := newHarness(t)
	h.start(registry(done), engine.Config{})
	h.declareSchedule("good", rota.ScheduleSpec{Every: time.Hour})
	good := h.schedule("good")
	spec := rota.ScheduleSpec{Template: "t", Cron: "0 * * * *", Zone: "Atlantis/Capital"}
	mustApply[*rota.SchedulePut](h, &rota.PutSchedule{
		Meta: meta(), Name: "bad", Spec: spec.Canonical(), Anchor: good.Anchor, Next: good.NextFire.Add(-time.Minute),
	})
	h.setClock(time.Hour + time.Second)
	h.awaitFires("good", 1)
	h.setClock(time.Hour)
	h.awaitFires("good", 2)
	tried := h.log.count("level=ERROR", "schedule=bad", "Atlantis")
	if state := h.schedule("bad").State; len(h.planTimes("bad")) != 0 || state != rota.ScheduleEnabled || tried == 0 || tried > 3 {
		t.Errorf("fired for %v, %s, tried %d times", h.planTimes("bad"), state, tried)
	}
}

// Schedules with many scopes create many jobs each: no transaction has many more than the
// bound.
func TestSchedulesWithManyScopesFireInSeveralBatches(t *testing.T) {
	h := newHarness(t)
	store := &fireCounter{Store: h.store}
	h.startOn(store, registry(done), engine.Config{})
	var scopes []rota.Scope
	for i := range 400 {
		scopes = append(scopes, rota.Scope{Kind: "user", ID: strconv.Itoa(i)})
	}
	for i := range 4 {
		h.declareSchedule("many"+strconv.Itoa(i), rota.ScheduleSpec{Every: time.Hour, Scopes: scopes})
	}
	h.setClock(time.Hour + time.Second)
	for i := range 4 {
		h.eventually("all are fired", func() bool {
			jobs, err := h.store.Jobs(t.Context(), rota.JobQuery{Schedule: "many" + strconv.Itoa(i), Limit: rota.PageMax})
			return err == nil && len(jobs) == len(scopes)
		})
	}
	if most := store.most.Load(); most > 3 {
		t.Errorf("one transaction fired %d schedules of 400 scopes", most)
	}
}

// fireCounter records the most fires in one batch.
type fireCounter struct {
	rota.Store
	most atomic.Int64
}

func (m *fireCounter) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	n := int64(0)
	for _, c := range b.Commands {
		if c.Verb() == rota.VerbFire {
			n++
		}
	}
	m.most.Store(max(n, m.most.Load()))
	return m.Store.Apply(ctx, b)
}

func TestScheduleFiresAfterOutage(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		p := &outageSwitch{}
		h.startOn(wrap.Flaky(h.store, p.fault()), registry(done), engine.Config{})
		h.declareSchedule("hourly", rota.ScheduleSpec{Every: time.Hour})
		p.off.Store(true)
		h.setClock(time.Hour + time.Second)
		h.eventually("the fire was sent without success", func() bool { return p.refused.Load() > 1 })
		p.off.Store(false)
		h.awaitFires("hourly", 1)
		h.setClock(time.Hour)
		h.awaitFires("hourly", 2)
	})
}
