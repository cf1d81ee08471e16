package main

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// batchQueue is what Rota and the raw engine have in common.
type batchQueue interface {
	// enqueue adds a batch of jobs to the queue.
	enqueue(context.Context) error
	// claimAndFinish claims n jobs, then completes them.
	claimAndFinish(ctx context.Context, n int) (claim, finish usage, err error)
	close() error
}

// opener opens a batchQueue on a file that a store created, for batches of n jobs.
type opener func(path string, n int) (batchQueue, error)

func openRotaBatchQueue(path string, n int) (batchQueue, error) {
	store, err := sqlite.Open(path)
	return &rotaBatchQueue{store: store, batch: newJobs(n)}, err
}

type rotaBatchQueue struct {
	store rota.Store
	batch []rota.NewJob
}

func (e *rotaBatchQueue) enqueue(ctx context.Context) error { return enqueue(ctx, e.store, e.batch) }

func (e *rotaBatchQueue) claimAndFinish(ctx context.Context, n int) (first, last usage, err error) {
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

func (e *rotaBatchQueue) close() error { return e.store.Close() }

func openRawBatchQueue(path string, n int) (batchQueue, error) {
	r, err := openRaw(path)
	return &rawBatchQueue{raw: r, batch: repeatParams(n)}, err
}

type rawBatchQueue struct {
	raw   *raw
	batch []string
}

func (e *rawBatchQueue) enqueue(context.Context) error { return e.raw.enqueue(e.batch) }

func (e *rawBatchQueue) claimAndFinish(_ context.Context, n int) (first, last usage, err error) {
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

func (e *rawBatchQueue) close() error { return e.raw.close() }
