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
	if n := h.log.count("did not fire: it is DISABLED", "schedule=off", "time="+last, "times=3"); n != 1 {
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
