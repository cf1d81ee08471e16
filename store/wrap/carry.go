package wrap

import (
	"slices"

	"github.com/rotajobs/rota"
)

// Passenger looks at commands that are about to be applied, and may have one of
// its own applied behind them in the same transaction: what it would do next
// anyway then costs no sync of its own. It is called by who applies, and must
// not wait. The answer is called once, with the result or with an error of the
// whole batch, after which nobody knows whether the command was applied.
type Passenger = func(commands []rota.Command) (mine rota.Command, answer func(rota.Result, error))

// Carry takes a passenger along until it is let off.
func (c *coalesced) Carry(p Passenger) (off func()) {
	seat := &p
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passengers = append(slices.Clip(c.passengers), seat)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.passengers = slices.DeleteFunc(slices.Clone(c.passengers), func(other *Passenger) bool { return other == seat })
	}
}

// fare is what a passenger has applied, as a call among the others.
type fare struct {
	call
	answer func(rota.Result, error)
}

// board asks the passengers for what they want to have applied.
func (c *coalesced) board(commands []rota.Command) (fares []*fare) {
	c.mu.Lock()
	passengers := c.passengers
	c.mu.Unlock()
	for _, p := range passengers {
		if mine, answer := (*p)(commands); mine != nil {
			fares = append(fares, &fare{call: call{commands: []rota.Command{mine}}, answer: answer})
		}
	}
	return fares
}

func (f *fare) arrive() {
	if f.err != nil {
		f.answer(rota.Result{}, f.err)
		return
	}
	f.answer(f.results[0], nil)
}
