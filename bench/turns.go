package main

import (
	"context"
	"fmt"
	"slices"
)

// turns is the number of turns of each subject in one run, after one as a warm-up. Turns are short, and the figure of a
// run is their lower quartile, since other work on the machine only adds to the cost: so a difference of a few percent is found on a
// machine that others use too.
const turns = 15

// turnSubject is a subject that works in turns.
type turnSubject struct {
	name string
	turn func(context.Context) (float64, error) // does the work of one turn, and returns its cost for each operation
}

// takeTurns lets the subjects work in turns, in an order that reverses with each turn, and reports
// the lower quartile of their costs.
func (b *bench) takeTurns(caseName, metric string, subjects ...turnSubject) error {
	costs := map[string][]float64{}
	order := slices.Clone(subjects)
	for i := range b.sized(turns, 2) + 1 {
		for _, s := range order {
			cost, err := s.turn(b.ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if i > 0 {
				costs[s.name] = append(costs[s.name], cost)
			}
		}
		slices.Reverse(order)
	}
	for _, s := range subjects {
		b.report.add(caseName, s.name, metric, lowerQuartile(costs[s.name]), "µs")
	}
	return nil
}

func lowerQuartile(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)/4]
}
