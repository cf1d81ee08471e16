package engine_test

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// interval is the interval of schedules that miss several times during an interruption.
const interval = 200 * time.Millisecond

// interruption is how long these tests stop firing. It is much shorter than
// rota.MisfireGrace.
const interruption = 11 * interval

// firesBetween counts the times of a schedule that fired, of those that were due between
// two times.
func (h *harness) firesBetween(name string, from, to time.Time) (fired, due int) {
	h.Helper()
	table, err := h.schedule(name).Timetable()
	if err != nil {
		h.Fatal(err)
	}
	times := h.planTimes(name)
	for at, found := table.Next(from); found && at.Before(to); at, found = table.Next(at) {
		due++
		fired += times[at]
	}
	return fired, due
}

// checkCatchUp interrupts the fires of a schedule, once for each catch-up policy, and
// checks which of the missed times fire.
func (h *harness) checkCatchUp(interrupt func(name string) (from, to time.Time)) {
	h.Helper()
	for _, policy := range []rota.CatchUp{rota.CatchUpNone, rota.CatchUpLast, rota.CatchUpAll} {
		name := "every-" + string(policy)
		h.declareSchedule(name, rota.ScheduleSpec{Every: interval, CatchUp: policy})
		h.eventually(name+" fires", func() bool { return len(h.planTimes(name)) > 1 })
		from, to := interrupt(name)
		h.eventually(name+" fires again", func() bool { return h.schedule(name).LastFire.After(to.Add(interval)) })
		fired, due := h.firesBetween(name, from, to)
		want := map[rota.CatchUp]int{rota.CatchUpLast: 1, rota.CatchUpAll: due}[policy]
		if due < 10 || fired != want {
			h.T.Errorf("catch-up %s: %d of %d missed times fired, want %d", policy, fired, due, want)
		}
	}
}

func TestCatchUpAppliesAfterShortPause(t *testing.T) {
	onEachStore(t, func(_ *testing.T, h *harness) {
		h.start(registry(done), engine.Config{})
		h.checkCatchUp(func(name string) (from, to time.Time) {
			paused := mustApply[*rota.SchedulePut](h, &rota.SwitchSchedule{Meta: meta(), Name: name, State: rota.SchedulePaused})
			time.Sleep(interruption)
			enable, err := rota.Enable(meta(), h.schedule(name), h.clock.now())
			if err != nil {
				h.Fatal(err)
			}
			return paused.Schedule.UpdatedAt, mustApply[*rota.SchedulePut](h, enable).Schedule.ResumedAt
		})
	})
}

func TestCatchUpAppliesAfterShortRestart(t *testing.T) {
	onEachStore(t, func(_ *testing.T, h *harness) {
		r := h.start(registry(done), engine.Config{Name: "a"})
		h.checkCatchUp(func(string) (from, to time.Time) {
			if err := r.shutdown(); err != nil {
				h.Fatal(err)
			}
			from = h.clock.now()
			time.Sleep(interruption)
			r = h.start(registry(done), engine.Config{Name: "a"})
			h.eventually("the engine has read the clock", func() bool { return !r.UptimeStart().IsZero() })
			return from, r.UptimeStart()
		})
	})
}

// While a machine sleeps, the store's clock advances and the monotonic clock does not.
func TestCatchUpAppliesAfterShortSleep(t *testing.T) {
	onEachStore(t, func(_ *testing.T, h *harness) {
		r := h.start(registry(done), engine.Config{})
		h.checkCatchUp(func(name string) (from, to time.Time) {
			from = h.clock.now()
			asleep := h.schedule(name).NextFire.Add(40*interval + interval/2).Sub(from)
			h.setClock(asleep)
			h.eventually("the engine has read the clock", func() bool { return !r.UptimeStart().Before(from.Add(asleep)) })
			return from.Add(interval), r.UptimeStart()
		})
	})
}

// A process that cannot reach its store is late.
func TestOutageUnderLiveSchedulerIsLate(t *testing.T) {
	onEachStore(t, func(_ *testing.T, h *harness) {
		p := &outageSwitch{}
		h.startOn(wrap.Flaky(h.store, p.fault()), registry(done), engine.Config{})
		h.declareSchedule("often", rota.ScheduleSpec{Every: interval, CatchUp: rota.CatchUpNone})
		h.eventually("often fires", func() bool { return len(h.planTimes("often")) > 1 })
		p.off.Store(true)
		from := h.clock.now()
		time.Sleep(interruption)
		to := h.clock.now()
		p.off.Store(false)
		h.eventually("often fires again", func() bool { return h.schedule("often").LastFire.After(to) })
		if fired, due := h.firesBetween("often", from, to); due < 10 || fired != due {
			h.T.Errorf("%d of %d late times fired, want all", fired, due)
		}
	})
}

// A node that starts while another one is late does not apply the catch-up policy to the
// times of which the other one knows that they are late.
func TestNewNodeLeavesLateTimesToOlderNode(t *testing.T) {
	h := newPostgresHarness(t)
	g := newGate(rota.VerbFire)
	h.startOn(wrap.Flaky(h.store, g.before()), registry(done), engine.Config{Name: "old"})
	h.declareSchedule("often", rota.ScheduleSpec{Every: interval, CatchUp: rota.CatchUpNone})
	h.await(g.reached, "the fire")
	from := h.clock.now()
	time.Sleep(interruption)
	to := h.clock.now()
	store, membership := h.secondProcess()
	h.startOn(store, registry(done), engine.Config{Name: "new", Membership: membership})
	time.Sleep(interruption)
	close(g.open)
	h.eventually("often fires again", func() bool { return h.schedule("often").LastFire.After(to.Add(interval)) })
	if fired, due := h.firesBetween("often", from, to); due < 10 || fired != due {
		h.T.Errorf("%d of %d late times fired, want all", fired, due)
	}
}

// Another node that has run for longer may be unable to fire a schedule, since it does not
// know its time zone. A new node waits for it no longer than the misfire grace.
func TestNewNodeWaitsForOlderNodeOnlyInMisfireGrace(t *testing.T) {
	h := newHarness(t)
	h.start(registry(done), engine.Config{Membership: &fakeMembership{othersSince: time.UnixMicro(1)}})
	h.declareSchedule("often", rota.ScheduleSpec{Every: interval, CatchUp: rota.CatchUpNone})
	h.eventually("often fires", func() bool { return len(h.planTimes("often")) > 1 })
	h.setClock(2 * rota.MisfireGrace) // begins a new uptime
	from := h.clock.now()
	h.eventually("often fires again", func() bool { return h.schedule("often").LastFire.After(from) })
}

// Two loops have asked for the store's clock when the machine falls asleep. The answer
// from before the sleep may be received last. It does not show that the clock was set back.
func TestUptimeIgnoresAnswerFromBeforeSleep(t *testing.T) {
	var u engine.Uptime
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	u.Observe(began, time.Now())
	asked := time.Now()
	awake := began.Add(time.Minute)
	if since := u.Observe(awake, asked); !since.Equal(awake) {
		t.Errorf("after the sleep it has run since %s, want %s", since, awake)
	}
	if since := u.Observe(began.Add(time.Millisecond), asked); !since.Equal(began) {
		t.Errorf("at an answer from before the sleep it has run since %s, want %s", since, began)
	}
	if since := u.Observe(awake.Add(time.Millisecond), time.Now()); !since.Equal(awake) {
		t.Errorf("it has run since %s, want %s", since, awake)
	}
	back := began.Add(-time.Hour)
	if since := u.Observe(back, time.Now()); !since.Equal(back) {
		t.Errorf("after the clock was set back it has run since %s, want %s", since, back)
	}
}

// Two loops ask for the store's clock after a sleep. The first answer may be received last:
// the process has run since then, at both.
func TestUptimeBeginsAtFirstAnswerAfterSleep(t *testing.T) {
	var u engine.Uptime
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	u.Observe(began, time.Now())
	asked := time.Now()
	first := began.Add(time.Minute)
	u.Observe(first.Add(time.Millisecond), asked)
	if since := u.Observe(first, asked); !since.Equal(first) {
		t.Errorf("at the first answer after the sleep it has run since %s, want %s", since, first)
	}
	if since := u.Observe(first.Add(2*time.Millisecond), time.Now()); !since.Equal(first) {
		t.Errorf("at a later answer it has run since %s, want %s", since, first)
	}
}
