package main

import (
	"context"
	"database/sql"
	"fmt"
)

const rivalsCase = "enqueue/rivals"

// rival is another queue on SQLite, used as its documentation describes, except for synchronous=FULL, which is not its
// default.
type rival struct {
	name string
	note string // printed with the result
	open func(ctx context.Context, path string) (rivalQueue, error)
}

// rivalQueue enqueues batches, each in one transaction.
type rivalQueue interface {
	enqueue(ctx context.Context) error
	jobs(ctx context.Context) (int, error) // number of jobs in the file
	close() error
}

func allRivals(size int) []rival {
	return []rival{
		{"rota", "Enqueue with all jobs in one command", func(_ context.Context, path string) (rivalQueue, error) {
			e, err := openRotaBatchQueue(path, size)
			return &rotaRival{batchQueue: e, path: path}, err
		}},
		backliteRival(size),
		riverRival(size),
	}
}

func rivalBenchmarks() []benchmark {
	var bars []bar
	for _, r := range allRivals(0)[1:] {
		bars = append(bars, bar{caseName: rivalsCase, subject: "rota", against: r.name})
	}
	return []benchmark{{cases: []string{rivalsCase}, bars: bars, run: runRivals}}
}

// runRivals enqueues batches of 1,000 jobs with the batch call of each queue.
func runRivals(b *bench) error {
	batches, size := b.sized(4, 1), b.sized(1000, 10)
	var subjects []subject
	notes := ""
	for _, r := range allRivals(size) {
		subjects = append(subjects, r.subject(b, batches, size))
		notes += fmt.Sprintf("%s: %s\n", r.name, r.note)
	}
	b.report.explain(rivalsCase+": what each subject does, with synchronous=FULL", notes)
	return b.compare(rivalsCase, subjects...)
}

func (r rival) subject(b *bench, batches, size int) subject {
	path, want := b.file("rival-"+r.name), parts*batches*size
	var queue rivalQueue
	var took usage
	return subject{
		name: r.name,
		open: func() (err error) {
			queue, err = r.open(b.ctx, path)
			return err
		},
		part: func(ctx context.Context) error {
			for range batches {
				if err := took.measure(func() error { return queue.enqueue(ctx) }); err != nil {
					return err
				}
			}
			return nil
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			b.report.addUsage(rivalsCase, r.name, want, took)
			held, err := queue.jobs(ctx)
			if err == nil && held != want {
				err = fmt.Errorf("the file holds %d jobs, not %d", held, want)
			}
			if closeErr := queue.close(); err == nil {
				err = closeErr
			}
			return err
		},
	}
}

type rotaRival struct {
	batchQueue
	path string
}

func (r *rotaRival) jobs(context.Context) (int, error) {
	c, err := count(r.path)
	return c.queued, err
}

// sqlRival is the common part of rivals on database/sql.
type sqlRival struct {
	db    *sql.DB
	count string
	batch func(context.Context) error
}

func (r *sqlRival) enqueue(ctx context.Context) error { return r.batch(ctx) }

func (r *sqlRival) jobs(ctx context.Context) (n int, err error) {
	return n, r.db.QueryRowContext(ctx, r.count).Scan(&n)
}

func (r *sqlRival) close() error { return r.db.Close() }

// openSynced opens a database and checks that it syncs every commit.
func openSynced(ctx context.Context, driver, source string) (*sql.DB, error) {
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // a second connection would only wait for the first
	var mode string
	var synced int
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return nil, err
	}
	if err := db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synced); err != nil {
		return nil, err
	}
	const full = 2
	if mode != "wal" || synced != full {
		return nil, fmt.Errorf("%s: journal_mode is %s and synchronous is %d", source, mode, synced)
	}
	return db, nil
}
