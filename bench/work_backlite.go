package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mikestefanello/backlite"
)

func backliteApplicant() applicant {
	return applicant{
		name: "backlite",
		note: "v0.6.0 on " + backliteDriverName + ", with a record kept of what was done, but not of its params",
		open: func(ctx context.Context, path string, workers int) (crew, error) {
			c := &backliteCrew{workers: workers}
			return c, c.open(ctx, path)
		},
	}
}

// backliteCrew is a database with a dispatcher. Its one connection is the best
// for it: several would wait for each other in SQLite, and give up at times.
type backliteCrew struct {
	workers int
	handler func(context.Context, backliteTask) error // nil: one that does nothing
	db      *sql.DB
	looks   *sql.DB // another connection, so that looking does not wait in its queue
	client  *backlite.Client
	ran     tally
	done    int // in the parts before
}

func (c *backliteCrew) open(ctx context.Context, path string) (err error) {
	if c.db, err = openSynced(ctx, backliteDriver, path+backliteOptions); err != nil {
		return err
	}
	if c.looks, err = openSynced(ctx, backliteDriver, path+backliteOptions); err != nil {
		return err
	}
	if err := c.engage(); err != nil {
		return err
	}
	return c.client.Install()
}

// engage makes a client; one that was stopped does not start again.
func (c *backliteCrew) engage() (err error) {
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

func (c *backliteCrew) fill(ctx context.Context, n int) error {
	tasks := make([]backlite.Task, n)
	for i := range tasks {
		tasks[i] = backliteTask{Text: innerText()}
	}
	_, err := c.client.Add(tasks...).Ctx(ctx).Save()
	return err
}

func (c *backliteCrew) work(ctx context.Context, n int) error {
	ran := c.ran.await(n)
	c.client.Start(context.WithoutCancel(ctx))
	c.done += n
	return settled(ctx, ran, c.done, c.finished)
}

func (c *backliteCrew) finished(ctx context.Context) (n int, err error) {
	return n, c.looks.QueryRowContext(ctx, "SELECT count(*) FROM backlite_tasks_completed WHERE succeeded").Scan(&n)
}

func (c *backliteCrew) rest(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	if !c.client.Stop(ctx) {
		return errors.New("the workers did not stop")
	}
	return c.engage()
}

func (c *backliteCrew) close(ctx context.Context, n int) error {
	done, err := c.finished(ctx)
	left := 0
	if err == nil {
		err = c.db.QueryRowContext(ctx, "SELECT count(*) FROM backlite_tasks").Scan(&left)
	}
	if err == nil && (done != n || left != 0) {
		err = fmt.Errorf("%d of %d are finished, %d are left", done, n, left)
	}
	return errors.Join(err, c.looks.Close(), c.db.Close())
}
