package engine_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func TestSkippedFireOfDisabledScheduleIsLogged(t *testing.T) {
	h := newHarness(t)
	began := h.clock.now()
	h.declareSchedule("off", rota.ScheduleSpec{Every: 20 * time.Minute, StartsAt: began.Add(10 * time.Minute)})
	h.declareSchedule("on", rota.ScheduleSpec{Every: 20 * time.Minute})
	h.declareSchedule("paused", rota.ScheduleSpec{Every: 20 * time.Minute})
	h.declareSchedule("over", rota.ScheduleSpec{At: began.Add(10 * time.Minute)})
	for name, state := range map[string]rota.ScheduleState{"off": rota.ScheduleDisabled, "paused": rota.SchedulePaused} {
		mustApply[*rota.SchedulePut](h, &rota.SwitchSchedule{Meta: meta(), Name: name, State: state})
	}
	over := h.schedule("over")
	e := engine.New(rota.New(h.store), registry(done), engine.Config{Logger: slog.New(h.log)})
	e.LogDisabled(context.Background())
	h.clock.set(time.Hour)
	mustApply[*rota.Fired](h, &rota.Fire{Meta: meta(), Schedule: "over", Version: over.Version, Expect: over.NextFire, Times: []rota.FireTime{{At: over.NextFire}}})
	mustApply[*rota.CancelledJob](h, &rota.Cancel{Meta: meta(), JobID: h.queue()[0].ID}) // the schedule is DISABLED now: it ran once
	e.LogDisabled(context.Background())
	last := began.Add(50 * time.Minute).UTC().Truncate(time.Microsecond).Format("2006-01-02T15:04:05")
	if n := h.log.count("did not fire: it is DISABLED", "schedule=off", "last="+last, "times=3"); n != 1 {
		t.Errorf("%d lines with the three skipped times: %q", n, h.log.lines)
	}
	if n := h.log.count("did not fire"); n != 1 {
		t.Errorf("%d lines; the other schedules are not disabled, or have fired: %q", n, h.log.lines)
	}
	e.LogDisabled(context.Background())
	if n := h.log.count("did not fire"); n != 1 {
		t.Errorf("a time was logged again: %q", h.log.lines)
	}
}

// wantSkipped wants one more line about a schedule, or none.
func wantSkipped(h *harness, when string, before int, attributes ...string) int {
	h.Helper()
	now := h.log.count("did not fire")
	if len(attributes) == 0 && now != before {
		h.Errorf("%s a line was written: %q", when, h.log.lines)
	}
	if len(attributes) > 0 && (now != before+1 || h.log.count(append(attributes, "did not fire")...) != 1) {
		h.Errorf("%s no line has %q: %q", when, attributes, h.log.lines)
	}
	return now
}

func TestSkippedFiresOfDisabledScheduleAreLoggedOnceAMinute(t *testing.T) {
	h := newHarness(t)
	began := h.clock.now().Truncate(time.Microsecond)
	h.declareSchedule("off", rota.ScheduleSpec{Every: 10 * time.Second, StartsAt: began.Add(time.Hour)})
	mustApply[*rota.SchedulePut](h, &rota.SwitchSchedule{Meta: meta(), Name: "off", State: rota.ScheduleDisabled})
	e := engine.New(rota.New(h.store), registry(done), engine.Config{Logger: slog.New(h.log)})
	setClock := func(at time.Duration) { h.clock.set(began.Add(time.Hour + at).Sub(h.clock.now())) }
	check := func(at time.Duration) time.Duration {
		setClock(at)
		return e.LogDisabled(context.Background())
	}
	due := func(at time.Duration) string { return began.Add(time.Hour + at).UTC().Format("2006-01-02T15:04:05") }
	if wait := check(-3 * time.Second); wait > 3*time.Second || wait < time.Second {
		t.Errorf("the next check is in %s; the first time is in three seconds", wait)
	}
	n := wantSkipped(h, "before the first time", 0)
	check(time.Second)
	n = wantSkipped(h, "at the first time", n, "times=1", "first="+due(0), "last="+due(0))
	for at := 6 * time.Second; at < time.Minute; at += 5 * time.Second {
		check(at)
	}
	n = wantSkipped(h, "within a minute", n)
	check(62 * time.Second)
	n = wantSkipped(h, "after a minute", n, "times=6", "first="+due(10*time.Second), "last="+due(time.Minute))
	setClock(75 * time.Second)
	mustApply[*rota.SchedulePut](h, &rota.SwitchSchedule{Meta: meta(), Name: "off", State: rota.ScheduleEnabled, Next: began.Add(2 * time.Hour)})
	check(88 * time.Second)
	n = wantSkipped(h, "after it was enabled", n, "times=1", "first="+due(70*time.Second), "last="+due(70*time.Second))
	check(10 * time.Minute)
	n = wantSkipped(h, "while it is enabled", n)
	mustApply[*rota.SchedulePut](h, &rota.SwitchSchedule{Meta: meta(), Name: "off", State: rota.ScheduleDisabled})
	check(10*time.Minute + 11*time.Second)
	n = wantSkipped(h, "when it is disabled again", n, "times=1", "first="+due(10*time.Minute+10*time.Second))
	check(10*time.Minute + 24*time.Second)
	wantSkipped(h, "within a minute again", n)
	e.EndLogDisabled()
	wantSkipped(h, "when the engine ends", n, "times=1", "last="+due(10*time.Minute+20*time.Second))
}
