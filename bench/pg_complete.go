package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota/engine"
)

// Handlers write a row of their own, and complete the run in the same transaction or by returning.
const (
	pgCompleteCase  = "postgres/complete"
	pgCompleteJobs  = 1600 // in a part
	pgCompleteSlots = 16
	pgCompleteShare = 0.9
	pgReturning     = "row, then return"
)

func pgCompleteBenchmark() benchmark {
	return benchmark{
		cases: []string{pgCompleteCase},
		bars:  []bar{{caseName: pgCompleteCase, subject: "rota", against: pgReturning, least: pgCompleteShare}},
		run: func(b *bench) error {
			b.report.explain(pgCompleteCase+": what each subject does", fmt.Sprintf(
				"An engine with %d workers runs jobs whose handlers insert a row in a transaction of their own and commit.\n"+
					"rota: the transaction has engine.CompleteTx. %s: the run ends with the return of the handler.", pgCompleteSlots, pgReturning))
			return b.compare(pgCompleteCase, pgCompleteSubject(b, "rota", true), pgCompleteSubject(b, pgReturning, false))
		},
	}
}

func pgCompleteSubject(b *bench, name string, complete bool) subject {
	jobs := b.sized(pgCompleteJobs, 2*pgCompleteSlots)
	var db *database
	var c *pgRotaPool
	var pool *pgxpool.Pool
	var took cost
	return subject{
		name: name,
		open: func() (err error) {
			if db, err = b.database(pgCompleteCase + "_" + name); err != nil {
				return err
			}
			config, err := pgxpool.ParseConfig(db.url)
			if err != nil {
				return err
			}
			config.MaxConns = pgCompleteSlots
			if pool, err = pgxpool.NewWithConfig(b.ctx, config); err != nil {
				return err
			}
			if _, err = pool.Exec(b.ctx, "CREATE TABLE effects (id bigserial PRIMARY KEY, note text NOT NULL)"); err != nil {
				return err
			}
			if c, err = openPgRotaPool(db, pgCompleteSlots); err == nil {
				c.handler = func(ctx context.Context, _ benchJob) error { return writeEffect(ctx, pool, complete) }
			}
			return err
		},
		part: func(ctx context.Context) error {
			if err := c.fill(ctx, jobs); err != nil {
				return err
			}
			err := took.measure(ctx, db.server, nil, func() error { return withTimeout(ctx, jobs, c.work) })
			if restErr := c.stopWorkers(ctx); err == nil {
				err = restErr
			}
			return err
		},
		close: func(ctx context.Context) error {
			defer db.drop()
			defer pool.Close()
			b.report.addCost(pgCompleteCase, name, parts*jobs, took)
			var rows int
			if err := pool.QueryRow(ctx, "SELECT count(*) FROM effects").Scan(&rows); err != nil {
				return err
			}
			if rows != parts*jobs {
				return fmt.Errorf("the database holds %d rows, not %d", rows, parts*jobs)
			}
			return c.close(ctx, parts*jobs)
		},
	}
}

// writeEffect is the work of a handler.
func writeEffect(ctx context.Context, pool *pgxpool.Pool, complete bool) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // does nothing after a commit
	if _, err = tx.Exec(ctx, "INSERT INTO effects (note) VALUES ($1)", "done"); err != nil {
		return err
	}
	if complete {
		if err = engine.CompleteTx(ctx, tx, nil); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}
