package access

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/rotajobs/rota"
)

// Guard is a store in front of the store, bound to one identity. It refuses commands that the identity may not send, and
// hides rows that it may not see. It reads the rights again for each call, so that a revoked right ends at the next one.
type Guard struct {
	directory *Directory
	store     rota.Store
	id        Identity
	recent    atomic.Pointer[recentObject]
}

// Guard returns the store of an identity.
func (d *Directory) Guard(id Identity) *Guard { return &Guard{directory: d, store: d.store, id: id} }

// Identity returns the identity to which the Guard is bound.
func (g *Guard) Identity() Identity { return g.id }

// expectTries is how often the Guard decides a command again because a definition changed meanwhile.
const expectTries = 5

// Apply sends the commands that the identity may send. The others are refused in their results.
func (g *Guard) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	return g.applyGuarded(ctx, b, g.store.Apply)
}

// ApplyTx is Apply in a transaction of the caller. The checks read what is committed, so that a definition which the same
// transaction has created does not exist for them.
func (g *Guard) ApplyTx(ctx context.Context, tx any, b rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	var parts []*rota.PendingTx
	results, err := g.applyGuarded(ctx, b, func(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
		results, pending, err := rota.ApplyTx(ctx, g.store, tx, b)
		if err == nil {
			parts = append(parts, pending)
		}
		return results, err
	})
	if err != nil {
		return nil, nil, err
	}
	return results, pendingOf(parts), nil
}

// pendingOf returns the work of several batches of one transaction as one. It was committed if each part was. Without a part
// nothing was sent, and nothing is committed.
func pendingOf(parts []*rota.PendingTx) *rota.PendingTx {
	if len(parts) == 1 {
		return parts[0]
	}
	all := rota.NewPendingTx()
	if len(parts) == 0 {
		all.End(false)
		return all
	}
	go func() {
		committed := true
		for _, part := range parts {
			<-part.Done()
			committed = committed && part.Committed()
		}
		all.End(committed)
	}()
	return all
}

// applyFunc applies a batch: with the store, or in a transaction of the caller.
type applyFunc func(context.Context, rota.Batch) ([]rota.Result, error)

// applyGuarded sends the commands that the identity may send with a function.
func (g *Guard) applyGuarded(ctx context.Context, b rota.Batch, apply applyFunc) ([]rota.Result, error) {
	a, err := g.directory.authority(ctx, g.id)
	if err != nil {
		return nil, err
	}
	for _, c := range b.Commands {
		if !rota.IsNil(c) {
			setActor(c, g.id.User)
		}
	}
	if a.unrestricted() && !slices.ContainsFunc(b.Commands, isInternal) {
		return g.apply(ctx, b, apply)
	}
	results := make([]rota.Result, len(b.Commands))
	pending := make([]int, len(b.Commands))
	for i := range pending {
		pending[i] = i
	}
	for try := 0; len(pending) > 0; try++ {
		if pending, err = g.applyAllowed(ctx, a, b, apply, pending, results, try); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// setActor makes the identity the actor of a command and of its members.
func setActor(c rota.Command, user string) {
	head := c.Head()
	head.Actor, head.Expect = user, nil
	if all, is := c.(*rota.All); is {
		for _, m := range all.Members {
			if !rota.IsNil(m) {
				setActor(m, user)
			}
		}
	}
}

// isInternal reports whether only Rota itself sends the command, so that even an administrator needs a check.
func isInternal(c rota.Command) bool {
	return !rota.IsNil(c) && verbNeeds[c.Verb()].class == needInternal
}

// apply sends a batch and notes a change of access data before anybody is answered.
func (g *Guard) apply(ctx context.Context, b rota.Batch, apply applyFunc) ([]rota.Result, error) {
	results, err := apply(ctx, b)
	for i := range results {
		hideCredentials(results[i].Reply)
		if refusal := results[i].Err; refusal != nil && refusal.Code == rota.Denied { // by the rules
			g.directory.recorder.denied(g.id.User, refusal)
		}
	}
	if slices.ContainsFunc(b.Commands, changesAccess) {
		g.directory.Invalidate()
	}
	g.recent.Store(nil) // the commands may have changed it
	return results, err
}

func changesAccess(c rota.Command) bool {
	switch c := c.(type) {
	case *rota.PutPrincipal, *rota.DropPrincipal, *rota.GrantPrivileges, *rota.PutToken, *rota.RevokeToken:
		return true
	case *rota.All:
		return slices.ContainsFunc(c.Members, changesAccess)
	}
	return false
}

// applyAllowed checks and sends the pending commands of a batch. It returns those that have to be decided again, because a
// definition that the decision depends on has changed.
func (g *Guard) applyAllowed(ctx context.Context, a *authority, b rota.Batch, apply applyFunc, pending []int, results []rota.Result, try int) (changed []int, err error) {
	allowed, seen := rota.Batch{Now: b.Now}, &reader{authority: a, from: g.store, objects: newObjects(g.store)}
	var sent []int
	for _, i := range pending {
		c := b.Commands[i]
		if rota.IsNil(c) || rota.CheckCommand(c) != nil {
			allowed.Commands, sent = append(allowed.Commands, c), append(sent, i) // the store refuses it
			continue
		}
		k, err := g.decide(ctx, a, c, try == 0)
		if err != nil {
			refusal, err := asRefusal(c, err)
			if err != nil {
				return nil, err
			}
			g.directory.recorder.denied(g.id.User, refusal)
			results[i] = rota.Result{Err: refusal}
			continue
		}
		c.Head().Expect = k.expectations()
		if len(b.Commands) == 1 && c.Verb() != rota.VerbAll { // no other command changes what it relies on
			seen.objects.keep(k.relied)
		}
		allowed.Commands, sent = append(allowed.Commands, c), append(sent, i)
	}
	if len(sent) == 0 {
		return nil, nil
	}
	answers, err := g.apply(ctx, allowed, apply)
	if err != nil {
		return nil, err
	}
	for n, i := range sent {
		if try < expectTries-1 && answers[n].Err != nil && answers[n].Err.Code == rota.Conflict && answers[n].Err.Field == "expect" {
			changed = append(changed, i)
			continue
		}
		results[i] = answers[n]
		if err := seen.redactReply(ctx, results[i].Reply); err != nil {
			refusal, err := asRefusal(b.Commands[i], err)
			if err != nil {
				return nil, err
			}
			results[i] = rota.Result{Err: refusal}
		}
	}
	return changed, nil
}

// decide checks a command. At the first try it relies on what the request has read before, and assumes that a create finds
// nothing. If this is wrong the store refuses the command, since it has been told what the check relies on. A refusal is never
// based on it.
func (g *Guard) decide(ctx context.Context, a *authority, c rota.Command, guess bool) (*check, error) {
	k := newCheck(ctx, a, g.store)
	if guess {
		k.guesses, k.objects.recent = true, g.recalled()
	}
	err := k.command(c)
	if err != nil && k.objects.guessed {
		return g.decide(ctx, a, c, false)
	}
	return k, err
}

// asRefusal returns the refusal of a command, or the error of a read that has nothing to do with rights.
func asRefusal(c rota.Command, err error) (*rota.Error, error) {
	var e *rota.Error
	if !errors.As(err, &e) || e.Code != rota.Denied && e.Code != rota.NotFound && e.Code != rota.Conflict && e.Code != rota.Internal {
		return nil, err
	}
	named := *e
	if named.Act == "" {
		named.Act = string(c.Verb())
	}
	return &named, nil
}

// expectations are what the decision depends on. Definitions on which the identity has its rights anyway are among them,
// which costs nothing: the command reads them in any case.
func (k *check) expectations() []rota.Expectation {
	expect := make([]rota.Expectation, 0, len(k.relied))
	for _, o := range k.relied {
		e := rota.Expectation{Kind: o.kind, Name: o.name}
		if o.exists {
			e.Owner, e.Since = o.owner, o.since
			if !k.jobOf[o] { // the check may have read its type, its template or its params
				e.Version = o.version
			}
		}
		expect = append(expect, e)
	}
	return expect
}

// Authorize reports whether the identity may send a command, without sending it, and writes into the command what the
// decision depends on. It is for commands that others send on behalf of the identity, such as direct runs and waiting claims.
func (g *Guard) Authorize(ctx context.Context, c rota.Command) error {
	a, err := g.directory.authority(ctx, g.id)
	if err != nil {
		return err
	}
	if a.unrestricted() && !isInternal(c) {
		return nil
	}
	k := newCheck(ctx, a, g.store)
	if err := k.command(c); err != nil {
		refusal, err := asRefusal(c, err)
		if err != nil {
			return err
		}
		g.directory.recorder.denied(g.id.User, refusal)
		return refusal
	}
	c.Head().Expect = k.expectations()
	return nil
}

// Require reports whether the identity has a privilege on all definitions, for an operation that is no command: a backup, an
// import, a check of the audit.
func (g *Guard) Require(ctx context.Context, o Operation, p rota.Privilege) error {
	a, err := g.directory.authority(ctx, g.id)
	if err != nil {
		return err
	}
	n := o.need()
	refusal := a.inScope(n)
	if refusal == nil && !(a.onAll(p) && a.reaches("")) {
		refusal = a.missingOnAll(p)
	}
	if refusal == nil {
		return nil
	}
	g.directory.recorder.denied(g.id.User, refusal)
	return refusal
}

// Valid reports whether the identity may still be used. An error of which Ended is true says why not.
func (g *Guard) Valid(ctx context.Context) error {
	_, err := g.directory.authority(ctx, g.id)
	return err
}

// IsAdmin reports whether the identity has ADMIN, for displays such as is_superuser.
func (g *Guard) IsAdmin(ctx context.Context) bool {
	a, err := g.directory.authority(ctx, g.id)
	return err == nil && a.unrestricted()
}

// ReceivesSecrets reports whether the secrets of jobs may be sent to the identity, which claims them: only a token of scope
// worker may have them. Nobody else sees a value, not even an administrator.
func (g *Guard) ReceivesSecrets(ctx context.Context) (bool, error) {
	a, err := g.directory.authority(ctx, g.id)
	if err != nil {
		return false, err
	}
	return a.token != nil && a.token.Scope == rota.ScopeWorker, nil
}
