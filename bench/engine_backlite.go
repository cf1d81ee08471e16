package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mikestefanello/backlite"
)

func backliteContender() contender {
	return contender{
		name: "backlite",
		note: "v0.6.0 on " + backliteDriverName + ", which keeps completed tasks without their params",
		open: func(ctx context.Context, path string, workers int) (workerPool, error) {
			c := &backlitePool{workers: workers}
			return c, c.open(ctx, path)
		},
	}
}

// backlitePool is a database with a dispatcher. It uses one connection, which is fastest: several would wait for each
// other in SQLite and sometimes time out.
type backlitePool struct {
	workers int
	handler func(context.Context, backliteTask) error // nil for an empty handler
	db      *sql.DB
	monitor *sql.DB // separate connection, so that queries of the benchmark do not wait for the workers
	client  *backlite.Client
	ran     counter
	done    int // jobs finished in earlier parts
}

func (c *backlitePool) open(ctx context.Context, path string) (err error) {
	if c.db, err = openSynced(ctx, backliteDriver, path+backliteOptions); err != nil {
		return err
	}
	if c.monitor, err = openSynced(ctx, backliteDriver, path+backliteOptions); err != nil {
		return err
	}
	if err := c.newClient(); err != nil {
		return err
	}
	return c.client.Install()
}

// newClient creates a client, because a stopped client cannot start again.
func (c *backlitePool) newClient() (err error) {
	c.client, err = backlite.NewClient(backlite.ClientConfig{DB: c.db, NumWorkers: c.workers, ReleaseAfter: backliteRelease})
	if err != nil {
		return err
	}
	handler := c.handler
	if handler == nil {
		handler = func(context.Context, backliteTask) error { c.ran.add(1); return nil }
	}
	c.client.Register(backlite.NewQueue(handler))
	return nil
}

func (c *backlitePool) fill(ctx context.Context, n int) error {
	tasks := make([]backlite.Task, n)
	for i := range tasks {
		tasks[i] = backliteTask{Text: innerText()}
	}
	_, err := c.client.Add(tasks...).Ctx(ctx).Save()
	return err
}

func (c *backlitePool) work(ctx context.Context, n int) error {
	ran := c.ran.await(n)
	c.client.Start(context.WithoutCancel(ctx))
	c.done += n
	return awaitFinished(ctx, ran, c.done, c.finished)
}

func (c *backlitePool) finished(ctx context.Context) (n int, err error) {
	return n, c.monitor.QueryRowContext(ctx, "SELECT count(*) FROM backlite_tasks_completed WHERE succeeded").Scan(&n)
}

func (c *backlitePool) stopWorkers(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	if !c.client.Stop(ctx) {
		return errors.New("the workers did not stop")
	}
	return c.newClient()
}

func (c *backlitePool) close(ctx context.Context, n int) error {
	done, err := c.finished(ctx)
	left := 0
	if err == nil {
		err = c.db.QueryRowContext(ctx, "SELECT count(*) FROM backlite_tasks").Scan(&left)
	}
	if err == nil && (done != n || left != 0) {
		err = fmt.Errorf("%d of %d are finished, %d are left", done, n, left)
	}
	return errors.Join(err, c.monitor.Close(), c.db.Close())
}
