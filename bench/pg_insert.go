package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

const (
	pgInsertCase    = "postgres/insert/1000"
	pgInsertBatches = 40 // in a part, which takes about half a second
)

// pgInserter inserts batches of jobs.
type pgInserter struct {
	name, note string
	open       func(ctx context.Context, db *database, size int) (rivalQueue, error)
}

func pgInserters() []pgInserter {
	return []pgInserter{
		{"rota", "Enqueue with all jobs in one command", openPgRotaQueue},
		{"raw", "COPY into the table of the store, with its indexes, CHECKs and triggers:" + pgRawCopy, openPgRawQueue},
		{"river", pgRiverVersion + ", Client.InsertManyFast", openPgRiverQueue},
	}
}

func pgInsertBenchmark() benchmark {
	return benchmark{
		cases: []string{pgInsertCase},
		bars: []bar{
			{caseName: pgInsertCase, subject: "rota", against: "river", least: pgInsertShare},
			{caseName: pgInsertCase, subject: "rota", against: "raw"},
		},
		run: runPgInsert,
	}
}

// runPgInsert inserts batches of 1,000 jobs, with one call and one commit each.
func runPgInsert(b *bench) error {
	var subjects []subject
	notes := ""
	for _, i := range pgInserters() {
		subjects = append(subjects, i.subject(b))
		notes += fmt.Sprintf("%s: %s\n", i.name, i.note)
	}
	b.report.explain(pgInsertCase+": what each subject does", notes)
	return b.compare(pgInsertCase, subjects...)
}

func (i pgInserter) subject(b *bench) subject {
	batches, size := b.sized(pgInsertBatches, 1), b.sized(pgBatch, 10)
	want := parts * batches * size
	var db *database
	var queue rivalQueue
	var took cost
	return subject{
		name: i.name,
		open: func() (err error) {
			if db, err = b.database(pgInsertCase + "_" + i.name); err == nil {
				queue, err = i.open(b.ctx, db, size)
			}
			return err
		},
		part: func(ctx context.Context) error {
			return took.measure(ctx, db.server, nil, func() error {
				for range batches {
					if err := queue.enqueue(ctx); err != nil {
						return err
					}
				}
				return nil
			})
		},
		close: func(ctx context.Context) error {
			defer db.drop()
			b.report.addCost(pgInsertCase, i.name, want, took)
			held, err := queue.jobs(ctx)
			if err == nil && held != want {
				err = fmt.Errorf("the database holds %d jobs, not %d", held, want)
			}
			if closeErr := queue.close(); err == nil {
				err = closeErr
			}
			return err
		},
	}
}

// pgStoreQueue is the job table of a store, used through the store or directly.
type pgStoreQueue struct {
	batchQueue
	db *database
}

func openPgRotaQueue(ctx context.Context, db *database, size int) (rivalQueue, error) {
	e, err := openPgRotaBatchQueue(ctx, db, size)
	return &pgStoreQueue{e, db}, err
}

func openPgRawQueue(ctx context.Context, db *database, size int) (rivalQueue, error) {
	e, err := openPgRawBatchQueue(ctx, db, size)
	return &pgStoreQueue{e, db}, err
}

func (q *pgStoreQueue) jobs(ctx context.Context) (int, error) {
	got, err := q.db.count(ctx)
	if err == nil {
		err = q.db.audit(ctx, counts{queued: got.queued})
	}
	return got.queued, err
}

// pgRiverQueue is a client that only inserts.
type pgRiverQueue struct {
	pool  *pgxpool.Pool
	batch func(context.Context) error
}

func openPgRiverQueue(ctx context.Context, db *database, size int) (rivalQueue, error) {
	pool, err := openPgRiver(ctx, db)
	if err != nil {
		return nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	jobs := riverJobs(size)
	return &pgRiverQueue{pool: pool, batch: func(ctx context.Context) error {
		_, err := client.InsertManyFast(ctx, jobs)
		return err
	}}, err
}

func (q *pgRiverQueue) enqueue(ctx context.Context) error { return q.batch(ctx) }

func (q *pgRiverQueue) jobs(ctx context.Context) (n int, err error) {
	return n, q.pool.QueryRow(ctx, "SELECT count(*) FROM river_job").Scan(&n)
}

func (q *pgRiverQueue) close() error {
	q.pool.Close()
	return nil
}
