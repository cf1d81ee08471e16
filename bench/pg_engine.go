package main

import (
	"context"
	"fmt"
)

// What Rota promises on PostgreSQL.
const (
	pgRiverShare  = 1.5 // of River's speed, from the queue to the end
	pgRawShare    = 0.7 // of the raw engine's
	pgInsertShare = 1.3 // of River's speed at inserting
)

const (
	pgEngineCase = "postgres/engine/1000"
	pgWorkers    = 1000
	pgBatch      = 1000   // jobs that are inserted, claimed or ended at once
	pgJobs       = 40_000 // of a part: the first and the last claim, beside which nothing else happens, are few among them
)

// pgApplicant is a crew on PostgreSQL before it is engaged.
type pgApplicant struct {
	name string
	note string // printed with the result
	open func(ctx context.Context, db *database) (crew, error)
}

// pgShift is a case in which crews do the same jobs, each in a database of its
// own.
type pgShift struct {
	name       string
	jobs       int // of a crew in a part
	applicants []pgApplicant
	bars       []bar
}

func pgEngineBenchmark() benchmark {
	s := pgShift{
		name: pgEngineCase, jobs: pgJobs, applicants: pgApplicants(),
		bars: []bar{
			{caseName: pgEngineCase, subject: "rota", against: "river", least: pgRiverShare},
			{caseName: pgEngineCase, subject: "rota", against: "raw", least: pgRawShare},
		},
	}
	return s.benchmark()
}

func pgApplicants() []pgApplicant {
	return []pgApplicant{pgRotaApplicant(), pgRawApplicant(), pgRiverApplicant()}
}

func (s pgShift) benchmark() benchmark {
	return benchmark{cases: []string{s.name}, bars: s.bars, run: s.run}
}

func (s pgShift) run(b *bench) error {
	var subjects []subject
	notes := ""
	for _, a := range s.applicants {
		subjects = append(subjects, s.subject(b, a))
		notes += fmt.Sprintf("%s: %s\n", a.name, a.note)
	}
	b.report.explain(s.name+": what each was made to do", notes)
	return b.compare(s.name, subjects...)
}

// subject has a crew start, finish what was put into its queue, and rest. Only
// the work is timed, the start of the workers included.
func (s pgShift) subject(b *bench, a pgApplicant) subject {
	jobs := b.sized(s.jobs, 2*16)
	var db *database
	var c crew
	var took cost
	return subject{
		name: a.name,
		open: func() (err error) {
			if db, err = b.database(s.name + "_" + a.name); err == nil {
				c, err = a.open(b.ctx, db)
			}
			return err
		},
		part: func(ctx context.Context) error {
			if err := c.fill(ctx, jobs); err != nil {
				return err
			}
			err := took.measure(ctx, db.server, processesOf(c), func() error { return patiently(ctx, jobs, c.work) })
			if restErr := c.rest(ctx); err == nil {
				err = restErr
			}
			return err
		},
		close: func(ctx context.Context) error {
			defer db.drop()
			b.report.addCost(s.name, a.name, parts*jobs, took)
			return c.close(ctx, parts*jobs)
		},
	}
}

// processesOf are those that work for a crew, beside this one.
func processesOf(c crew) []int {
	if of, are := c.(interface{ processes() []int }); are {
		return of.processes()
	}
	return nil
}
