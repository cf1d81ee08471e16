package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

// JobRef names a job in a text.
func JobRef(id rota.ID) string {
	if id.IsZero() {
		return "job with the zero id"
	}
	return "job " + id.String()
}

// Stamp formats a time for a text.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// WaitedForTime reports whether only run_at can have held a job back. A job
// that waited for its group, its key, or for other executions of a schedule
// became ready later, when the clock may have been set back; a skipped job did
// not wait for its time.
func WaitedForTime(j *rota.Job) bool {
	turn := (!j.GroupID.IsZero() || j.Schedule != "") && j.RetryOf.IsZero()
	return !turn && j.ConcurrencyKey == "" && !(j.Run != nil && j.Run.Outcome == rota.OutcomeSkipped)
}
