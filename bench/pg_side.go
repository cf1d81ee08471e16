package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
)

// pgSide is one of two databases that are compared, and what acts on it took.
type pgSide struct {
	name  string
	db    *database
	loop  loop
	walls []float64 // µs, one an act
	took  cost
}

// actInTurns claims and completes batches on each side in turns, after one that
// warms it up. The median act is what counts, since one during which the server
// writes its pages back is another thing.
func actInTurns(b *bench, caseName string, acts, size int, sides ...*pgSide) error {
	order := slices.Clone(sides)
	for i := range acts + 1 {
		for _, s := range order {
			if err := s.act(b.ctx, caseName, size); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if i == 0 {
				s.walls, s.took = nil, cost{}
			}
		}
		slices.Reverse(order)
	}
	for _, s := range sides {
		each := float64(acts)
		b.report.add(caseName, s.name, "median claim and finish of 1,000", median(s.walls), "µs")
		b.report.add(caseName+processorTail, s.name, "processor time of the client for it", s.took.processor.Seconds()*1e6/each, "µs")
		b.report.add(caseName+serverTail, s.name, "processor time of the server for it", s.took.server.Seconds()*1e6/each, "µs")
		b.report.add(caseName+logTail, s.name, "write-ahead log of it", float64(s.took.logged)/each, "bytes")
	}
	return nil
}

// act fills the queue, and claims and completes what is in it.
func (s *pgSide) act(ctx context.Context, caseName string, size int) (err error) {
	if err := s.loop.enqueue(ctx); err != nil {
		return err
	}
	runtime.GC()
	var took cost
	pprof.Do(ctx, pprof.Labels("case", caseName, "subject", s.name), func(ctx context.Context) {
		err = took.measure(ctx, s.db.server, nil, func() error {
			_, _, err := s.loop.turn(ctx, size)
			return err
		})
	})
	s.walls = append(s.walls, took.wall.Seconds()*1e6)
	s.took.add(took.spent)
	s.took.server += took.server
	s.took.logged += took.logged
	return err
}
