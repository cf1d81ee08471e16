package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/store/sqlite"
	driver "zombiezen.com/go/sqlite"
)

const (
	sqlSchedules = 100_000
	sqlRuns      = 1_000_000
	sqlOwn       = 1_000 // runs of the one schedule whose runs are read
)

// The bars: a query costs at most sqlMost times the typed read that it uses, and counting all runs takes at most a
// second.
const (
	sqlMost      = 3
	sqlCountMost = 1000 // ms
)

const (
	sqlNextCase  = "sql/next"
	sqlRunsCase  = "sql/runs"
	sqlCountCase = "sql/count"

	typedName = "typed"
	selectOf  = "select"
)

func sqlBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{sqlNextCase, sqlRunsCase, sqlCountCase},
		bars: []bar{
			{caseName: sqlNextCase, subject: selectOf, against: typedName, most: sqlMost},
			{caseName: sqlRunsCase, subject: selectOf, against: typedName, most: sqlMost},
			{caseName: sqlCountCase, subject: selectOf, most: sqlCountMost},
		},
		run: runSQL,
	}}
}

// schedulesWithRuns is a set of schedules with runs. The first schedule has the most.
type schedulesWithRuns struct {
	scheduleSet
	runs, own int
}

func (p schedulesWithRuns) counts() counts { return counts{schedules: p.size, completed: p.runs} }

func (p schedulesWithRuns) make(path string) error { return writeDirectly(path, p.fill) }

func (p schedulesWithRuns) fill(conn *driver.Conn) error {
	if err := p.scheduleSet.fill(conn); err != nil {
		return err
	}
	w, err := newBackgroundWriter(conn, 0)
	if err != nil {
		return err
	}
	stride := max(1, p.runs/p.own)
	for i := range p.runs {
		of := 1 + i%(p.size-1)
		if i%stride == 0 {
			of = 0
		}
		if err := w.addRun(scheduleName(of)); err != nil {
			return err
		}
	}
	return nil
}

// reading is one read, available as a typed read of the store and as a SELECT.
type reading struct {
	name, query string
	rows        int
	typed       func(context.Context) (int, error)
}

// runSQL executes the same reads in both ways, in turns.
func runSQL(b *bench) error {
	f, err := b.fixture("sql", schedulesWithRuns{
		scheduleSet: scheduleSet{size: b.sized(sqlSchedules, 100), from: time.Now(), spec: func(i int) rota.ScheduleSpec {
			return rota.ScheduleSpec{Every: time.Hour + time.Duration(i)*time.Second}
		}},
		runs: b.sized(sqlRuns, 1000), own: b.sized(sqlOwn, 10),
	})
	if err != nil {
		return err
	}
	store, err := sqlite.Open(f.path)
	if err != nil {
		return err
	}
	defer store.Close()
	c := session.New(session.Config{})
	defer c.Close()
	s := c.Session(store, "")
	for _, one := range readings(b, store) {
		if err := b.readBoth(one, s); err != nil {
			return err
		}
	}
	return countRuns(b, s)
}

func readings(b *bench, store rota.Store) []reading {
	first := scheduleName(0)
	return []reading{
		{
			sqlNextCase, "SELECT job_name, state, next_run_time FROM sys.jobs ORDER BY next_run_time LIMIT 20", 20,
			func(ctx context.Context) (int, error) {
				list, err := store.Schedules(ctx, rota.ScheduleQuery{ByNext: true, Limit: 20})
				return len(list), err
			},
		},
		{
			sqlRunsCase, "SELECT * FROM sys.job_runs WHERE job_uuid = '" + rota.DefinitionID(first).String() + "'", b.sized(sqlOwn, 10),
			func(ctx context.Context) (int, error) {
				list, err := store.Jobs(ctx, rota.JobQuery{Schedule: first, Tails: true, Limit: rota.PageMax})
				return len(list), err
			},
		},
	}
}

// readBoth executes a read in both ways, in turns, and reports the median of each.
func (b *bench) readBoth(r reading, s *session.Session) error {
	sides := map[string]func(context.Context) (int, error){typedName: r.typed, selectOf: func(ctx context.Context) (int, error) {
		answers, err := s.Answers(ctx, r.query)
		if err != nil {
			return 0, err
		}
		return len(answers[0].Rows), nil
	}}
	walls := map[string][]float64{}
	for i := range b.sized(40, 5) + 1 {
		for _, side := range []string{typedName, selectOf} {
			began := time.Now()
			n, err := sides[side](b.ctx)
			if err != nil {
				return err
			}
			if n < r.rows {
				return fmt.Errorf("%s: %s gave %d rows, not %d", r.name, side, n, r.rows)
			}
			if i > 0 { // the first is a warm-up
				walls[side] = append(walls[side], time.Since(began).Seconds()*1e6)
			}
		}
	}
	for _, side := range []string{typedName, selectOf} {
		b.report.add(r.name, side, "median read", median(walls[side]), "µs")
	}
	return nil
}

func countRuns(b *bench, s *session.Session) error {
	var walls []float64
	for range 4 {
		began := time.Now()
		answers, err := s.Answers(b.ctx, "SELECT count(*) FROM sys.job_runs")
		if err != nil {
			return err
		}
		if n := answers[0].Rows[0][0].(int64); n != int64(b.sized(sqlRuns, 1000)) {
			return fmt.Errorf("%s: %d runs were counted", sqlCountCase, n)
		}
		walls = append(walls, time.Since(began).Seconds()*1e3)
	}
	b.report.add(sqlCountCase, selectOf, "median count of all runs", median(walls), "ms")
	return nil
}
