package storetest

import (
	"context"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
)

// putSchedule declares one of three schedules. The store decides which dependencies are
// allowed.
func (g *gen) putSchedule() rota.Command {
	name := g.scheduleName()
	spec := rota.ScheduleSpec{
		Template: choose(g, "template", "t", "t", "u", "x", "none"), Description: choose(g, "description", "", "d"),
		Params: g.document(), Policy: g.patch(),
		CatchUp: choose(g, "catch-up", "", rota.CatchUpNone, rota.CatchUpAll),
		Overlap: choose(g, "overlap", "", rota.OverlapSkip, rota.OverlapCancel, rota.OverlapAllow),
		Scopes:  choose(g, "scopes", nil, nil, tenants, tenants[:1], []rota.Scope{{Kind: "global", ID: "global"}, tenants[1]}),
	}
	g.scheduleTimes(&spec)
	for _, on := range []string{"x", "y", "z"} {
		if on != name && g.rarely(3, "depends on") {
			spec.DependsOn = append(spec.DependsOn, on)
		}
	}
	c, err := rota.Declare(g.meta(), name, spec, g.now)
	if err != nil { // for example, a time before 1970
		c = &rota.PutSchedule{Meta: g.meta(), Name: name, Spec: spec, Anchor: g.now}
	}
	c.Mode, c.Version = g.mode(), g.putVersion()
	c.State = choose(g, "state", "", "", "", rota.ScheduleEnabled, rota.SchedulePaused, rota.ScheduleDisabled)
	c.Recreate = c.Mode != rota.PutCreate && g.rarely(6, "recreate")
	if g.rarely(8, "another next") {
		c.Next = g.nearNow("next")
	}
	return c
}

func (g *gen) scheduleTimes(spec *rota.ScheduleSpec) {
	spec.Zone = choose(g, "zone", "", "UTC", "Europe/Berlin")
	switch choose(g, "kind", 0, 0, 1, 2) {
	case 0:
		spec.Every = choose(g, "every", time.Minute, time.Hour, 25*time.Second)
	case 1:
		spec.Cron = choose(g, "cron", "0 * * * *", "*/5 * * * *", "30 3 * * *")
	case 2:
		spec.At = g.nearNow("at")
		spec.OnCompletion = choose(g, "on completion", "", rota.CompletionDrop)
		return
	}
	if g.rarely(4, "starts") {
		spec.StartsAt = g.nearNow("starts at")
	}
	if g.rarely(4, "ends") {
		spec.EndsAt = spec.StartsAt.Add(time.Hour)
		if spec.StartsAt.IsZero() {
			spec.EndsAt = g.now.Add(choose(g, "ends in", -time.Hour, time.Minute, 2*time.Hour))
		}
	}
}

// nearNow returns a time near the current one, from a few that collide.
func (g *gen) nearNow(label string) time.Time {
	off := choose(g, label, 0, time.Minute, time.Hour, -time.Minute, -time.Hour, 1500*time.Nanosecond)
	return g.now.Truncate(time.Minute).Add(off)
}

func (g *gen) switchSchedule() rota.Command {
	c := &rota.SwitchSchedule{Meta: g.meta(), Name: g.scheduleName(), Version: g.putVersion()}
	c.State = choose(g, "state", rota.ScheduleEnabled, rota.ScheduleEnabled, rota.SchedulePaused, rota.ScheduleDisabled)
	if c.State == rota.ScheduleEnabled {
		c.Next = g.nearNow("next")
		if s := g.currentSchedule(c.Name); s != nil && !g.rarely(4, "made-up next") {
			c.Next, _ = s.NextAfter(g.now)
		}
	}
	return c
}

func (g *gen) deleteSchedule() rota.Command {
	return &rota.DeleteSchedule{Meta: g.meta(), Name: g.scheduleName(), Version: g.putVersion()}
}

func (g *gen) drop() rota.Command {
	return &rota.Drop{
		Meta: g.meta(), Name: g.scheduleName(), Version: g.putVersion(),
		KeepHistory: g.rarely(3, "keep history"), Recreate: g.rarely(3, "again"),
	}
}

// currentSchedule returns a schedule of the model, nil if there is none.
func (g *gen) currentSchedule(name string) *rota.Schedule {
	s, err := g.model.Schedule(context.Background(), name)
	if err != nil {
		return nil
	}
	return s
}

// fire fires what is due in the model, or generates an arbitrary fire.
func (g *gen) fire() rota.Command { return g.fireOf(g.scheduleName()) }

func (g *gen) fireOf(name string) rota.Command {
	s := g.currentSchedule(name)
	if s != nil && !g.rarely(5, "made-up fire") {
		alive := time.Time{}
		if g.rarely(3, "a scheduler that started lately") {
			alive = g.nearNow("alive")
		}
		if c, err := rota.PlanFire(g.meta(), s, g.now, alive); err == nil && c != nil {
			return c
		}
	}
	return g.arbitraryFire(name, s)
}

// arbitraryFire generates a fire with some correct and some wrong fields.
func (g *gen) arbitraryFire(name string, s *rota.Schedule) rota.Command {
	c := &rota.Fire{Meta: g.meta(), Schedule: name, Version: g.ids.next(), Expect: g.nearNow("expect"), CatchUp: g.rarely(2, "catch up")}
	if s != nil && !g.rarely(4, "wrong version") {
		c.Version = s.Version
	}
	if s != nil && !s.NextFire.IsZero() && !g.rarely(4, "wrong expectation") {
		c.Expect = s.NextFire
	}
	c.Times = g.fireTimes(0)
	if g.rarely(2, "missed") {
		c.Missed = c.Expect
	}
	if !g.rarely(3, "no next") {
		c.Next = g.now.Add(choose(g, "next in", time.Second, time.Hour))
	}
	return c
}

// fireTimes returns a few times up to now or a little later, oldest first.
func (g *gen) fireTimes(least int) (times []rota.FireTime) {
	at := g.now.Truncate(time.Minute).Add(choose(g, "from", -3*time.Hour, -time.Hour, -3*time.Minute))
	for range rapid.IntRange(least, 3).Draw(g.t, "times") {
		at = at.Add(choose(g, "step", time.Minute, time.Hour))
		t := rota.FireTime{At: at}
		if g.rarely(2, "framed") {
			t.From, t.Until = at.Add(-choose(g, "window", time.Minute, time.Hour)), at.Add(choose(g, "wait", time.Minute, time.Hour))
		}
		times = append(times, t)
	}
	return times
}

func (g *gen) trigger() rota.Command {
	c := &rota.Trigger{Meta: g.meta(), Schedule: g.scheduleName(), Params: g.document(), Version: g.putVersion()}
	if g.rarely(3, "trigger priority") {
		c.Priority = new(g.priority())
	}
	return c
}

// backfill backfills times of the model's schedule, or arbitrary times.
func (g *gen) backfill() rota.Command {
	name := g.scheduleName()
	if s := g.currentSchedule(name); s != nil && !g.rarely(3, "made-up backfill") {
		from := g.now.Add(-choose(g, "back to", 2*time.Minute, 2*time.Hour))
		if c, err := rota.PlanBackfill(g.meta(), s, from, g.now, g.now); err == nil && len(c.Times) <= 10 {
			return c
		}
	}
	return &rota.Backfill{Meta: g.meta(), Schedule: name, Times: g.fireTimes(1), Version: g.putVersion()}
}
