package rules

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

// roundsMax bounds how often a step may find further rows or be overtaken. A
// chain of retries is followed one link a round, so it is a little more than
// the longest chain.
const roundsMax = rota.MaxRetriesMax + 16

// Apply applies the commands of a batch, in order, in one transaction. It
// answers one result per command; an error is the transaction's, which is
// then to be rolled back.
func Apply(tx Tx, b rota.Batch) ([]rota.Result, error) {
	b.Now = b.Now.UTC().Truncate(time.Microsecond)
	results := make([]rota.Result, len(b.Commands))
	for from := 0; from < len(b.Commands); {
		to := from + 1
		for to < len(b.Commands) && mergeable(b.Commands[from], b.Commands[to]) {
			to++
		}
		if err := applyRun(tx, b.Now, b.Commands[from:to], results[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	return results, nil
}

// mergeable says that two neighbours may share one world: they are of one
// verb and find their rows by key, so deciding them one after the other on
// what was loaded together equals applying them one after the other.
func mergeable(a, b rota.Command) bool {
	if a == nil || b == nil || a.Verb() != b.Verb() {
		return false
	}
	switch a.Verb() {
	case rota.VerbEnqueue, rota.VerbExtend, rota.VerbNote, rota.VerbFinish:
		return true
	}
	return false
}

// applyRun loads what some commands need, decides them one after the other,
// and writes what came of it.
func applyRun(tx Tx, now time.Time, commands []rota.Command, results []rota.Result) error {
	w := newWorld(now)
	valid := make([]rota.Command, 0, len(commands))
	for i, c := range commands {
		if results[i].Err = check(c); results[i].Err == nil {
			valid = append(valid, c)
		}
	}
	if err := load(tx, w, valid); err != nil {
		return err
	}
	for i, c := range commands {
		if results[i].Err != nil {
			continue
		}
		mark := w.mark()
		reply, refusal, err := decide(tx, w, c)
		if err != nil {
			return err
		}
		if refusal != nil {
			w.back(mark)
			results[i].Err = refusal
			continue
		}
		results[i].Reply = reply
	}
	changes := w.changes()
	if changes.Empty() {
		return nil
	}
	return tx.Write(changes)
}

func check(c rota.Command) *rota.Error {
	if c == nil {
		return rota.Invalidf("command", "is empty")
	}
	err := rota.CheckCommand(c)
	if err == nil {
		return nil
	}
	e, ok := err.(*rota.Error)
	if !ok {
		return &rota.Error{Code: rota.Internal, Act: string(c.Verb()), Err: err}
	}
	refusal := *e
	refusal.Act = string(c.Verb())
	return &refusal
}

// load asks the commands what they need until they need nothing more and no
// row has moved under them.
func load(tx Tx, w *World, commands []rota.Command) error {
	for range roundsMax {
		n := &Need{world: w}
		for _, c := range commands {
			need(n, c)
		}
		if !n.empty() {
			if err := tx.Load(n, w); err != nil {
				return err
			}
			continue
		}
		moved, err := tx.Lock(w)
		if err != nil || !moved {
			return err
		}
	}
	return rota.Errorf(rota.Busy, "apply", "its rows kept moving; send it again")
}

func need(n *Need, c rota.Command) {
	switch c := c.(type) {
	case *rota.Enqueue:
		needEnqueue(n, c)
	case *rota.Ready:
		needReady(n, c)
	case *rota.Claim:
		needClaim(n, c)
	case *rota.Extend:
		needExtend(n, c)
	case *rota.Note:
		needNote(n, c)
	case *rota.Finish:
		needFinish(n, c)
	case *rota.Cancel:
		needCancel(n, c)
	case *rota.Edit:
		needEdit(n, c)
	case *rota.Move:
		needMove(n, c)
	case *rota.Normalise:
		needNormalise(n, c)
	case *rota.Reap:
		needReap(n, c)
	case *rota.Recover:
		needRecover(n, c)
	case *rota.All:
		// Each member is asked when those before it have been decided.
	default:
		panic(fmt.Sprintf("rules: no law for %T", c))
	}
}

func decide(tx Tx, w *World, c rota.Command) (rota.Reply, *rota.Error, error) {
	if all, ok := c.(*rota.All); ok {
		return decideAll(tx, w, all)
	}
	reply, refusal := decideOne(w, c)
	if refusal != nil && refusal.Act == "" {
		refusal.Act = string(c.Verb())
	}
	return reply, refusal, nil
}

func decideOne(w *World, c rota.Command) (rota.Reply, *rota.Error) {
	switch c := c.(type) {
	case *rota.Enqueue:
		return decideEnqueue(w, c)
	case *rota.Ready:
		return decideReady(w, c)
	case *rota.Claim:
		return decideClaim(w, c)
	case *rota.Extend:
		return decideExtend(w, c)
	case *rota.Note:
		return decideNote(w, c)
	case *rota.Finish:
		return decideFinish(w, c)
	case *rota.Cancel:
		return decideCancel(w, c)
	case *rota.Edit:
		return decideEdit(w, c)
	case *rota.Move:
		return decideMove(w, c)
	case *rota.Normalise:
		return decideNormalise(w, c)
	case *rota.Reap:
		return decideReap(w, c)
	case *rota.Recover:
		return decideRecover(w, c)
	}
	panic(fmt.Sprintf("rules: no law for %T", c))
}
