package main

import (
	"context"
	"errors"
)

func rawContender() contender {
	return contender{
		name: "raw",
		note: "claims one job per worker, then finishes them, two commits; no rules, no handlers",
		open: func(_ context.Context, path string, workers int) (workerPool, error) {
			if err := create(path); err != nil {
				return nil, err
			}
			r, err := openRaw(path)
			return &rawPool{path: path, size: workers, raw: r}, err
		},
	}
}

// rawPool claims and finishes jobs with the raw engine.
type rawPool struct {
	path string
	size int // jobs in a batch
	raw  *raw
}

func (c *rawPool) fill(_ context.Context, n int) error { return c.raw.enqueue(repeatParams(n)) }

func (c *rawPool) work(_ context.Context, n int) error {
	for n > 0 {
		jobs, err := c.raw.claim(min(n, c.size))
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			return errors.New("the queue is empty")
		}
		if err := c.raw.finish(jobs); err != nil {
			return err
		}
		n -= len(jobs)
	}
	return nil
}

func (c *rawPool) stopWorkers(context.Context) error { return nil }

func (c *rawPool) close(ctx context.Context, n int) error {
	if err := c.raw.close(); err != nil {
		return err
	}
	return audit(ctx, c.path, counts{completed: n})
}
