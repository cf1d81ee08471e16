package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

func rotaApplicant() applicant {
	return applicant{
		name: "rota",
		note: "an engine with a typed handler, its params checked against their schema, on a store that shares commits and has a feed, as the server's has",
		open: func(_ context.Context, path string, workers int) (crew, error) {
			c := &rotaCrew{path: path, workers: workers}
			return c, c.open()
		},
	}
}

// benchJob is the payload of jobs as newJobs makes them.
type benchJob struct {
	Text string `json:"text"`
}

// JobType names the type.
func (benchJob) JobType() string { return jobType }

// rotaCrew is a store with an engine, as a server has them.
type rotaCrew struct {
	path    string
	workers int
	handler func(context.Context, benchJob) error // nil: one that does nothing
	adjust  func(*engine.Config)                  // nil: it is as it is
	inner   rota.Store
	store   rota.Store
	feed    *eventring.Ring
	ended   tally // jobs whose end is recorded

	stop func()
	ran  chan error
}

func (c *rotaCrew) open() error {
	inner, err := sqlite.Open(c.path)
	if err != nil {
		return err
	}
	c.hold(inner)
	return nil
}

// hold takes a store as the crew's own.
func (c *rotaCrew) hold(inner rota.Store) {
	c.inner = inner
	c.store = wrap.Coalesce(inner)
	c.feed = eventring.New(c.store, 0)
	c.feed.Subscribe(func(events []rota.Event) { c.ended.add(completed(events)) })
}

// completed is how many jobs have ended well.
func completed(events []rota.Event) (n int) {
	for i := range events {
		if events[i].Kind == rota.EventJobCompleted {
			n++
		}
	}
	return n
}

func (c *rotaCrew) fill(ctx context.Context, n int) error { return enqueueAll(ctx, c.store, n) }

func (c *rotaCrew) work(ctx context.Context, n int) error {
	ended := c.ended.await(n)
	c.start(ctx)
	return c.await(ctx, ended)
}

// await waits until something has ended, while the engine works.
func (c *rotaCrew) await(ctx context.Context, ended <-chan struct{}) error {
	select {
	case <-ended:
		return nil
	case err := <-c.ran:
		c.stop = nil
		return errors.Join(errors.New("the engine ended"), err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start starts an engine, which goes on until rest.
func (c *rotaCrew) start(ctx context.Context) *engine.Engine {
	reg := engine.NewRegistry()
	handler := c.handler
	if handler == nil {
		handler = func(context.Context, benchJob) error { return nil }
	}
	engine.Handle(reg, handler)
	config := engine.Config{Workers: c.workers, Events: c.feed, Logger: warnings()}
	config.Membership, _ = c.inner.(rota.Membership) // where others may share it
	if c.adjust != nil {
		c.adjust(&config)
	}
	e := engine.New(rota.New(c.store), reg, config)
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.ran = make(chan error, 1)
	go func() { c.ran <- e.Run(ctx) }()
	return e
}

// warnings shows what goes wrong, and nothing else.
func warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func (c *rotaCrew) rest(context.Context) error {
	if c.stop == nil {
		return nil
	}
	c.stop()
	c.stop = nil
	return <-c.ran
}

func (c *rotaCrew) close(ctx context.Context, n int) error {
	if err := c.letGo(); err != nil {
		return err
	}
	return audit(ctx, c.path, counts{completed: n})
}

func (c *rotaCrew) letGo() error {
	c.feed.Close()
	return c.inner.Close()
}
