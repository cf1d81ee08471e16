package main

import (
	"context"
	"fmt"
	"time"
)

// The promised speeds on PostgreSQL.
const (
	pgRiverShare  = 1.5 // of River's speed, from the queue to the end
	pgRawShare    = 0.7 // of the raw engine's speed
	pgInsertShare = 1.3 // of River's speed at inserting
)

const (
	pgEngineCase = "postgres/engine/1000"
	pgWorkers    = 1000
	pgBatch      = 1000   // jobs inserted, claimed or finished at once
	pgJobs       = 40_000 // jobs of a part; enough that the first and last claim, during which nothing else happens, have little weight
)

// pgContender describes a worker pool on PostgreSQL that takes part in a comparison.
type pgContender struct {
	name string
	note string // printed with the result
	open func(ctx context.Context, db *database) (workerPool, error)
}

// pgEngineComparison is a case in which worker pools run the same jobs, each in its own database.
type pgEngineComparison struct {
	name       string
	jobs       int // of a pool in a part
	contenders []pgContender
	bars       []bar
}

func pgEngineBenchmark() benchmark {
	s := pgEngineComparison{
		name: pgEngineCase, jobs: pgJobs, contenders: pgContenders(),
		bars: []bar{
			{caseName: pgEngineCase, subject: "rota", against: "river", least: pgRiverShare},
			{caseName: pgEngineCase, subject: "rota", against: "raw", least: pgRawShare},
		},
	}
	return s.benchmark()
}

func pgContenders() []pgContender {
	return []pgContender{pgRotaContender(), pgRawContender(), pgRiverContender()}
}

func (s pgEngineComparison) benchmark() benchmark {
	return benchmark{cases: []string{s.name}, bars: s.bars, run: s.run}
}

func (s pgEngineComparison) run(b *bench) error {
	var subjects []subject
	notes := ""
	for _, a := range s.contenders {
		subjects = append(subjects, s.subject(b, a))
		notes += fmt.Sprintf("%s: %s\n", a.name, a.note)
	}
	b.report.explain(s.name+": what each subject does", notes)
	return b.compare(s.name, subjects...)
}

// subject starts the workers of a pool, waits until its jobs are finished, and stops the workers. Only the work is
// timed, including the start of the workers.
func (s pgEngineComparison) subject(b *bench, a pgContender) subject {
	jobs := b.sized(s.jobs, 2*16)
	var db *database
	var c workerPool
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
			err := took.measure(ctx, db.server, processesOf(c), func() error { return withTimeout(ctx, jobs, c.work) })
			if restErr := c.stopWorkers(ctx); err == nil {
				err = restErr
			}
			return err
		},
		close: func(ctx context.Context) error {
			defer db.drop()
			b.report.addCost(s.name, a.name, parts*jobs, took)
			if of, has := c.(interface{ latencies() []time.Duration }); has {
				b.report.addTimes(s.name, a.name, "wait for the handler", of.latencies())
			}
			return c.close(ctx, parts*jobs)
		},
	}
}

// processesOf returns the other processes that work for a pool.
func processesOf(c workerPool) []int {
	if of, are := c.(interface{ processes() []int }); are {
		return of.processes()
	}
	return nil
}
