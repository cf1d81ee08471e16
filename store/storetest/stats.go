package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testStats(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"all counts of an empty store are zero", statsEmpty},
		{"live jobs are counted by type", statsCounted},
		{"of ended jobs only dead letters are counted", statsEnded},
		{"a redriven dead letter is not counted", statsRedriven},
		{"the oldest job is the one that has been ready longest", statsOldest},
		{"enabled schedules are counted", statsSchedules},
	})
}

func (y *story) stats() *rota.Stats {
	y.Helper()
	stats, err := y.s.Stats(y.ctx)
	return must(y, "stats", stats, err)
}

func statsEmpty(y *story) {
	stats := y.stats()
	want(y, "has a time", !stats.Now.IsZero() && stats.Now.Location() == time.UTC, true)
	want(y, "counts", statsLines(stats), statsLines(&rota.Stats{}))
}

func statsCounted(y *story) {
	y.jobsInEveryState()
	y.enqueue(rota.NewJob{Type: "audio"})
	y.enqueue(rota.NewJob{Type: "audio", Delay: time.Hour})
	want(y, "counts", statsLines(y.stats()), statsLines(&rota.Stats{
		Queued: 2, Scheduled: 2, Blocked: 1, Running: 1, Dead: 1, Oldest: startTime,
		Types: []rota.TypeStats{{Type: "audio", Queued: 1, Scheduled: 1}, {Type: "mail", Queued: 1, Scheduled: 1, Blocked: 1, Running: 1}},
	}))
}

func statsEnded(y *story) {
	y.endInEachWay()
	want(y, "counts", statsLines(y.stats()), statsLines(&rota.Stats{Dead: 1}))
}

func statsRedriven(y *story) {
	_, _, _, dead := y.endInEachWay()
	redriven := y.redrive(dead.ID)
	want(y, "dead letters while the redrive is live", y.stats().Dead, 0)
	y.cancel(redriven.ID)
	want(y, "dead letters after the redrive was cancelled", y.stats().Dead, 1)
}

func statsOldest(y *story) {
	y.enqueue(rota.NewJob{Delay: time.Minute})
	want(y, "a job that waits for its time", y.stats().Oldest, time.Time{})
	y.advance(time.Second)
	y.enqueue(rota.NewJob{Priority: new(5)})
	wantTime(y, "the only one", y.stats().Oldest, startTime.Add(time.Second))
	y.advance(time.Hour)
	y.makeReady()
	wantTime(y, "the first of two", y.stats().Oldest, startTime.Add(time.Second))
	y.claimOne()
	wantTime(y, "the delayed one, since it is ready", y.stats().Oldest, y.now)
}

func statsSchedules(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.declare("weekly", rota.ScheduleSpec{})
	y.declare("yearly", rota.ScheduleSpec{})
	y.switchTo("weekly", rota.SchedulePaused)
	y.switchTo("yearly", rota.ScheduleDisabled)
	want(y, "enabled", y.stats().Schedules, 1)
	y.deleteSchedule("nightly")
	want(y, "deleted", y.stats().Schedules, 0)
}

// statsLines omits the time of the count.
func statsLines(s *rota.Stats) string {
	var b text
	b.line("", "all", fmt.Sprintf("%d queued, %d scheduled, %d blocked, %d running, %d dead, %d schedules",
		s.Queued, s.Scheduled, s.Blocked, s.Running, s.Dead, s.Schedules))
	b.line("", "deliveries", fmt.Sprint(s.Deliveries))
	b.line("", "oldest", timeText(s.Oldest))
	for _, t := range s.Types {
		b.line("  ", t.Type, fmt.Sprintf("%d queued, %d scheduled, %d blocked, %d running", t.Queued, t.Scheduled, t.Blocked, t.Running))
	}
	return b.String()
}

func statsText(t interface{ Fatalf(string, ...any) }, s rota.Store) string {
	stats, err := s.Stats(context.Background())
	if err != nil {
		t.Fatalf("stats: %v", err)
	}
	return statsLines(stats)
}
