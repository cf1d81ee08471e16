package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
)

// pgSide is one of two compared databases, with the cost of the operations on it.
type pgSide struct {
	name  string
	db    *database
	loop  batchQueue
	walls []float64 // µs, one per batch
	took  cost
}

// compareSides claims and finishes batches on each side in turns, after one as a warm-up. It reports the median,
// because a batch takes longer while the server writes a checkpoint.
func compareSides(b *bench, caseName string, rounds, size int, sides ...*pgSide) error {
	order := slices.Clone(sides)
	for i := range rounds + 1 {
		for _, s := range order {
			if err := s.measure(b.ctx, caseName, size); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if i == 0 {
				s.walls, s.took = nil, cost{}
			}
		}
		slices.Reverse(order)
	}
	for _, s := range sides {
		each := float64(rounds)
		b.report.add(caseName, s.name, "median claim and finish of 1,000", median(s.walls), "µs")
		b.report.add(caseName+processorTail, s.name, "processor time of the client per batch", s.took.processor.Seconds()*1e6/each, "µs")
		b.report.add(caseName+serverTail, s.name, "processor time of the server per batch", s.took.server.Seconds()*1e6/each, "µs")
		b.report.add(caseName+logTail, s.name, "write-ahead log per batch", float64(s.took.logged)/each, "bytes")
	}
	return nil
}

// measure fills the queue, then claims and finishes the jobs.
func (s *pgSide) measure(ctx context.Context, caseName string, size int) (err error) {
	if err := s.loop.enqueue(ctx); err != nil {
		return err
	}
	runtime.GC()
	var took cost
	pprof.Do(ctx, pprof.Labels("case", caseName, "subject", s.name), func(ctx context.Context) {
		err = took.measure(ctx, s.db.server, nil, func() error {
			_, _, err := s.loop.claimAndFinish(ctx, size)
			return err
		})
	})
	s.walls = append(s.walls, took.wall.Seconds()*1e6)
	s.took.add(took.usage)
	s.took.server += took.server
	s.took.logged += took.logged
	return err
}
