package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// The values of River's own benchmark. River's defaults wait longer between fetches.
const (
	riverCooldown = 2 * time.Millisecond
	riverPoll     = 20 * time.Millisecond
)

func riverContender() contender {
	return contender{
		name: "river",
		note: "v0.31.0 with riversqlite v0.31.0 on modernc.org/sqlite v1.37.1, with the cooldown and the poll interval of River's own benchmark",
		open: func(ctx context.Context, path string, workers int) (workerPool, error) {
			c := &riverPool{workers: workers}
			return c, c.open(ctx, path)
		},
	}
}

// riverPool is a database with a client.
type riverPool struct {
	workers  int
	db       *sql.DB
	monitor  *sql.DB // separate connection, so that queries of the benchmark do not wait for the workers
	driver   *riversqlite.Driver
	inserter *river.Client[*sql.Tx]
	client   *river.Client[*sql.Tx] // runs the workers
	ran      counter
	done     int // jobs finished in earlier parts
}

func (c *riverPool) open(ctx context.Context, path string) (err error) {
	if c.db, err = openSynced(ctx, riverDriver, "file:"+path+riverOptions); err != nil {
		return err
	}
	if c.monitor, err = openSynced(ctx, riverDriver, "file:"+path+riverOptions); err != nil {
		return err
	}
	if c.driver, err = migrateRiver(ctx, c.db); err != nil {
		return err
	}
	// A client with queues cannot insert before it is started.
	if c.inserter, err = river.NewClient(c.driver, &river.Config{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return err
	}
	return c.newClient()
}

// newClient creates a client that runs workers.
func (c *riverPool) newClient() (err error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[riverArgs]) error { c.ran.add(1); return nil }))
	c.client, err = river.NewClient(c.driver, &river.Config{
		FetchCooldown: riverCooldown, FetchPollInterval: riverPoll, Workers: workers, Logger: slog.New(slog.DiscardHandler),
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: c.workers}},
	})
	return err
}

// riverBatch is the number of jobs inserted by one call.
const riverBatch = 1000

func (c *riverPool) fill(ctx context.Context, n int) error {
	for n > 0 {
		batch := make([]river.InsertManyParams, min(n, riverBatch))
		for i := range batch {
			batch[i] = river.InsertManyParams{Args: riverArgs{Text: innerText()}}
		}
		if _, err := c.inserter.InsertManyFast(ctx, batch); err != nil {
			return err
		}
		n -= len(batch)
	}
	return nil
}

func (c *riverPool) work(ctx context.Context, n int) error {
	ran := c.ran.await(n)
	if err := c.client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	c.done += n
	return awaitFinished(ctx, ran, c.done, c.finished)
}

func (c *riverPool) finished(ctx context.Context) (n int, err error) {
	return n, c.monitor.QueryRowContext(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&n)
}

func (c *riverPool) stopWorkers(ctx context.Context) error {
	if err := c.client.Stop(ctx); err != nil {
		return err
	}
	return c.newClient()
}

func (c *riverPool) close(ctx context.Context, n int) error {
	done, err := c.finished(ctx)
	all := 0
	if err == nil {
		err = c.db.QueryRowContext(ctx, "SELECT count(*) FROM river_job").Scan(&all)
	}
	if err == nil && (done != n || all != n) {
		err = fmt.Errorf("%d of %d are finished, of %d in the file", done, n, all)
	}
	return errors.Join(err, c.monitor.Close(), c.db.Close())
}
