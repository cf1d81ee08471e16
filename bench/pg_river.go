package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const pgRiverVersion = "v0.31.0 with riverpgxv5 v0.31.0"

// pgRiverConns is the maximum number of connections of River, the same as the store's.
const pgRiverConns = 8

func pgRiverContender() pgContender {
	return pgContender{
		name: "river",
		note: pgRiverVersion + ", MaxWorkers 1,000, with the cooldown and the poll interval of River's own benchmark; 8 connections at most",
		open: func(ctx context.Context, db *database) (workerPool, error) {
			c := &pgRiverPool{workers: pgWorkers}
			return c, c.open(ctx, db)
		},
	}
}

// pgRiverPool is a database with a client.
type pgRiverPool struct {
	workers  int
	handler  func() // nil for an empty handler
	pool     *pgxpool.Pool
	monitor  *pgx.Conn // separate connection, so that queries of the benchmark do not wait for the workers
	inserter *river.Client[pgx.Tx]
	client   *river.Client[pgx.Tx] // runs the workers
	ran      counter
	done     int // jobs finished in earlier parts
}

func (c *pgRiverPool) open(ctx context.Context, db *database) (err error) {
	if c.pool, err = openPgRiver(ctx, db); err != nil {
		return err
	}
	if c.monitor, err = pgx.Connect(ctx, db.url); err != nil {
		return err
	}
	// A client with queues cannot insert before it is started.
	if c.inserter, err = river.NewClient(riverpgxv5.New(c.pool), &river.Config{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return err
	}
	return c.newClient()
}

// openPgRiver creates River's tables.
func openPgRiver(ctx context.Context, db *database) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(db.url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = pgRiverConns
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		pool.Close()
	}
	return pool, err
}

// newClient creates a client that runs workers.
func (c *pgRiverPool) newClient() (err error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[riverArgs]) error {
		if c.handler != nil {
			c.handler()
		}
		c.ran.add(1)
		return nil
	}))
	c.client, err = river.NewClient(riverpgxv5.New(c.pool), &river.Config{
		FetchCooldown: riverCooldown, FetchPollInterval: riverPoll, Workers: workers, Logger: slog.New(slog.DiscardHandler),
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: c.workers}},
	})
	return err
}

func (c *pgRiverPool) fill(ctx context.Context, n int) error {
	for n > 0 {
		batch := riverJobs(min(n, riverBatch))
		if _, err := c.inserter.InsertManyFast(ctx, batch); err != nil {
			return err
		}
		n -= len(batch)
	}
	return nil
}

func riverJobs(n int) []river.InsertManyParams {
	batch := make([]river.InsertManyParams, n)
	for i := range batch {
		batch[i] = river.InsertManyParams{Args: riverArgs{Text: innerText()}}
	}
	return batch
}

func (c *pgRiverPool) work(ctx context.Context, n int) error {
	ran := c.ran.await(n)
	if err := c.client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	c.done += n
	return awaitFinished(ctx, ran, c.done, c.finished)
}

func (c *pgRiverPool) finished(ctx context.Context) (n int, err error) {
	return n, c.monitor.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&n)
}

func (c *pgRiverPool) stopWorkers(ctx context.Context) error {
	if err := c.client.Stop(ctx); err != nil {
		return err
	}
	return c.newClient()
}

func (c *pgRiverPool) close(ctx context.Context, n int) error {
	done, err := c.finished(ctx)
	all := 0
	if err == nil {
		err = c.monitor.QueryRow(ctx, "SELECT count(*) FROM river_job").Scan(&all)
	}
	if err == nil && (done != n || all != n) {
		err = fmt.Errorf("%d of %d are finished, of %d in the database", done, n, all)
	}
	err = errors.Join(err, c.monitor.Close(ctx))
	c.pool.Close()
	return err
}
