package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
)

// A caller commits a row of its own and a job together.
const (
	pgTxCase      = "postgres/tx/"
	pgTxEach      = 400 // transactions of a part
	pgTxRiver     = 0.9 // of River's InsertTx
	pgTxAfterward = 1.3 // of a row that is committed first and a job that is enqueued afterwards
	pgTxAfterName = "row, then enqueue"
)

func pgTxBenchmarks() (all []benchmark) {
	for _, callers := range []int{1, 16} {
		name := fmt.Sprint(pgTxCase, callers)
		all = append(all, benchmark{
			cases: []string{name},
			bars: []bar{
				{caseName: name, subject: "rota", against: "river", least: pgTxRiver},
				{caseName: name, subject: "rota", against: pgTxAfterName, least: pgTxAfterward},
				{caseName: name, subject: "rota", against: "row alone"},
			},
			run: func(b *bench) error { return runPgTx(b, name, callers) },
		})
	}
	return all
}

func runPgTx(b *bench, name string, callers int) error {
	b.report.explain(name+": what each subject does",
		"Each of the callers begins a transaction, inserts a row of its own, and commits; the pool has as many connections.\n"+
			"rota: Client.EnqueueTx in the transaction, params checked against their schema. river: "+pgRiverVersion+", Client.InsertTx in the transaction.\n"+
			pgTxAfterName+": Client.Enqueue after the commit, as without EnqueueTx. row alone: no job.")
	return b.compare(name,
		pgTxSubject(b, name, callers, "rota", openPgTxRota(true)),
		pgTxSubject(b, name, callers, "river", openPgTxRiver),
		pgTxSubject(b, name, callers, pgTxAfterName, openPgTxRota(false)),
		pgTxSubject(b, name, callers, "row alone", openPgTxRow))
}

// pgTxQueue enqueues jobs for the transactions of callers.
type pgTxQueue struct {
	inside func(context.Context, pgx.Tx) error // in the transaction; nil: nothing
	after  func(context.Context) error         // after its commit; nil: nothing
	jobs   func(context.Context) (int, error)
	close  func() error
}

func pgTxSubject(b *bench, caseName string, callers int, name string, open func(context.Context, *database, *pgxpool.Pool) (*pgTxQueue, error)) subject {
	each := b.sized(pgTxEach, 3)
	want := parts * each * callers
	var db *database
	var pool *pgxpool.Pool
	var queue *pgTxQueue
	var took cost
	return subject{
		name: name,
		open: func() (err error) {
			if db, err = b.database(caseName + "_" + name); err != nil {
				return err
			}
			config, err := pgxpool.ParseConfig(db.url)
			if err != nil {
				return err
			}
			config.MaxConns = int32(callers)
			if pool, err = pgxpool.NewWithConfig(b.ctx, config); err != nil {
				return err
			}
			if _, err = pool.Exec(b.ctx, "CREATE TABLE orders (id bigserial PRIMARY KEY, note text NOT NULL)"); err == nil {
				queue, err = open(b.ctx, db, pool)
			}
			return err
		},
		part: func(ctx context.Context) error {
			return took.measure(ctx, db.server, nil, func() error { return pgTxCallers(ctx, pool, queue, callers, each) })
		},
		close: func(ctx context.Context) error {
			defer db.drop()
			defer pool.Close()
			b.report.addCost(caseName, name, want, took)
			var rows int
			err := pool.QueryRow(ctx, "SELECT count(*) FROM orders").Scan(&rows)
			jobs := rows
			if err == nil && queue.jobs != nil {
				jobs, err = queue.jobs(ctx)
			}
			if err == nil && (rows != want || jobs != want) {
				err = fmt.Errorf("the database holds %d rows and %d jobs, not %d", rows, jobs, want)
			}
			if closeErr := queue.close(); err == nil {
				err = closeErr
			}
			return err
		},
	}
}

// pgTxCallers runs concurrent callers.
func pgTxCallers(ctx context.Context, pool *pgxpool.Pool, queue *pgTxQueue, callers, each int) error {
	errs := make(chan error, callers)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range each {
				if err := pgTxOnce(ctx, pool, queue); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}

func pgTxOnce(ctx context.Context, pool *pgxpool.Pool, queue *pgTxQueue) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // does nothing after a commit
	if _, err = tx.Exec(ctx, "INSERT INTO orders (note) VALUES ($1)", "paid"); err != nil {
		return err
	}
	if queue.inside != nil {
		if err = queue.inside(ctx, tx); err != nil {
			return err
		}
	}
	if err = tx.Commit(ctx); err == nil && queue.after != nil {
		err = queue.after(ctx)
	}
	return err
}

func openPgTxRow(context.Context, *database, *pgxpool.Pool) (*pgTxQueue, error) {
	return &pgTxQueue{close: func() error { return nil }}, nil
}

func openPgTxRota(inside bool) func(context.Context, *database, *pgxpool.Pool) (*pgTxQueue, error) {
	return func(_ context.Context, db *database, _ *pgxpool.Pool) (*pgTxQueue, error) {
		store, err := postgres.OpenWith(db.url, db.config())
		if err != nil {
			return nil, err
		}
		client := rota.New(store)
		q := &pgTxQueue{close: store.Close, jobs: func(ctx context.Context) (int, error) {
			got, err := db.count(ctx)
			if err == nil {
				err = db.audit(ctx, counts{queued: got.queued})
			}
			return got.queued, err
		}}
		if inside {
			q.inside = func(ctx context.Context, tx pgx.Tx) error {
				_, err := client.EnqueueTx(ctx, tx, benchJob{innerText()})
				return err
			}
		} else {
			q.after = func(ctx context.Context) error {
				_, err := client.Enqueue(ctx, benchJob{innerText()})
				return err
			}
		}
		return q, nil
	}
}

func openPgTxRiver(ctx context.Context, db *database, pool *pgxpool.Pool) (*pgTxQueue, error) {
	migrated, err := openPgRiver(ctx, db)
	if err != nil {
		return nil, err
	}
	migrated.Close()
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	return &pgTxQueue{
		inside: func(ctx context.Context, tx pgx.Tx) error {
			_, err := client.InsertTx(ctx, tx, riverArgs{Text: innerText()}, nil)
			return err
		},
		jobs: func(ctx context.Context) (n int, err error) {
			return n, pool.QueryRow(ctx, "SELECT count(*) FROM river_job").Scan(&n)
		},
		close: func() error { return nil },
	}, err
}

// pgTxProbe is an idle engine whose jobs are enqueued in transactions of a caller.
type pgTxProbe struct {
	*pgRotaProbe
	pool   *pgxpool.Pool
	client *rota.Client
}

func openPgTxProbe(ctx context.Context, db *database) (probe, error) {
	opened, err := openPgRotaProbe(ctx, db)
	if err != nil {
		return nil, err
	}
	p := &pgTxProbe{pgRotaProbe: opened.(*pgRotaProbe)}
	p.client = rota.New(p.from)
	p.pool, err = pgxpool.New(ctx, db.url)
	return p, err
}

// measure times the way from the call of Commit to the handler.
func (p *pgTxProbe) measure(ctx context.Context) (time.Duration, error) {
	ended := p.ended.await(1)
	tx, err := p.pool.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // does nothing after a commit
	if _, err = p.client.EnqueueTx(ctx, tx, benchJob{innerText()}); err != nil {
		return 0, err
	}
	begun := time.Now()
	if err = tx.Commit(ctx); err != nil {
		return 0, err
	}
	select {
	case started := <-p.started:
		return started.Sub(begun), wait(ctx, ended)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *pgTxProbe) close(ctx context.Context, n int) error {
	p.pool.Close()
	return p.pgRotaProbe.close(ctx, n)
}
