package main

import (
	"context"
	"errors"
)

func rawApplicant() applicant {
	return applicant{
		name: "raw",
		note: "claims as many as there are workers, then finishes them, two commits; decides nothing, runs nothing",
		open: func(_ context.Context, path string, workers int) (crew, error) {
			if err := create(path); err != nil {
				return nil, err
			}
			r, err := openRaw(path)
			return &rawCrew{path: path, size: workers, raw: r}, err
		},
	}
}

// rawCrew is the raw engine in a loop.
type rawCrew struct {
	path string
	size int // jobs in a batch
	raw  *raw
}

func (c *rawCrew) fill(_ context.Context, n int) error { return c.raw.enqueue(repeatParams(n)) }

func (c *rawCrew) work(_ context.Context, n int) error {
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

func (c *rawCrew) rest(context.Context) error { return nil }

func (c *rawCrew) close(ctx context.Context, n int) error {
	if err := c.raw.close(); err != nil {
		return err
	}
	return audit(ctx, c.path, counts{completed: n})
}
