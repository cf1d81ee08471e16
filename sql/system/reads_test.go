package system_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/system"
	"github.com/rotajobs/rota/store/sqlite"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	schedulesMade = 500 // of which every tenth is disabled, and the one after each of these is paused
	runsMade      = 300 // of job-007
)

// catalogue is a catalogue and the store that its queries read.
type catalogue struct {
	*system.Catalogue
	store rota.Store
}

// newCatalogue returns the catalogue of a store with schedules and runs.
func newCatalogue(t testing.TB) (catalogue, rota.Store) {
	t.Helper()
	store, err := sqlite.OpenWith(filepath.Join(t.TempDir(), "rota.db"), sqlite.Config{Clock: func() time.Time { return began }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var batch rota.Batch
	add := func(c rota.Command) { batch.Commands = append(batch.Commands, c) }
	for i := range schedulesMade {
		name := fmt.Sprintf("job-%03d", i)
		add(&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: name, Spec: rota.TemplateSpec{Type: "noop"}})
		spec := rota.ScheduleSpec{Template: name, Every: time.Hour + time.Duration(schedulesMade-i)*time.Second}
		put, err := rota.Declare(rota.NewMeta("ada"), name, spec, began)
		if err != nil {
			t.Fatal(err)
		}
		switch i % 10 {
		case 0:
			put.State = rota.ScheduleDisabled
		case 1:
			put.State = rota.SchedulePaused
		}
		add(put)
	}
	for range runsMade {
		add(&rota.Trigger{Meta: rota.NewMeta("ada"), Schedule: "job-007"})
	}
	add(&rota.Trigger{Meta: rota.NewMeta("ada"), Schedule: "job-008"})
	results, err := store.Apply(context.Background(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	c := catalogue{system.New(system.Config{}), store}
	t.Cleanup(func() { _ = c.Close() })
	return c, store
}

// runQuery runs a query and shows its rows, one a line.
func runQuery(c catalogue, text string, args ...any) (rows []string, stats system.ReadStats, err error) {
	stats, err = selectRows(c, text, args, func(row []any) error {
		rows = append(rows, strings.TrimSuffix(fmt.Sprintln(row...), "\n"))
		return nil
	})
	return rows, stats, err
}

func selectRows(c catalogue, text string, args []any, row func([]any) error) (system.ReadStats, error) {
	q, err := c.Prepare(text, nil, system.Session{})
	if err != nil {
		return system.ReadStats{}, err
	}
	return c.Run(context.Background(), q, args, system.Session{View: c.store.View}, row)
}

// TestQueryReadsOnlyNeededRows counts the reads and rows of queries whose conditions are pushed down
// to the store, and of similar queries whose conditions cannot be.
func TestQueryReadsOnlyNeededRows(t *testing.T) {
	c, store := newCatalogue(t)
	jobs, err := store.Jobs(context.Background(), rota.JobQuery{Schedule: "job-008"})
	if err != nil {
		t.Fatal(err)
	}
	one, id := jobs[0].ID.String(), rota.DefinitionID("job-007").String()
	soon := fmt.Sprint(began.Add(time.Hour + 10*time.Second).UnixMilli())
	for _, test := range []struct {
		query string
		reads int   // at most
		rows  int64 // exactly, of the store
		want  int   // rows of the answer
	}{
		{"SELECT 1", 0, 0, 1},
		{"SELECT job_name FROM sys.jobs WHERE job_name = 'job-007'", 2, 1, 1},
		{"SELECT job_name FROM sys.jobs WHERE job_uuid = '" + id + "'", 3, 1, 1},
		{"SELECT job_name FROM sys.jobs WHERE job_uuid = '" + strings.ToUpper(id) + "'", 3, 1, 1},
		{"SELECT job_name FROM sys.jobs WHERE job_name IN ('job-007', 'job-008', 'nobody')", 6, 2, 2},
		{"SELECT job_name, next_run_time FROM sys.jobs ORDER BY next_run_time LIMIT 20", 1, 20, 20},
		{"SELECT job_name FROM sys.jobs ORDER BY next_run_time LIMIT 20 OFFSET 40", 1, 60, 20},
		{"SELECT job_name FROM sys.jobs ORDER BY job_name LIMIT 5", 1, 5, 5},
		{"SELECT job_name FROM sys.jobs WHERE state = 'PAUSED' ORDER BY job_name LIMIT 5", 1, 5, 5},
		{"SELECT job_name FROM sys.jobs WHERE next_run_time < " + soon + " ORDER BY next_run_time", 2, 9, 9},
		{"SELECT job_name FROM sys.jobs WHERE next_run_time < '" + soon + "' ORDER BY next_run_time", 2, 9, 9},
		{"SELECT count(*) FROM sys.job_runs", 1, 0, 1},
		{"SELECT job_run_uuid FROM sys.job_runs WHERE job_run_uuid = '" + one + "'", 2, 1, 1},
		{"SELECT state FROM sys.job_runs WHERE job_uuid = '" + id + "'", 4, runsMade, runsMade},
		{"SELECT state FROM sys.job_runs WHERE job_name = 'job-008' AND state = 'PENDING'", 2, 1, 1},
		{"SELECT state FROM sys.job_runs WHERE state = 'COMPLETED'", 1, 0, 0},
		{"SELECT state FROM sys.job_runs WHERE state = 'NONSENSE'", 1, 0, 0},
		{"SELECT state FROM sys.job_runs LIMIT 3", 1, 3, 3},
		{"SELECT j.job_name, r.state FROM sys.jobs j JOIN sys.job_runs r ON r.job_uuid = j.job_uuid WHERE j.job_name = 'job-008'", 5, 2, 1},
		{"SELECT depends_on_job_name FROM sys.job_dependencies WHERE job_name = 'job-007'", 2, 0, 0},
		{"SELECT template_name FROM sys.templates WHERE template_name = 'job-007'", 2, 1, 1},
		{"SELECT event_type FROM sys.audit WHERE subject = 'schedule job-006'", 2, 1, 1},
		{"SELECT event_type FROM sys.audit WHERE job_name = 'job-006'", 2, 1, 1},
		{"SELECT event_type FROM sys.audit WHERE job_uuid = '" + id + "' ORDER BY at DESC LIMIT 5", 3, 5, 5},
		{"SELECT event_type FROM sys.audit WHERE job_run_uuid = '" + one + "'", 2, 1, 1},
		{"SELECT event_type FROM sys.audit ORDER BY at DESC LIMIT 5", 2, 5, 5},
		{"SELECT event_type FROM sys.audit WHERE at > " + soon + " ORDER BY at DESC", 2, 0, 0},
		{"SELECT event_type FROM sys.audit WHERE user_name = 'nobody' AND at > " + soon, 2, 0, 0},
		{"SELECT event_type FROM sys.audit WHERE event_type = 'JOB_SWALLOWED'", 2, 0, 0},

		// Conditions that cannot be pushed down.
		{"SELECT job_name FROM sys.jobs WHERE upper(job_name) = 'JOB-007'", 10, schedulesMade, 1},
		{"SELECT job_name FROM sys.jobs WHERE job_name = NULL", 0, 0, 0},
		{"SELECT job_name FROM sys.jobs ORDER BY next_run_time, job_name LIMIT 20", 10, schedulesMade, 20},
		{"SELECT job_name FROM sys.jobs ORDER BY next_run_time DESC LIMIT 20", 10, schedulesMade, 20},
		{"SELECT job_name FROM sys.jobs WHERE description IS NULL ORDER BY job_name LIMIT 5", 8, 16, 5},
		{"SELECT job_name FROM sys.jobs ORDER BY upper(job_name) LIMIT 5", 10, schedulesMade, 5},
	} {
		rows, stats, err := runQuery(c, test.query)
		if err != nil {
			t.Errorf("%s: %v", test.query, err)
			continue
		}
		if stats.Reads > test.reads || stats.Rows != test.rows || len(rows) != test.want {
			t.Errorf("%s:\n%d reads, %d rows of the store, %d of the answer; want at most %d, %d, %d",
				test.query, stats.Reads, stats.Rows, len(rows), test.reads, test.rows, test.want)
		}
	}
}

// BenchmarkQuery measures a query with an order that the table gives, and one that SQLite sorts.
func BenchmarkQuery(b *testing.B) {
	c, _ := newCatalogue(b)
	for name, text := range map[string]string{
		"next":   "SELECT job_name, next_run_time FROM sys.jobs ORDER BY next_run_time LIMIT 20",
		"name":   "SELECT job_name FROM sys.jobs ORDER BY job_name LIMIT 5",
		"one":    "SELECT job_name FROM sys.jobs WHERE job_name = 'job-007'",
		"sorted": "SELECT state, count(*) FROM sys.job_runs WHERE job_name = 'job-008' GROUP BY state ORDER BY 2 DESC",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := runQuery(c, text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
