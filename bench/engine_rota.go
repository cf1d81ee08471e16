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

func rotaContender() contender {
	return contender{
		name: "rota",
		note: "an engine with a typed handler and params checked against their schema, on a store with shared commits and an event ring, as in the server",
		open: func(_ context.Context, path string, workers int) (workerPool, error) {
			c := &rotaPool{path: path, workers: workers}
			return c, c.open()
		},
	}
}

// benchJob is the payload of the jobs that newJobs creates.
type benchJob struct {
	Text string `json:"text"`
}

// JobType names the type.
func (benchJob) JobType() string { return jobType }

// rotaPool is a store with an engine, configured as in a server.
type rotaPool struct {
	path      string
	workers   int
	handler   func(context.Context, benchJob) error // nil for an empty handler
	configure func(*engine.Config)                  // changes the configuration of the engine; may be nil
	inner     rota.Store
	store     rota.Store
	events    *eventring.Ring
	ended     counter // jobs whose end is recorded in the store

	stop func()
	ran  chan error
}

func (c *rotaPool) open() error {
	inner, err := sqlite.Open(c.path)
	if err != nil {
		return err
	}
	c.setStore(inner)
	return nil
}

// setStore sets the store of the pool, and subscribes to its events.
func (c *rotaPool) setStore(inner rota.Store) {
	c.inner = inner
	c.store = wrap.Coalesce(inner)
	c.events = eventring.New(c.store, 0)
	c.events.Subscribe(func(events []rota.Event) { c.ended.add(completed(events)) })
}

// completed returns how many of the events are completed jobs.
func completed(events []rota.Event) (n int) {
	for i := range events {
		if events[i].Kind == rota.EventJobCompleted {
			n++
		}
	}
	return n
}

func (c *rotaPool) fill(ctx context.Context, n int) error { return enqueueAll(ctx, c.store, n) }

func (c *rotaPool) work(ctx context.Context, n int) error {
	ended := c.ended.await(n)
	c.start(ctx)
	return c.await(ctx, ended)
}

// await waits until the channel is closed, and fails if the engine ends before.
func (c *rotaPool) await(ctx context.Context, ended <-chan struct{}) error {
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

// start starts an engine, which runs until stopWorkers.
func (c *rotaPool) start(ctx context.Context) *engine.Engine {
	reg := engine.NewRegistry()
	handler := c.handler
	if handler == nil {
		handler = func(context.Context, benchJob) error { return nil }
	}
	engine.Handle(reg, handler)
	config := engine.Config{Workers: c.workers, Events: c.events, Logger: warnings()}
	config.Membership, _ = c.inner.(rota.Membership) // PostgreSQL stores can be shared
	if c.configure != nil {
		c.configure(&config)
	}
	e := engine.New(rota.New(c.store), reg, config)
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.ran = make(chan error, 1)
	go func() { c.ran <- e.Run(ctx) }()
	return e
}

// warnings returns a logger that prints only warnings and errors.
func warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func (c *rotaPool) stopWorkers(context.Context) error {
	if c.stop == nil {
		return nil
	}
	c.stop()
	c.stop = nil
	return <-c.ran
}

func (c *rotaPool) close(ctx context.Context, n int) error {
	if err := c.closeStore(); err != nil {
		return err
	}
	return audit(ctx, c.path, counts{completed: n})
}

func (c *rotaPool) closeStore() error {
	c.events.Close()
	return c.inner.Close()
}
