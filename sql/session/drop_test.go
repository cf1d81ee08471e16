package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestDropWithWrongClockEndsOnlyOldRuns checks that DROP JOB finds the runs of the dropped job by its
// identity, not by their times.
func TestDropWithWrongClockEndsOnlyOldRuns(t *testing.T) {
	const make = "CREATE JOB n SCHEDULE = EVERY 1 HOUR AS CALL noop()"
	t.Run("it was ahead", func(t *testing.T) {
		b := newFixture(t)
		b.run(make)
		b.run("EXECUTE JOB n")
		b.clock.move(5 * time.Minute)
		b.has("DROP JOB n", "DROP JOB")
		b.clock.move(-5*time.Minute + time.Second)
		b.run(make)
		b.run("EXECUTE JOB n")
		b.sweep()
		b.has("SELECT state FROM sys.job_runs", "state\nPENDING\nSELECT 1")
	})
	t.Run("it was set back", func(t *testing.T) {
		b := newFixture(t)
		b.run(make)
		b.run("EXECUTE JOB n")
		b.runJobs(rota.OutcomeCompleted)
		b.clock.move(-time.Hour)
		b.has("DROP JOB n", "DROP JOB")
		b.has("SELECT count(*) FROM sys.job_runs", "\n0\n")
		b.sweep()
		b.has("SELECT count(*) FROM sys.job_runs", "\n0\n")
		b.has("SELECT count(*) FROM sys.executions", "\n0\n")
	})
}

// TestDropEndsMoreRunsThanOnePage drops a job with more queued runs than one command ends.
func TestDropEndsMoreRunsThanOnePage(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB n SCHEDULE = EVERY 1 HOUR AS CALL noop()")
	var batch rota.Batch
	for range rota.SweepMax + 500 {
		batch.Commands = append(batch.Commands, &rota.Trigger{Meta: rota.NewMeta("admin"), Schedule: "n"})
	}
	batch.Commands = append(batch.Commands, &rota.Drop{Meta: rota.NewMeta("admin"), Name: "n"})
	if _, err := b.store.Apply(context.Background(), batch); err != nil {
		t.Fatal(err)
	}
	b.sweep()
	claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"noop"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()}
	if jobs := do[*rota.Claimed](b, claim).Jobs; len(jobs) > 0 {
		t.Error("a run of the dropped job was claimed")
	}
	if got := b.run("SELECT count(*) FROM sys.job_runs"); !strings.Contains(got, "\n0\n") {
		t.Errorf("runs are left: %s", got)
	}
}
