package storetest

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
)

// command generates one command of any verb, common ones more often.
func (g *gen) command() rota.Command {
	if g.rarely(2, "definition") {
		return g.definitionCommand()
	}
	kinds := []func() rota.Command{
		g.enqueue, g.enqueue, g.enqueue, g.enqueue,
		g.claim, g.claim, g.claim, g.claim,
		g.finish, g.finish, g.finish, g.finish,
		g.ready, g.ready, g.extend, g.note, g.cancel, g.cancel, g.edit,
		g.move, g.move, g.normalise, g.reap, g.reap, g.recover, g.all, g.all, g.invalidCommand,
	}
	return choose(g, "verb", kinds...)()
}

func (g *gen) enqueue() rota.Command {
	c := &rota.Enqueue{Meta: g.meta()}
	for range rapid.IntRange(1, 4).Draw(g.t, "jobs") {
		c.Jobs = append(c.Jobs, g.newJob())
	}
	return c
}

func (g *gen) newJob() rota.NewJob {
	n := rota.NewJob{
		Type: choose(g, "type", "a", "b", "c"), Name: choose(g, "name", "", "", "a", "n"),
		Params: g.document(), Priority: new(g.priority()),
	}
	if g.rarely(12, "own id") {
		n.ID = g.job()
	}
	switch choose(g, "when", 0, 0, 0, 1, 2) {
	case 1:
		n.Delay = choose(g, "delay", time.Second, time.Minute, 3*time.Hour)
	case 2:
		n.RunAt = g.now.Add(choose(g, "run at", 0, time.Second, time.Minute, -time.Hour))
	}
	if g.rarely(2, "keyed") {
		n.UniqueKey = choose(g, "key", "k", "l")
		n.UniqueFor = choose(g, "unique for", 0, 0, time.Second, 2*time.Minute, time.Minute+time.Nanosecond)
	}
	if g.rarely(4, "planned") {
		n.PlanTime = startTime.Add(choose(g, "plan", 0, time.Hour, time.Nanosecond))
		scope := choose(g, "scope", "", "", "global", "tenant")
		n.ScopeKind, n.ScopeID = scope, scope
	}
	if g.rarely(4, "traced") {
		n.Trace = choose(g, "trace", traceOne, traceTwo)
	}
	g.policy(&n)
	g.templateAndKey(&n)
	return n
}

// Two traceparents.
const (
	traceOne = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traceTwo = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
)

func (g *gen) policy(n *rota.NewJob) {
	if g.rarely(2, "retries") {
		n.MaxRetries = ptr(choose(g, "max retries", 0, 1, 2))
	}
	if g.rarely(2, "backoff") {
		n.Backoff = ptr(choose(g, "base", 0, time.Second, 45*time.Second, 1500*time.Nanosecond, time.Duration(rota.DelayMax)))
	}
	if g.rarely(4, "backoff max") {
		n.BackoffMax = ptr(choose(g, "most", 0, time.Minute))
	}
	if g.rarely(4, "jitter") {
		n.Jitter = ptr(choose(g, "part", 0, 0.5, 1))
	}
	if g.rarely(6, "timeout") {
		n.Timeout = ptr(choose(g, "time", 0, time.Minute))
	}
}

func (g *gen) ready() rota.Command {
	return &rota.Ready{Meta: g.meta(), Limit: choose(g, "limit", 0, 1, 2)}
}

func (g *gen) claim() rota.Command {
	types := choose(g, "types", []string{"a", "b", "c"}, []string{"a", "b"}, []string{"c"}, []string{"c", "a", "c"}, []string{"none"},
		[]string{rota.TypeWebhook}, []string{"a", rota.TypeWebhook, "c"})
	return &rota.Claim{
		Meta: g.meta(), Worker: g.worker(), Incarnation: g.incarnation(), Types: types,
		Limit: choose(g, "limit", 1, 2, 3, 10), Lease: choose(g, "lease", lease, time.Second, rota.LeaseMax), Seed: g.ids.seed(),
	}
}

func (g *gen) extend() rota.Command {
	c := &rota.Extend{Meta: g.meta(), Lease: choose(g, "lease", lease, time.Second, rota.LeaseMax), Grace: g.grace()}
	for range rapid.IntRange(1, 3).Draw(g.t, "items") {
		c.Items = append(c.Items, rota.ExtendItem{LeaseRef: g.lease(), Progress: g.document()})
	}
	if g.rarely(3, "reservation too") {
		c.ReservationID = g.reservation()
	}
	return c
}

func (g *gen) note() rota.Command {
	c := &rota.Note{Meta: g.meta()}
	c.Expect = nil // a store cannot tell whether a note changes anything
	for range rapid.IntRange(1, 3).Draw(g.t, "items") {
		c.Items = append(c.Items, rota.NoteItem{
			LeaseRef: g.lease(), Progress: g.document(), Artifacts: g.artifacts(), LogPath: choose(g, "log", "", "log", "log2"),
		})
	}
	return c
}

func (g *gen) artifacts() []string {
	return choose(g, "artifacts", nil, []string{"p"}, []string{"q", "p", "q"})
}

func (g *gen) finish() rota.Command {
	c := &rota.Finish{Meta: g.meta(), Grace: g.grace()}
	for range rapid.IntRange(1, 3).Draw(g.t, "items") {
		c.Items = append(c.Items, g.finishItem())
	}
	return c
}

func (g *gen) finishItem() rota.FinishItem {
	it := rota.FinishItem{
		LeaseRef:  g.lease(),
		Outcome:   choose(g, "outcome", rota.OutcomeCompleted, rota.OutcomeFailed, rota.OutcomeFailed, rota.OutcomeFailed, rota.OutcomeCancelled, rota.OutcomeSkipped),
		ErrorCode: choose(g, "error code", "", "", "oops", rota.CodeTimeout, rota.CodeShutdown, rota.CodeLeaseExpired),
		Result:    g.document(), Artifacts: g.artifacts(), LogPath: choose(g, "log", "", "log", "log2"),
		Permanent: g.rarely(6, "permanent"),
	}
	if g.rarely(3, "numbers") {
		it.ExitCode, it.RowsAffected = ptr(choose(g, "exit", 0, 1, -1)), ptr(int64(7))
	}
	if g.rarely(3, "words") {
		it.Error = choose(g, "error", "bad", strings.Repeat("é", rota.ErrorMax))
	}
	if g.rarely(3, "ended before") {
		it.EndedAgo = choose(g, "ended ago", time.Microsecond, 1500*time.Nanosecond, time.Minute, 24*time.Hour)
	}
	if g.rarely(6, "retry at") {
		it.RetryAt = g.now.Add(choose(g, "retry in", 0, time.Minute, -time.Minute))
	}
	return it
}

func (g *gen) cancel() rota.Command {
	return &rota.Cancel{Meta: g.meta(), JobID: g.job(), Reason: choose(g, "reason", "", "why not"), Version: g.putVersion()}
}

// version is nil, the first version, or a version that some row has or had.
func (g *gen) version() *rota.ID {
	switch choose(g, "version", 0, 0, 1, 2) {
	case 1:
		return &rota.ID{}
	case 2:
		if len(g.versions) > 0 {
			return ptr(latest(g, "of", g.versions))
		}
	}
	return nil
}

func (g *gen) edit() rota.Command {
	c := &rota.Edit{Meta: g.meta(), JobID: g.job(), Version: g.version()}
	if doc := g.document(); g.rarely(3, "merge") {
		c.MergeParams = doc
	} else {
		c.Params = doc
	}
	switch choose(g, "new time", 0, 0, 1, 2, 3) {
	case 1:
		c.RunAt = g.now.Add(choose(g, "run in", 0, time.Microsecond, 30*time.Second, time.Hour, -time.Minute))
	case 2:
		c.Delay = ptr(choose(g, "delay", 0, time.Second, time.Hour))
	case 3:
		c.RunNow = true
	}
	unchanged := c.Params == nil && c.MergeParams == nil && c.RunAt.IsZero() && c.Delay == nil && !c.RunNow
	if unchanged || g.rarely(2, "new priority") {
		c.Priority = ptr(g.priority())
	}
	return c
}

func (g *gen) move() rota.Command {
	c := &rota.Move{Meta: g.meta(), JobID: g.job(), Version: g.version()}
	c.Place = choose(g, "place", rota.PlaceBefore, rota.PlaceAfter, rota.PlaceBefore, rota.PlaceAfter, rota.PlaceTop, rota.PlaceBottom)
	if c.Place == rota.PlaceBefore || c.Place == rota.PlaceAfter {
		c.Anchor = g.job()
	}
	return c
}

func (g *gen) normalise() rota.Command {
	c := &rota.Normalise{Meta: g.meta(), Priority: g.priority(), Limit: choose(g, "limit", 0, 1, 2, 3)}
	if g.rarely(3, "after") {
		c.After = g.job()
	}
	return c
}

func (g *gen) reap() rota.Command {
	return &rota.Reap{Meta: g.meta(), Incarnation: g.incarnation(), Limit: choose(g, "limit", 0, 1, 2), Grace: g.grace(), KeepStale: g.rarely(3, "keep stale")}
}

// grace is how long remote workers may continue after a cancel or a timeout.
func (g *gen) grace() time.Duration { return choose(g, "grace", 0, time.Second, time.Minute) }

func (g *gen) recover() rota.Command {
	incarnation := choose(g, "incarnation", incarnationOne, incarnationTwo)
	return &rota.Recover{Meta: g.meta(), Runner: g.worker(), Incarnation: incarnation, Limit: choose(g, "limit", 0, 1)}
}

func (g *gen) all() rota.Command {
	c := &rota.All{Meta: g.meta()}
	for range rapid.IntRange(1, 4).Draw(g.t, "members") {
		c.Members = append(c.Members, choose(g, "member", g.members()...)())
	}
	c.Dry = g.rarely(6, "dry")
	if slices.ContainsFunc(c.Members, func(m rota.Command) bool { return m.Verb() == rota.VerbNote }) {
		c.Expect = nil
	}
	return c
}

// invalidCommand generates a command that is refused as invalid.
func (g *gen) invalidCommand() rota.Command {
	switch choose(g, "wrong", 0, 1, 2, 3, 4, 5, 6) {
	case 0:
		c := g.enqueue().(*rota.Enqueue)
		c.Jobs[len(c.Jobs)-1].Type = "no spaces"
		return c
	case 1:
		c := g.claim().(*rota.Claim)
		c.Limit = 0
		return c
	case 2:
		c := g.finish().(*rota.Finish)
		c.Items[len(c.Items)-1].Outcome = "DONE"
		return c
	case 3:
		return &rota.All{Meta: g.meta(), Members: []rota.Command{g.enqueue(), g.claim()}}
	case 4:
		c := g.fire().(*rota.Fire)
		c.Expect = time.Time{}
		return c
	case 5:
		c := g.enqueueGroup().(*rota.EnqueueGroup)
		c.Jobs[len(c.Jobs)-1].PlanTime = startTime
		return c
	}
	c := g.cancel().(*rota.Cancel)
	c.ID = rota.ID{}
	return c
}
