package main

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// engine is what both sides of the comparison with the raw engine can do.
type engine interface {
	// enqueue puts a batch of jobs into the queue.
	enqueue(context.Context) error
	// turn claims n jobs, then completes them.
	turn(ctx context.Context, n int) (claim, finish spent, err error)
	close() error
}

// opener opens an engine on a file that a store has made, for batches of n.
type opener func(path string, n int) (engine, error)

func openRotaEngine(path string, n int) (engine, error) {
	store, err := sqlite.Open(path)
	return &rotaEngine{store: store, batch: newJobs(n)}, err
}

type rotaEngine struct {
	store *sqlite.Store
	batch []rota.NewJob
}

func (e *rotaEngine) enqueue(ctx context.Context) error { return enqueue(ctx, e.store, e.batch) }

func (e *rotaEngine) turn(ctx context.Context, n int) (first, last spent, err error) {
	var jobs []*rota.Job
	err = first.measure(func() (err error) {
		jobs, err = claim(ctx, e.store, n)
		return err
	})
	if err == nil {
		err = last.measure(func() error { return finish(ctx, e.store, jobs) })
	}
	return first, last, err
}

func (e *rotaEngine) close() error { return e.store.Close() }

func openRawEngine(path string, n int) (engine, error) {
	r, err := openRaw(path)
	return &rawEngine{raw: r, batch: repeatParams(n)}, err
}

type rawEngine struct {
	raw   *raw
	batch []string
}

func (e *rawEngine) enqueue(context.Context) error { return e.raw.enqueue(e.batch) }

func (e *rawEngine) turn(_ context.Context, n int) (first, last spent, err error) {
	var jobs []rawJob
	err = first.measure(func() (err error) {
		jobs, err = e.raw.claim(n)
		return err
	})
	if err == nil {
		err = last.measure(func() error { return e.raw.finish(jobs) })
	}
	return first, last, err
}

func (e *rawEngine) close() error { return e.raw.close() }
