package wrap

import (
	"slices"

	"github.com/rotajobs/rota"
)

// PiggybackFunc receives commands that are about to be applied, and may return one of its
// own, which is applied after them in the same transaction and so costs no sync of its
// own. The goroutine that applies the batch calls it, so it must not wait. answer is
// called once, with the result or with an error of the whole batch; after an error it is
// unknown whether the command was applied.
type PiggybackFunc = func(commands []rota.Command) (mine rota.Command, answer func(rota.Result, error))

// Piggyback calls p for every batch until stop is called.
func (c *coalesced) Piggyback(p PiggybackFunc) (stop func()) {
	registered := &p
	c.mu.Lock()
	defer c.mu.Unlock()
	c.piggybacks = append(slices.Clip(c.piggybacks), registered)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.piggybacks = slices.DeleteFunc(slices.Clone(c.piggybacks), func(other *PiggybackFunc) bool { return other == registered })
	}
}

// piggybackCall is a command of a PiggybackFunc, as a call among the others.
type piggybackCall struct {
	call
	answer func(rota.Result, error)
}

// piggyback collects the commands of all PiggybackFuncs.
func (c *coalesced) piggyback(commands []rota.Command) (calls []*piggybackCall) {
	c.mu.Lock()
	funcs := c.piggybacks
	c.mu.Unlock()
	for _, p := range funcs {
		if mine, answer := (*p)(commands); mine != nil {
			calls = append(calls, &piggybackCall{call: call{commands: []rota.Command{mine}}, answer: answer})
		}
	}
	return calls
}

func (p *piggybackCall) sendAnswer() {
	if p.err != nil {
		p.answer(rota.Result{}, p.err)
		return
	}
	p.answer(p.results[0], nil)
}
