package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

const (
	pgChurnCase   = "postgres/churn"
	pgChurnRate   = 1000                   // jobs per second
	pgChurnEvery  = 100 * time.Millisecond // interval between enqueues
	pgChurnRounds = 20                     // batches that are timed at each mark
	pgChurnMost   = 1.3                    // times the duration in a new store
	pgChurnKeep   = 12                     // finished jobs are kept for this fraction (1/n) of the duration
	pgChurnPrune  = 60                     // pruning runs at intervals of this fraction (1/n) of the duration
)

// pgChurnMarks are the points at which the store is measured, at equal intervals.
var pgChurnMarks = []string{"start", "middle", "end"}

// pgChurnNew marks the new store at each mark. Both stores are measured in turns, because the speed of the machine may
// change within an hour.
const pgChurnNew = ", a new store"

// pgChurnBenchmark shows how the table grows if jobs are created and removed for a long time, with default autovacuum.
func pgChurnBenchmark() benchmark {
	m := benchmark{cases: []string{pgChurnCase}, keyword: "churn", run: runPgChurn}
	for _, mark := range pgChurnMarks {
		m.bars = append(m.bars, bar{caseName: pgChurnCase, subject: mark, against: mark + pgChurnNew, most: pgChurnMost})
	}
	return m
}

func runPgChurn(b *bench) error {
	if b.round > 0 {
		return nil // one run is long enough
	}
	db, err := b.database(pgChurnCase)
	if err != nil {
		return err
	}
	defer db.drop()
	b.report.explain(pgChurnCase+": the load", fmt.Sprintf("%d empty jobs per second for %v, through an engine with 100 workers; finished jobs are removed after %v, checked every %v.\n"+
		"At each mark the engine stops, and %d batches of 1,000 are claimed and finished through the store, in turns with a new store.",
		b.sized(pgChurnRate, 50), b.churn, b.churn/pgChurnKeep, b.churn/pgChurnPrune, pgChurnRounds))
	c, err := openPgRotaPool(db, 100)
	if err != nil {
		return err
	}
	keep := rota.DefaultRetention
	keep.Completed.Age = b.churn / pgChurnKeep
	c.configure = func(config *engine.Config) {
		config.Name, config.Retention, config.PruneEvery = "bench", &keep, max(time.Second, b.churn/pgChurnPrune)
	}
	for i, mark := range pgChurnMarks {
		if i > 0 {
			if err := c.churn(b); err != nil {
				return err
			}
		}
		if err := errors.Join(c.recordTable(b, mark), c.compareWithNew(b, mark)); err != nil {
			return err
		}
	}
	return c.closeStore()
}

// churn runs the engine under a steady load from one mark to the next.
func (c *pgRotaPool) churn(b *bench) error {
	each := b.sized(pgChurnRate, 50) / int(time.Second/pgChurnEvery)
	steps := int(b.churn / time.Duration(len(pgChurnMarks)-1) / pgChurnEvery)
	ended := c.ended.await(each * steps)
	c.start(b.ctx)
	ticks := time.NewTicker(pgChurnEvery)
	defer ticks.Stop()
	for i := range steps {
		if err := enqueue(b.ctx, c.store, newJobs(each)); err != nil {
			return err
		}
		if i%600 == 599 {
			fmt.Fprintf(os.Stderr, "%s: %v of %v\n", pgChurnCase, time.Duration(i+1)*pgChurnEvery, time.Duration(steps)*pgChurnEvery)
		}
		select {
		case <-ticks.C:
		case <-b.ctx.Done():
			return b.ctx.Err()
		}
	}
	ctx, done := context.WithTimeout(b.ctx, workTimeout)
	defer done()
	if err := c.await(ctx, ended); err != nil {
		return fmt.Errorf("not all jobs were finished: %w", err)
	}
	return c.stopWorkers(b.ctx)
}

const pgChurnTable = `
SELECT pg_table_size(relid), pg_indexes_size(relid), (SELECT count(*) FROM rota.jobs), n_dead_tup, autovacuum_count
FROM pg_stat_user_tables
WHERE schemaname = 'rota' AND relname = 'jobs'`

// recordTable reports the size of the table. It runs before the batches of a mark, because they are not part of the
// load.
func (c *pgRotaPool) recordTable(b *bench, mark string) error {
	conn, err := pgx.Connect(b.ctx, c.db.url)
	if err != nil {
		return err
	}
	defer conn.Close(b.ctx)
	var table, indexes, rows, dead, vacuums float64
	if err := conn.QueryRow(b.ctx, pgChurnTable).Scan(&table, &indexes, &rows, &dead, &vacuums); err != nil {
		return err
	}
	for _, one := range []struct {
		tail, metric, unit string
		value              float64
	}{
		{"/table", "table", "MB", table / 1e6},
		{"/indexes", "indexes", "MB", indexes / 1e6},
		{"/rows", "rows", "rows", rows},
		{"/dead", "dead rows", "rows", dead},
		{"/autovacuums", "autovacuums so far", "times", vacuums},
	} {
		b.report.add(pgChurnCase+one.tail, mark, one.metric, one.value, one.unit)
	}
	return nil
}

// compareWithNew reports the time of claims and finishes in this store and in a new one.
func (c *pgRotaPool) compareWithNew(b *bench, mark string) error {
	size := b.sized(pgBatch, 10)
	db, err := b.database(pgChurnCase + "_" + mark)
	if err != nil {
		return err
	}
	defer db.drop()
	loop, err := openPgRotaBatchQueue(b.ctx, db, size)
	if err != nil {
		return err
	}
	err = compareSides(b, pgChurnCase, b.sized(pgChurnRounds, 1), size,
		&pgSide{name: mark, db: c.db, loop: &rotaBatchQueue{store: c.inner, batch: newJobs(size)}}, &pgSide{name: mark + pgChurnNew, db: db, loop: loop})
	return errors.Join(err, loop.close())
}
