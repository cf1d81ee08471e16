package dynamo

import (
	"fmt"

	"github.com/rotajobs/rota"
)

// Jobs whose keys other programs hold are left out of an entry, and their answers are added to its results.

// restore has the entry contain all commands again.
func (p *proposal) restore() {
	p.claims = nil
	if len(p.held) == 0 {
		return
	}
	p.held = map[rota.ID]rota.Submitted{}
	p.entry.Batch.Commands, p.places, p.chunks = p.commands, nil, 0
}

// leaveOut removes the jobs from the entry whose keys are held.
func (p *proposal) leaveOut() {
	p.entry.Batch.Commands, p.places, p.chunks = nil, []int{}, 0
	for i, c := range p.commands {
		if c, is := c.(*rota.Enqueue); is {
			if kept := p.withoutHeld(c); len(kept.Jobs) > 0 {
				p.entry.Batch.Commands, p.places = append(p.entry.Batch.Commands, kept), append(p.places, i)
			}
			continue
		}
		if p.createsHeld(c) == "" {
			p.entry.Batch.Commands, p.places = append(p.entry.Batch.Commands, c), append(p.places, i)
		}
	}
}

// withoutHeld returns the command without the jobs whose keys are held. The others keep their ids.
func (p *proposal) withoutHeld(c *rota.Enqueue) *rota.Enqueue {
	if p.createsHeld(c) == "" {
		return c
	}
	kept := &rota.Enqueue{Meta: c.Meta}
	for i := range c.Jobs {
		if _, is := p.held[c.JobID(i)]; !is {
			j := c.Jobs[i]
			j.ID = c.JobID(i)
			kept.Jobs = append(kept.Jobs, j)
		}
	}
	return kept
}

// createsHeld returns which job of a command has a key that is held.
func (p *proposal) createsHeld(c rota.Command) string {
	for id := range p.held {
		if creates(c, id) {
			return id.String()
		}
	}
	return ""
}

// answers returns the results of all commands, given those of the entry.
func (p *proposal) answers(results []rota.Result) []rota.Result {
	if len(p.held) == 0 {
		return results
	}
	all := make([]rota.Result, len(p.commands))
	for n, i := range p.places {
		all[i] = results[n]
	}
	for i, c := range p.commands {
		id := p.createsHeld(c)
		if id == "" {
			continue
		}
		if c, is := c.(*rota.Enqueue); is {
			all[i] = p.answer(c, all[i])
			continue
		}
		all[i] = rota.Result{Err: &rota.Error{
			Code: rota.Conflict, Act: string(c.Verb()), Field: "unique_key",
			Reason: fmt.Sprintf("the key of job %s is held by an item that another program has put into the table", id),
			Hint:   "wait until that job has ended",
		}}
	}
	return all
}

// answer adds the duplicates to the result of a command.
func (p *proposal) answer(c *rota.Enqueue, kept rota.Result) rota.Result {
	if kept.Err != nil {
		return kept
	}
	reply := &rota.Enqueued{}
	var others []rota.Submitted
	if enqueued, is := kept.Reply.(*rota.Enqueued); is {
		others = enqueued.Jobs
	}
	for i := range c.Jobs {
		if held, is := p.held[c.JobID(i)]; is {
			reply.Jobs = append(reply.Jobs, held)
			continue
		}
		reply.Jobs, others = append(reply.Jobs, others[0]), others[1:]
	}
	return rota.Result{Reply: reply}
}
