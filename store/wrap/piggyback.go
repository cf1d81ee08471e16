package wrap

import (
	"slices"

	"github.com/rotajobs/rota"
)

// PiggybackFunc looks at commands that are about to be applied, and may have one of
// its own applied behind them in the same transaction: what it would do next
// anyway then costs no sync of its own. It is called by who applies, and must
// not wait. The answer is called once, with the result or with an error of the
// whole batch, after which nobody knows whether the command was applied.
type PiggybackFunc = func(commands []rota.Command) (mine rota.Command, answer func(rota.Result, error))

// Piggyback takes a passenger along until it is let off.
func (c *coalesced) Piggyback(p PiggybackFunc) (off func()) {
	seat := &p
	c.mu.Lock()
	defer c.mu.Unlock()
	c.piggybacks = append(slices.Clip(c.piggybacks), seat)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.piggybacks = slices.DeleteFunc(slices.Clone(c.piggybacks), func(other *PiggybackFunc) bool { return other == seat })
	}
}

// piggybackCall is what a passenger has applied, as a call among the others.
type piggybackCall struct {
	call
	answer func(rota.Result, error)
}

// piggyback asks the passengers for what they want to have applied.
func (c *coalesced) piggyback(commands []rota.Command) (fares []*piggybackCall) {
	c.mu.Lock()
	passengers := c.piggybacks
	c.mu.Unlock()
	for _, p := range passengers {
		if mine, answer := (*p)(commands); mine != nil {
			fares = append(fares, &piggybackCall{call: call{commands: []rota.Command{mine}}, answer: answer})
		}
	}
	return fares
}

func (f *piggybackCall) deliver() {
	if f.err != nil {
		f.answer(rota.Result{}, f.err)
		return
	}
	f.answer(f.results[0], nil)
}
