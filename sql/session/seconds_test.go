package session_test

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestDurationsInSecondsAreRoundedUp reads durations that SQL cannot set: a positive one must not be shown as 0.
func TestDurationsInSecondsAreRoundedUp(t *testing.T) {
	b := newFixture(t)
	b.template("n", rota.TemplateSpec{Type: "noop"})
	half, two := 500*time.Millisecond, 2*time.Second
	b.declare("short", rota.ScheduleSpec{Template: "n", Every: half, Policy: rota.PolicyPatch{Timeout: &half, Backoff: &half}})
	b.declare("whole", rota.ScheduleSpec{Template: "n", Every: two, Policy: rota.PolicyPatch{Timeout: &two, Backoff: new(time.Duration(0))}})
	b.has("SELECT job_name, interval_seconds, timeout_seconds, retry_backoff_seconds FROM sys.jobs ORDER BY 1", "short | 1 | 1 | 1\nwhole | 2 | 2 | 0\n")
	b.has("SHOW CREATE JOB short", "-- rounded up, since a clause has whole seconds: EVERY from 500ms, RETRY_BACKOFF from 500ms, TIMEOUT from 500ms", "EVERY 1 SECOND", "TIMEOUT = 1 SECOND")
}
