package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testCatchUp(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a fire within the grace period creates a job for each time", graceEach},
		{"after a gap, catch-up last creates one job for the latest time", catchLast},
		{"after a gap, catch-up none creates no job", catchNone},
		{"after a gap, catch-up all creates a job for every time, page by page", catchAll},
		{"after a very long gap, catch-up all creates jobs for the newest times", catchMost},
		{"skipped fire times are audited", catchAudit},
		{"a clock that jumps ahead by a year fires a schedule once", clockForward},
		{"after the clock is set back a schedule fires by the new clock and no time twice", clockBack},
		{"after the clock is set back before the first fire a schedule fires by the new clock", clockBackEarly},
		{"after the machine slept a schedule catches up as after a gap", clockSlept},
	})
}

func plansOf(jobs []*rota.Job) (times []time.Duration) {
	for _, j := range jobs {
		times = append(times, j.PlanTime.Sub(startTime))
	}
	return times
}

// wantPlans wants jobs to be planned for times, relative to startTime.
func (y *story) wantPlans(jobs []*rota.Job, times ...time.Duration) {
	y.Helper()
	got := plansOf(jobs)
	if len(got) != len(times) {
		y.Fatalf("planned for %v, want %v", got, times)
	}
	for i := range got {
		want(y, "plan time", got[i], times[i])
	}
}

func graceEach(y *story) {
	y.declare("often", rota.ScheduleSpec{Every: 20 * time.Second, CatchUp: rota.CatchUpNone})
	y.now = startTime.Add(20*time.Second + rota.MisfireGrace)
	y.wantPlans(y.fire("often"), 20*time.Second, 40*time.Second, 60*time.Second, 80*time.Second)
	wantTime(y, "next fire", y.schedule("often").NextFire, startTime.Add(100*time.Second))
}

func catchLast(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.now = startTime.Add(5*time.Hour + 30*time.Minute)
	y.wantPlans(y.fire("nightly"), 5*time.Hour)
	row := y.schedule("nightly")
	wantTime(y, "next fire", row.NextFire, startTime.Add(6*time.Hour))
	wantTime(y, "last fire", row.LastFire, startTime.Add(5*time.Hour))
}

func catchNone(y *story) {
	y.declare("nightly", rota.ScheduleSpec{CatchUp: rota.CatchUpNone})
	y.now = startTime.Add(time.Hour + rota.MisfireGrace + time.Microsecond)
	y.wantPlans(y.fire("nightly"))
	row := y.schedule("nightly")
	wantTime(y, "next fire", row.NextFire, startTime.Add(2*time.Hour))
	wantTime(y, "last fire", row.LastFire, time.Time{})
	y.fireNext("nightly")
}

func catchAll(y *story) {
	y.declare("often", rota.ScheduleSpec{Every: time.Minute, CatchUp: rota.CatchUpAll})
	y.now = startTime.Add(2 * time.Hour)
	var all []*rota.Job
	for _, count := range []int{rota.FireJobsMax, rota.FireJobsMax, 20} {
		jobs := y.fire("often")
		want(y, "created at once", len(jobs), count)
		all = append(all, jobs...)
	}
	for i, at := range plansOf(all) {
		want(y, "plan time", at, time.Duration(i+1)*time.Minute)
	}
	wantTime(y, "next fire", y.schedule("often").NextFire, y.now.Add(time.Minute))
}

func catchMost(y *story) {
	y.declare("often", rota.ScheduleSpec{Every: time.Minute, CatchUp: rota.CatchUpAll})
	missed := y.schedule("often").NextFire
	y.now = startTime.Add((rota.CatchUpMax + 500) * time.Minute)
	c := y.fireCommand("often")
	wantTime(y, "the oldest that is kept", c.Times[0].At, startTime.Add(501*time.Minute))
	wantTime(y, "the first skipped time", c.Missed, missed)
	jobs := do[*rota.Fired](y, c).Jobs
	want(y, "created at once", len(jobs), rota.FireJobsMax)
	wantTime(y, "next fire", y.schedule("often").NextFire, startTime.Add((501+rota.FireJobsMax)*time.Minute))
}

func catchAudit(y *story) {
	for policy, text := range map[rota.CatchUp]string{
		rota.CatchUpLast: "fire times from 2026-03-01T13:00:00.123456Z on were given up (catch-up last)",
		rota.CatchUpNone: "fire times from 2026-03-01T13:00:00.123456Z on were given up (catch-up none)",
	} {
		y.now = startTime
		name := "nightly-" + string(policy)
		y.declare(name, rota.ScheduleSpec{CatchUp: policy})
		y.advance(5 * time.Hour)
		written := y.writtenAudit()
		c := y.fireCommand(name)
		do[*rota.Fired](y, c)
		y.wantAuditSince(written, y.auditEffect(c, rota.AuditScheduleMissed, "schedule "+name, text))
		y.advance(time.Hour)
		written = y.writtenAudit()
		y.fire(name)
		y.wantAuditSince(written)
	}
}

func clockForward(y *story) {
	y.declare("often", rota.ScheduleSpec{Every: time.Minute})
	y.fireNext("often")
	y.advance(365 * 24 * time.Hour)
	want(y, "fired", len(y.fire("often")), 1)
	wantTime(y, "next fire", y.schedule("often").NextFire, y.now.Add(time.Minute))
	want(y, "all jobs", len(y.allJobs()), 2)
}

func clockBack(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.fireNext("nightly")
	y.now = startTime.Add(30 * time.Minute)
	back := y.fireCommand("nightly")
	want(y, "times", len(back.Times), 0)
	want(y, "moved", do[*rota.Fired](y, back).ScheduleChanged, false)
	wantTime(y, "next fire", y.schedule("nightly").NextFire, startTime.Add(time.Hour))
	for hour := time.Duration(1); hour <= 2; hour++ {
		y.advanceTo(startTime.Add(hour * time.Hour))
		again := do[*rota.Fired](y, y.fireCommand("nightly"))
		want(y, "created again", len(again.Jobs), 0)
		want(y, "known", again.Known, 1)
	}
	y.wantPlans([]*rota.Job{y.fireNext("nightly")}, 3*time.Hour)
	want(y, "all jobs", len(y.allJobs()), 3)
}

func clockBackEarly(y *story) {
	y.declare("daily", rota.ScheduleSpec{Cron: "0 13 * * *"})
	y.declare("hourly", rota.ScheduleSpec{})
	y.now = startTime.AddDate(0, 0, -2)
	y.fire("daily")
	y.fire("hourly") // its anchor is two days ahead, and its times extend in both directions
	wantTime(y, "next fire", y.schedule("hourly").NextFire, y.now.Add(time.Hour))
	wantTime(y, "next fire", y.schedule("daily").NextFire, time.Date(2026, time.February, 27, 13, 0, 0, 0, time.UTC))
	y.fireNext("daily")
	early := &rota.Fire{Meta: y.ids.meta(), Schedule: "daily", Version: y.schedule("daily").Version, Expect: y.schedule("daily").NextFire, Next: startTime}
	y.wantField(rota.Conflict, "expect", early)
}

func clockSlept(y *story) {
	y.declare("a", rota.ScheduleSpec{CatchUp: rota.CatchUpAll, Overlap: rota.OverlapSkip})
	y.fireNext("a")
	y.complete(y.claimOne())
	y.advance(3*time.Hour + time.Minute + time.Second)
	jobs := y.fire("a")
	y.wantPlans(jobs, 2*time.Hour, 3*time.Hour, 4*time.Hour)
	y.wantState(rota.StateQueued, jobs[0])
	y.wantState(rota.StateBlocked, jobs[1:]...)
}
