package main

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// loop is what both sides of the comparison with the raw engine can do.
type loop interface {
	// enqueue puts a batch of jobs into the queue.
	enqueue(context.Context) error
	// turn claims n jobs, then completes them.
	turn(ctx context.Context, n int) (claim, finish spent, err error)
	close() error
}

// opener opens a loop on a file that a store has made, for batches of n.
type opener func(path string, n int) (loop, error)

func openRotaLoop(path string, n int) (loop, error) {
	store, err := sqlite.Open(path)
	return &rotaLoop{store: store, batch: newJobs(n)}, err
}

type rotaLoop struct {
	store rota.Store
	batch []rota.NewJob
}

func (e *rotaLoop) enqueue(ctx context.Context) error { return enqueue(ctx, e.store, e.batch) }

func (e *rotaLoop) turn(ctx context.Context, n int) (first, last spent, err error) {
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

func (e *rotaLoop) close() error { return e.store.Close() }

func openRawLoop(path string, n int) (loop, error) {
	r, err := openRaw(path)
	return &rawLoop{raw: r, batch: repeatParams(n)}, err
}

type rawLoop struct {
	raw   *raw
	batch []string
}

func (e *rawLoop) enqueue(context.Context) error { return e.raw.enqueue(e.batch) }

func (e *rawLoop) turn(_ context.Context, n int) (first, last spent, err error) {
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

func (e *rawLoop) close() error { return e.raw.close() }
