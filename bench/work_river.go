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

// What River's own benchmark sets: its defaults wait longer between fetches.
const (
	riverCooldown = 2 * time.Millisecond
	riverPoll     = 20 * time.Millisecond
)

func riverApplicant() applicant {
	return applicant{
		name: "river",
		note: "v0.31.0 with riversqlite v0.31.0 on modernc.org/sqlite v1.37.1, with the cooldown and the poll interval of River's own benchmark",
		open: func(ctx context.Context, path string, workers int) (crew, error) {
			c := &riverCrew{workers: workers}
			return c, c.open(ctx, path)
		},
	}
}

// riverCrew is a database with a client.
type riverCrew struct {
	workers int
	db      *sql.DB
	looks   *sql.DB // another connection, so that looking does not wait in its queue
	driver  *riversqlite.Driver
	inserts *river.Client[*sql.Tx]
	client  *river.Client[*sql.Tx] // works
	ran     tally
	done    int // in the parts before
}

func (c *riverCrew) open(ctx context.Context, path string) (err error) {
	if c.db, err = openSynced(ctx, riverDriver, "file:"+path+riverOptions); err != nil {
		return err
	}
	if c.looks, err = openSynced(ctx, riverDriver, "file:"+path+riverOptions); err != nil {
		return err
	}
	if c.driver, err = migrateRiver(ctx, c.db); err != nil {
		return err
	}
	// One with queues that has not been started cannot insert.
	if c.inserts, err = river.NewClient(c.driver, &river.Config{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return err
	}
	return c.engage()
}

// engage makes a client that works.
func (c *riverCrew) engage() (err error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[riverArgs]) error { c.ran.add(1); return nil }))
	c.client, err = river.NewClient(c.driver, &river.Config{
		FetchCooldown: riverCooldown, FetchPollInterval: riverPoll, Workers: workers, Logger: slog.New(slog.DiscardHandler),
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: c.workers}},
	})
	return err
}

// riverBatch is how many jobs are inserted at once.
const riverBatch = 1000

func (c *riverCrew) fill(ctx context.Context, n int) error {
	for n > 0 {
		batch := make([]river.InsertManyParams, min(n, riverBatch))
		for i := range batch {
			batch[i] = river.InsertManyParams{Args: riverArgs{Text: innerText()}}
		}
		if _, err := c.inserts.InsertManyFast(ctx, batch); err != nil {
			return err
		}
		n -= len(batch)
	}
	return nil
}

func (c *riverCrew) work(ctx context.Context, n int) error {
	ran := c.ran.await(n)
	if err := c.client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	c.done += n
	return settled(ctx, ran, c.done, c.finished)
}

func (c *riverCrew) finished(ctx context.Context) (n int, err error) {
	return n, c.looks.QueryRowContext(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&n)
}

func (c *riverCrew) rest(ctx context.Context) error {
	if err := c.client.Stop(ctx); err != nil {
		return err
	}
	return c.engage()
}

func (c *riverCrew) close(ctx context.Context, n int) error {
	done, err := c.finished(ctx)
	all := 0
	if err == nil {
		err = c.db.QueryRowContext(ctx, "SELECT count(*) FROM river_job").Scan(&all)
	}
	if err == nil && (done != n || all != n) {
		err = fmt.Errorf("%d of %d are finished, of %d in the file", done, n, all)
	}
	return errors.Join(err, c.looks.Close(), c.db.Close())
}
