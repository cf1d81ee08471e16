package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testSchedules(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a declared schedule is kept as it was declared", scheduleDeclared},
		{"a schedule declared again without a change keeps its next fire", scheduleAgain},
		{"a change that leaves the times alone keeps the next fire", scheduleChanged},
		{"a change of the times sets a new next fire", scheduleNewTimes},
		{"a paused schedule that is changed stays paused, and catches up", schedulePausedChanged},
		{"a disabled schedule that is changed stays disabled", scheduleDisabledChanged},
		{"a schedule that Rota disabled is enabled by a change", scheduleReenabled},
		{"a declaration may set the state", scheduleState},
		{"a past AT is refused unless it was declared before", scheduleAtPast},
		{"a past end is refused unless it was declared before", scheduleEndsPast},
		{"a schedule with an unknown or archived template is refused", scheduleTemplate},
		{"a mode or version that does not match is refused", scheduleModes},
		{"schedules are listed by name and filtered by state, template and clock", schedulesListed},
		{"due schedules are listed, oldest first", schedulesDue},
		{"the next due fire is the earliest of the enabled schedules", scheduleNextDue},
	})
}

func scheduleDeclared(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	spec := rota.ScheduleSpec{
		Template: "report", Description: "at night", Every: time.Hour, Params: []byte(`{"a":1}`), Priority: new(3),
		Scopes: []rota.Scope{{Kind: "tenant", ID: "b"}, {Kind: "tenant", ID: "a"}, {Kind: "tenant", ID: "b"}},
	}
	written := y.writtenAudit()
	c := y.declareCommand("nightly", spec)
	got := do[*rota.SchedulePut](y, c)
	want(y, "changed", got.Changed, true)
	for _, s := range []*rota.Schedule{got.Schedule, y.schedule("nightly")} {
		want(y, "name", s.Name, "nightly")
		want(y, "spec", string(rota.EncodeSpec(s.Spec)), string(rota.EncodeSpec(spec.Canonical())))
		want(y, "scopes, each once", len(s.Spec.Scopes), 2)
		want(y, "state", s.State, rota.ScheduleEnabled)
		want(y, "reason", s.Reason, "")
		want(y, "version", s.Version, c.ID)
		want(y, "created by", s.CreatedBy, "ada")
		wantTime(y, "anchor", s.Anchor, y.now)
		wantTime(y, "next fire", s.NextFire, y.now.Add(time.Hour))
		wantTime(y, "moved at", s.MovedAt, y.now)
		wantTime(y, "last fire", s.LastFire, time.Time{})
		wantTime(y, "created at", s.CreatedAt, y.now)
		wantTime(y, "updated at", s.UpdatedAt, y.now)
	}
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditScheduleCreated, "schedule nightly", ""))
}

func scheduleAgain(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.advance(90 * time.Minute)
	before := y.dump()
	again := y.declareCommand("nightly", rota.ScheduleSpec{CatchUp: rota.CatchUpLast, Overlap: rota.OverlapAllow})
	want(y, "changed", do[*rota.SchedulePut](y, again).Changed, false)
	y.wantUnchanged(before)
	want(y, "fired", len(y.fire("nightly")), 1)
}

func scheduleChanged(y *story) {
	old := y.declare("nightly", rota.ScheduleSpec{})
	fired := y.fireNext("nightly")
	y.advance(10 * time.Minute)
	written := y.writtenAudit()
	c := y.declareCommand("nightly", rota.ScheduleSpec{Description: "new", Overlap: rota.OverlapSkip})
	c.Version = &old.Version
	row := do[*rota.SchedulePut](y, c).Schedule
	want(y, "description", row.Spec.Description, "new")
	want(y, "version", row.Version, c.ID)
	wantTime(y, "anchor", row.Anchor, old.Anchor)
	wantTime(y, "next fire", row.NextFire, fired.PlanTime.Add(time.Hour))
	wantTime(y, "last fire", row.LastFire, fired.PlanTime)
	wantTime(y, "moved at", row.MovedAt, fired.PlanTime)
	wantTime(y, "created at", row.CreatedAt, old.CreatedAt)
	wantTime(y, "updated at", row.UpdatedAt, y.now)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditScheduleModified, "schedule nightly", ""))
}

func scheduleNewTimes(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	last := y.fireNext("nightly").PlanTime
	y.advance(10 * time.Minute)
	row := y.declare("nightly", rota.ScheduleSpec{Every: 30 * time.Minute})
	wantTime(y, "anchor", row.Anchor, y.now)
	wantTime(y, "next fire", row.NextFire, y.now.Add(30*time.Minute))
	wantTime(y, "last fire", row.LastFire, last)
	row = y.declare("nightly", rota.ScheduleSpec{Cron: "0 3 * * *"})
	wantTime(y, "next fire by cron", row.NextFire, time.Date(2026, time.March, 2, 3, 0, 0, 0, time.UTC))
	row = y.declare("nightly", rota.ScheduleSpec{Cron: "0 3 * * *", Zone: "Europe/Berlin"})
	wantTime(y, "next fire in a zone", row.NextFire, time.Date(2026, time.March, 2, 2, 0, 0, 0, time.UTC))
}

func schedulePausedChanged(y *story) {
	first := y.declare("nightly", rota.ScheduleSpec{}).NextFire
	y.switchTo("nightly", rota.SchedulePaused)
	y.advance(5*time.Hour + time.Minute)
	row := y.declare("nightly", rota.ScheduleSpec{Description: "new"})
	want(y, "state", row.State, rota.SchedulePaused)
	wantTime(y, "next fire", row.NextFire, first)
	wantTime(y, "resumed at, while paused", row.ResumedAt, time.Time{})
	y.switchTo("nightly", rota.ScheduleEnabled)
	wantTime(y, "resumed at", y.schedule("nightly").ResumedAt, y.now)
	wantTime(y, "caught up with", y.fire("nightly")[0].PlanTime, first.Add(4*time.Hour))
}

func scheduleDisabledChanged(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.switchTo("nightly", rota.ScheduleDisabled)
	y.advance(time.Minute)
	for _, spec := range []rota.ScheduleSpec{{Description: "new"}, {Every: 2 * time.Hour}} {
		row := y.declare("nightly", spec)
		want(y, "state", row.State, rota.ScheduleDisabled)
		wantTime(y, "next fire", row.NextFire, time.Time{})
	}
}

func scheduleReenabled(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.archive("report")
	y.unarchive("report")
	y.advance(10 * time.Minute)
	want(y, "changed by an equal declaration", do[*rota.SchedulePut](y, y.declareCommand("nightly", rota.ScheduleSpec{})).Changed, false)
	row := y.declare("nightly", rota.ScheduleSpec{Description: "new"})
	want(y, "state", row.State, rota.ScheduleEnabled)
	want(y, "reason", row.Reason, "")
	wantTime(y, "next fire", row.NextFire, y.now.Add(time.Hour))
	wantTime(y, "anchor", row.Anchor, y.now)
	wantTime(y, "moved at", row.MovedAt, y.now)
}

func scheduleState(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	set := func(state rota.ScheduleState) *rota.SchedulePut {
		c := y.declareCommand("nightly", rota.ScheduleSpec{})
		c.State = state
		return do[*rota.SchedulePut](y, c)
	}
	row := set(rota.ScheduleDisabled).Schedule
	want(y, "state of a new one", row.State, rota.ScheduleDisabled)
	wantTime(y, "next fire", row.NextFire, time.Time{})
	y.advance(time.Minute)
	row = set(rota.ScheduleEnabled).Schedule
	want(y, "state", row.State, rota.ScheduleEnabled)
	wantTime(y, "next fire", row.NextFire, y.now.Add(time.Hour))
	y.advance(time.Minute)
	want(y, "changed by an equal declaration", set(rota.ScheduleEnabled).Changed, false)
	paused := set(rota.SchedulePaused).Schedule
	want(y, "state", paused.State, rota.SchedulePaused)
	wantTime(y, "next fire when paused", paused.NextFire, row.NextFire)
}

func scheduleAtPast(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	past := rota.ScheduleSpec{At: y.now.Add(-time.Microsecond)}
	y.wantField(rota.Invalid, "at", y.declareCommand("once", past))
	y.declare("once", rota.ScheduleSpec{At: y.now})
	y.advance(time.Minute)
	y.wantField(rota.Invalid, "at", y.declareCommand("once", past))
	row := y.declare("once", rota.ScheduleSpec{At: startTime, Description: "late"})
	wantTime(y, "next fire", row.NextFire, startTime)
	y.switchTo("once", rota.ScheduleDisabled)
	enable := y.declareCommand("once", rota.ScheduleSpec{At: startTime, Description: "too late"})
	enable.State = rota.ScheduleEnabled
	y.wantField(rota.Conflict, "state", enable)
	again := y.declare("once", rota.ScheduleSpec{At: y.now.Add(time.Hour)})
	want(y, "state", again.State, rota.ScheduleDisabled)
}

func scheduleEndsPast(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	y.wantField(rota.Invalid, "ends_at", y.declareCommand("short", rota.ScheduleSpec{EndsAt: y.now.Add(-time.Second)}))
	ends := y.now.Add(90 * time.Minute)
	y.declare("short", rota.ScheduleSpec{EndsAt: ends})
	y.advance(24 * time.Hour)
	row := y.declare("short", rota.ScheduleSpec{EndsAt: ends, Description: "late"})
	want(y, "description", row.Spec.Description, "late")
	y.wantField(rota.Invalid, "ends_at", y.declareCommand("short", rota.ScheduleSpec{EndsAt: ends.Add(time.Hour)}))
}

func scheduleTemplate(y *story) {
	y.wantField(rota.NotFound, "template", y.declareCommand("nightly", rota.ScheduleSpec{}))
	y.declare("nightly", rota.ScheduleSpec{})
	y.wantField(rota.NotFound, "template", y.declareCommand("nightly", rota.ScheduleSpec{Template: "missing"}))
	y.declareTemplate("old", rota.TemplateSpec{})
	y.archive("old")
	y.wantField(rota.Conflict, "template", y.declareCommand("nightly", rota.ScheduleSpec{Template: "old"}))
}

func scheduleModes(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	put := func(mode rota.PutMode, version *rota.ID) *rota.PutSchedule {
		c := y.declareCommand("nightly", rota.ScheduleSpec{})
		c.Mode, c.Version = mode, version
		return c
	}
	y.wantField(rota.NotFound, "name", put(rota.PutReplace, nil))
	y.wantField(rota.NotFound, "name", put(rota.PutAny, new(y.ids.next())))
	row := do[*rota.SchedulePut](y, put(rota.PutCreate, nil)).Schedule
	y.wantField(rota.Conflict, "name", put(rota.PutCreate, nil))
	y.wantField(rota.Conflict, "version", put(rota.PutAny, new(y.ids.next())))
	want(y, "changed by an equal declaration", do[*rota.SchedulePut](y, put(rota.PutReplace, &row.Version)).Changed, false)
	y.fireNext("nightly")
	want(y, "version after a fire", y.schedule("nightly").Version, row.Version)
}

func schedulesListed(y *story) {
	for _, name := range []string{"c", "a", "b", "d"} {
		y.declare(name, rota.ScheduleSpec{Template: map[bool]string{true: "other", false: "report"}[name == "b"]})
	}
	y.switchTo("a", rota.SchedulePaused)
	y.advanceTo(y.schedule("d").NextFire)
	y.fire("d")
	for _, one := range []struct {
		q    rota.ScheduleQuery
		want string
	}{
		{rota.ScheduleQuery{}, "a b c d"},
		{rota.ScheduleQuery{Limit: 3}, "a b c"},
		{rota.ScheduleQuery{Limit: 3, After: "c"}, "d"},
		{rota.ScheduleQuery{State: rota.ScheduleEnabled}, "b c d"},
		{rota.ScheduleQuery{State: rota.SchedulePaused}, "a"},
		{rota.ScheduleQuery{State: rota.ScheduleDisabled}, "none"},
		{rota.ScheduleQuery{Template: "other"}, "b"},
		{rota.ScheduleQuery{Template: "report", State: rota.ScheduleEnabled, After: "c"}, "d"},
		{rota.ScheduleQuery{Ahead: y.now.Add(-time.Microsecond)}, "d"},
		{rota.ScheduleQuery{Ahead: y.now}, "none"},
	} {
		got, err := y.s.Schedules(y.ctx, one.q)
		want(y, "listed", joinNames(must(y, "schedules", got, err), func(s *rota.Schedule) string { return s.Name }), one.want)
	}
	want(y, "of no state", rota.CodeOf(errOf(y.s.Schedules(y.ctx, rota.ScheduleQuery{State: "on"}))), rota.Invalid)
}

// schedulesDue declares fire times in the far past and future, because the list uses the clock
// of the store.
func schedulesDue(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	for name, year := range map[string]int{"a": 1972, "b": 1971, "c": 9000, "d": 1973, "e": 1970, "f": 1973} {
		y.now = time.Date(year, 2, 3, 0, 0, 0, 0, time.UTC)
		c := y.declareCommand(name, rota.ScheduleSpec{})
		c.Next = y.now
		do[*rota.SchedulePut](y, c)
	}
	y.switchTo("e", rota.SchedulePaused)
	page, err := y.s.DueSchedules(y.ctx, 10)
	must(y, "due schedules", page, err)
	named := func(s *rota.Schedule) string { return s.Name }
	want(y, "due", joinNames(page.Schedules, named), "b a d f")
	if off := time.Since(page.Now); off > maxWait || off < -maxWait {
		y.Errorf("the store's clock is %s, %s from ours", page.Now, off)
	}
	page, err = y.s.DueSchedules(y.ctx, 2)
	want(y, "the first two", joinNames(must(y, "due schedules", page, err).Schedules, named), "b a")
}

func scheduleNextDue(y *story) {
	wantTime(y, "without a schedule", y.due().Fire, time.Time{})
	y.declare("later", rota.ScheduleSpec{Every: 2 * time.Hour})
	y.declare("sooner", rota.ScheduleSpec{})
	wantTime(y, "with two", y.due().Fire, startTime.Add(time.Hour))
	y.switchTo("sooner", rota.SchedulePaused)
	wantTime(y, "with one paused", y.due().Fire, startTime.Add(2*time.Hour))
	y.fireNext("later")
	wantTime(y, "after a fire", y.due().Fire, startTime.Add(4*time.Hour))
	y.deleteSchedule("later")
	wantTime(y, "with one deleted", y.due().Fire, time.Time{})
}
