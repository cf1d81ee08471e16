package storetest

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest/model"
)

// gen generates random commands from few types, keys, priorities and workers, so that they
// often collide. It remembers the jobs and leases of earlier answers, also those that have
// ended, so that some commands arrive late.
type gen struct {
	t     *rapid.T
	ids   idGenerator
	now   time.Time
	model *model.Model

	jobs         []rota.ID
	leases       []rota.LeaseRef
	versions     []rota.ID
	groups       []rota.ID
	reservations []rota.ID
	remembered   []rota.ID // commands that request keys are tied to
	sent         []rota.Batch
}

func choose[T any](g *gen, label string, from ...T) T {
	return from[rapid.IntRange(0, len(from)-1).Draw(g.t, label)]
}

// rarely is true once in n times, and false when rapid shrinks.
func (g *gen) rarely(n int, label string) bool {
	return rapid.IntRange(0, n-1).Draw(g.t, label) == n-1
}

// batch generates the next batch, or returns an earlier one to send again.
func (g *gen) batch(rt *rapid.T) rota.Batch {
	g.t = rt
	g.now = g.now.Add(choose(g, "pass", 0, time.Microsecond, time.Second, 20*time.Second, 31*time.Second,
		61*time.Second, 5*time.Minute, 2*time.Hour, -90*time.Second, -2*time.Hour, 400*24*time.Hour))
	if len(g.sent) > 0 && g.rarely(8, "again") {
		if which := choose(g, "which", g.sent...).Commands; !g.claimMayBeForgotten(which) {
			return rota.Batch{Now: g.now, Commands: which}
		}
	}
	var lent []rota.Command
	if g.rarely(8, "lent") {
		lent = g.lent()
	}
	b := rota.Batch{Now: g.now, Commands: lent}
	for range rapid.IntRange(1, 6).Draw(g.t, "commands") {
		b.Commands = append(b.Commands, g.command())
	}
	if g.rarely(4, "joint") {
		b.Commands = append(b.Commands, g.enqueue(), g.claim())
	}
	return b
}

// claimMayBeForgotten reports whether a job that one of the claims took was removed, or will be
// removed earlier in the same batch. Whether a store still recognises such a claim as sent
// before is not specified.
func (g *gen) claimMayBeForgotten(commands []rota.Command) bool {
	var claims, pruned []rota.ID
	var gather func(rota.Command)
	gather = func(c rota.Command) {
		switch c := c.(type) {
		case *rota.All:
			if c != nil {
				for _, one := range c.Members {
					gather(one)
				}
			}
		case *rota.Claim:
			if c != nil {
				claims = append(claims, c.ID)
			}
		case *rota.Prune:
			if c != nil {
				pruned = append(pruned, c.Executions...)
			}
		}
	}
	for _, c := range commands {
		gather(c)
	}
	return slices.ContainsFunc(g.leases, func(l rota.LeaseRef) bool {
		if !slices.ContainsFunc(claims, func(claim rota.ID) bool { return l.RunID == rota.RunID(claim, l.JobID) }) {
			return false
		}
		j, err := g.model.Job(context.Background(), l.JobID)
		kept := err == nil && j.Run != nil && j.Run.ID == l.RunID // otherwise another job has its id now
		return !kept || slices.Contains(pruned, j.ExecutionID)
	})
}

// learn remembers the ids, leases and versions of an answer.
func (g *gen) learn(reply rota.Reply) {
	switch r := reply.(type) {
	case *rota.Enqueued:
		for _, one := range r.Jobs {
			if one.Job != nil {
				g.jobs = append(g.jobs, one.Job.ID)
			}
		}
	case *rota.Claimed:
		for _, j := range r.Jobs {
			g.leases = append(g.leases, leaseOf(j))
			if rota.InternalType(j.Type) {
				g.jobs = append(g.jobs, j.ID) // no earlier answer has named it
			}
		}
	case *rota.Finished:
		for _, it := range r.Items {
			g.learnRetry(it.RetryID)
		}
	case *rota.Reaped:
		for _, it := range r.Jobs {
			g.learnRetry(it.RetryID)
		}
	case *rota.Recovered:
		for _, it := range r.Jobs {
			g.learnRetry(it.RetryID)
		}
	case *rota.Edited:
		g.versions = append(g.versions, r.Job.Version)
	case *rota.Moved:
		g.versions = append(g.versions, r.Job.Version)
	case *rota.AllDone:
		for _, one := range r.Replies {
			g.learn(one)
		}
	default:
		g.learnDefinitions(reply)
	}
}

func (g *gen) learnRetry(id rota.ID) {
	if !id.IsZero() {
		g.jobs = append(g.jobs, id)
	}
}

// job returns the id of a known job, a recent one more often, or sometimes an unknown id.
func (g *gen) job() rota.ID {
	if len(g.jobs) == 0 || g.rarely(12, "unknown job") {
		return g.ids.next()
	}
	return latest(g, "job", g.jobs)
}

// lease returns a known lease, or sometimes one that is wrong in one part.
func (g *gen) lease() rota.LeaseRef {
	if len(g.leases) == 0 {
		return rota.LeaseRef{JobID: g.job(), RunID: g.ids.next(), Token: g.ids.seed()}
	}
	ref := latest(g, "lease", g.leases)
	switch choose(g, "foreign", 0, 0, 0, 0, 0, 0, 0, 1, 2, 3) {
	case 1:
		ref.Token[3] ^= 0x10
	case 2:
		ref.RunID = g.ids.next()
	case 3:
		ref.JobID = g.job()
	}
	return ref
}

// latest draws from the end of a list three times out of four.
func latest[T any](g *gen, label string, list []T) T {
	const few = 6
	if len(list) > few && !g.rarely(4, "long ago") {
		list = list[len(list)-few:]
	}
	return choose(g, label, list...)
}

func (g *gen) document() json.RawMessage {
	return choose(g, "document", nil, json.RawMessage(`{"a":1}`), json.RawMessage(`{"b":"é"}`))
}

func (g *gen) priority() int { return choose(g, "priority", 0, 0, 0, 0, 1, 1, -1, rota.PriorityMin) }

func (g *gen) incarnation() rota.ID {
	return choose(g, "life", incarnationOne, incarnationTwo, incarnationOther, rota.ID{})
}

func (g *gen) worker() string { return choose(g, "worker", "w1", "w2") }

// meta returns the head of a command. Some commands have no actor.
func (g *gen) meta() rota.Meta {
	m := rota.Meta{ID: g.ids.next(), Actor: choose(g, "actor", "", "ada", "u"), RulesVersion: choose(g, "rules version", 0, rota.RulesVersion)}
	if g.rarely(12, "expect") {
		m.Expect = g.expectations()
	}
	return m
}
