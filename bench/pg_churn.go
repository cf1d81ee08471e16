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
	pgChurnCase  = "postgres/churn"
	pgChurnRate  = 1000                   // jobs a second
	pgChurnEvery = 100 * time.Millisecond // they come
	pgChurnActs  = 20                     // batches that are timed at each mark
	pgChurnMost  = 1.3                    // times what they take in a store that is new
	pgChurnKeep  = 12                     // a job is kept for so small a part of the whole
	pgChurnPrune = 60                     // and looked after at such intervals
)

// pgChurnMarks are when it is looked at, with as much time between any two.
var pgChurnMarks = []string{"start", "middle", "end"}

// pgChurnNew marks the store that is new at a mark: an hour later the machine
// may be another one, so both are looked at in turns.
const pgChurnNew = ", a new store"

// pgChurnBenchmark shows what becomes of the table when jobs come and go for a
// long time, and autovacuum is left to itself.
func pgChurnBenchmark() benchmark {
	m := benchmark{cases: []string{pgChurnCase}, asked: "churn", run: runPgChurn}
	for _, mark := range pgChurnMarks {
		m.bars = append(m.bars, bar{caseName: pgChurnCase, subject: mark, against: mark + pgChurnNew, most: pgChurnMost})
	}
	return m
}

func runPgChurn(b *bench) error {
	if b.round > 0 {
		return nil // once is long enough
	}
	db, err := b.database(pgChurnCase)
	if err != nil {
		return err
	}
	defer db.drop()
	b.report.explain(pgChurnCase+": the load", fmt.Sprintf("%d jobs a second that do nothing for %v, through an engine with 100 workers; what has ended is removed after %v, every %v.\n"+
		"At each mark the engine rests, and %d batches of 1,000 are claimed and finished through the store, in turns with one that is new.",
		b.sized(pgChurnRate, 50), b.churn, b.churn/pgChurnKeep, b.churn/pgChurnPrune, pgChurnActs))
	c, err := openPgRotaCrew(db, 100)
	if err != nil {
		return err
	}
	keep := rota.DefaultRetention
	keep.Completed.Age = b.churn / pgChurnKeep
	c.adjust = func(config *engine.Config) {
		config.Name, config.Retention, config.PruneEvery = "bench", &keep, max(time.Second, b.churn/pgChurnPrune)
	}
	for i, mark := range pgChurnMarks {
		if i > 0 {
			if err := c.churn(b); err != nil {
				return err
			}
		}
		if err := errors.Join(c.look(b, mark), c.mark(b, mark)); err != nil {
			return err
		}
	}
	return c.letGo()
}

// churn has the engine work under a steady load from one mark to the next.
func (c *pgRotaCrew) churn(b *bench) error {
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
	ctx, done := context.WithTimeout(b.ctx, patience)
	defer done()
	if err := c.await(ctx, ended); err != nil {
		return fmt.Errorf("the jobs that came were not all done: %w", err)
	}
	return c.rest(b.ctx)
}

const pgChurnLook = `
SELECT pg_table_size(relid), pg_indexes_size(relid), (SELECT count(*) FROM rota.jobs), n_dead_tup, autovacuum_count
FROM pg_stat_user_tables
WHERE schemaname = 'rota' AND relname = 'jobs'`

// look notes what the table has become. It comes before the batches of a mark:
// they are no part of the load.
func (c *pgRotaCrew) look(b *bench, mark string) error {
	conn, err := pgx.Connect(b.ctx, c.db.url)
	if err != nil {
		return err
	}
	defer conn.Close(b.ctx)
	var table, indexes, rows, dead, vacuums float64
	if err := conn.QueryRow(b.ctx, pgChurnLook).Scan(&table, &indexes, &rows, &dead, &vacuums); err != nil {
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

// mark notes how long claims and ends take, here and in a store that is new.
func (c *pgRotaCrew) mark(b *bench, mark string) error {
	size := b.sized(pgBatch, 10)
	db, err := b.database(pgChurnCase + "_" + mark)
	if err != nil {
		return err
	}
	defer db.drop()
	loop, err := openPgRotaLoop(b.ctx, db, size)
	if err != nil {
		return err
	}
	err = actInTurns(b, pgChurnCase, b.sized(pgChurnActs, 1), size,
		&pgSide{name: mark, db: c.db, loop: &rotaLoop{store: c.inner, batch: newJobs(size)}}, &pgSide{name: mark + pgChurnNew, db: db, loop: loop})
	return errors.Join(err, loop.close())
}
