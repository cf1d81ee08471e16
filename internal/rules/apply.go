package rules

import (
	"errors"
	"reflect"

	"github.com/rotajobs/rota"
)

// roundsMax bounds how often a step may find rows through rows; the longest
// way (a run that ends, its schedule, who depends on it, their jobs, what else
// these depend on, its latest execution, the last attempt of that) takes nine.
const roundsMax = 16

// triesMax bounds how often a step is done again because others moved its rows.
const triesMax = 16

// Apply applies the commands of a batch, in order, in one transaction. It
// answers one result per command; an error is the transaction's, which is
// then to be rolled back.
func Apply(tx Tx, b rota.Batch) ([]rota.Result, error) {
	at := &instant{tx: tx}
	at.set(b.Now)
	results := make([]rota.Result, len(b.Commands))
	for from := 0; from < len(b.Commands); {
		to := from + runOf(b.Commands[from:])
		err := applyRun(tx, at, b.Commands[from:to], results[from:to])
		if err == errApart {
			to--
			err = applyRun(tx, at, b.Commands[from:to], results[from:to])
		}
		if err != nil {
			return nil, err
		}
		from = to
	}
	return results, nil
}

// runOf is how many commands, from the first on, may share one world. A schedule
// fires once in each: what is told of a step says where it stands at its end. A
// claim may be the last behind enqueues.
func runOf(commands []rota.Command) int {
	var fired map[string]bool
	for n, c := range commands {
		if n > 0 && !mergeable(commands[0], c) {
			if joint(commands[:n+1]) {
				return n + 1
			}
			return n
		}
		f, fires := c.(*rota.Fire)
		if !fires {
			continue
		}
		if fired[f.Schedule] {
			return n
		}
		if fired == nil {
			fired = map[string]bool{}
		}
		fired[f.Schedule] = true
	}
	return len(commands)
}

// mergeable says that two neighbours may share one world: they are of one
// verb and find their rows by key, so deciding them one after the other on
// what was loaded together equals applying them one after the other.
func mergeable(a, b rota.Command) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	switch a.(type) {
	case *rota.Enqueue, *rota.Extend, *rota.Note, *rota.Finish, *rota.Fire:
		return true
	}
	return false
}

// joint says that a claim comes behind enqueues.
func joint(run []rota.Command) bool {
	_, enqueues := run[0].(*rota.Enqueue)
	_, claims := run[len(run)-1].(*rota.Claim)
	return enqueues && claims
}

// applyRun decides some commands, locks what they looked at, and writes what
// came of it. If somebody moved a row before it was locked, the world is thrown
// away and the commands are decided anew.
func applyRun(tx Tx, at *instant, commands []rota.Command, results []rota.Result) error {
	for range triesMax {
		w := newUnitOfWork(at.now, jobsIn(commands))
		w.joint = joint(commands)
		w.more = func(n *Need) error { return tx.Load(n, w) }
		if err := decideRun(tx, at, w, commands, results); err != nil {
			return err
		}
		if err := together(tx, w, commands); err != nil {
			return err
		}
		moved, err := tx.Lock(w)
		if err != nil {
			return err
		}
		if moved {
			continue
		}
		changes := w.changes()
		if changes.Empty() {
			return nil
		}
		if err := deliver(tx, w, changes); err != nil {
			return err
		}
		return tx.Write(changes)
	}
	return rota.Errorf(rota.Busy, "apply", "its rows kept moving; send it again")
}

// jobsIn is how many jobs some commands name.
func jobsIn(commands []rota.Command) (n int) {
	for _, c := range commands {
		switch c := c.(type) {
		case *rota.Enqueue:
			if c != nil {
				n += min(len(c.Jobs), rota.JobsMax)
			}
		case *rota.Finish:
			if c != nil {
				n += min(len(c.Items), rota.ItemsMax)
			}
		case *rota.Extend:
			if c != nil {
				n += min(len(c.Items), rota.ItemsMax)
			}
		case *rota.Claim:
			if c != nil {
				n += min(max(c.Limit, 0), 64) // mostly it finds less than it asks for
			}
		}
	}
	return n
}

// decideRun loads what the commands need and decides them one after the other.
func decideRun(tx Tx, at *instant, w *UnitOfWork, commands []rota.Command, results []rota.Result) error {
	valid := make([]rota.Command, 0, len(commands))
	for i, c := range commands {
		if results[i] = (rota.Result{Err: check(c)}); results[i].Err == nil {
			valid = append(valid, c)
		}
	}
	if err := loadRun(tx, at, w, valid); err != nil {
		return err
	}
	for i, c := range commands {
		if results[i].Err != nil {
			continue
		}
		mark := w.mark()
		reply, refusal, err := decide(tx, w, c)
		if err == nil && refusal == nil {
			refusal, err = mayTell(tx, w, c, mark)
		}
		if err != nil {
			return err
		}
		if w.failed != nil {
			return w.failed
		}
		if refusal != nil {
			w.back(mark)
			results[i].Err = refusal
			continue
		}
		results[i].Reply = reply
		if dry(c) {
			w.back(mark)
		}
	}
	return nil
}

func check(c rota.Command) *rota.Error {
	err := rota.CheckCommand(c)
	if err == nil {
		return nil
	}
	var refusal *rota.Error
	if !errors.As(err, &refusal) {
		return &rota.Error{Code: rota.Internal, Err: err}
	}
	named := *refusal
	if named.Field != "command" {
		named.Act = string(c.Verb())
	}
	return &named
}

// load asks the commands what they need until they need nothing more.
func load(tx Tx, begin *Need, commands []rota.Command) error {
	for range roundsMax {
		n := *begin
		for _, c := range commands {
			need(&n, c)
		}
		recall(tx, &n, commands)
		if n.empty() {
			return n.tell()
		}
		if err := tx.Load(&n, n.unit); err != nil {
			return err
		}
		if err := n.tell(); err != nil {
			return err
		}
	}
	return rota.Errorf(rota.Internal, "apply", "a command asked for rows %d times over", roundsMax)
}

// recall asks a claim again at once, if all that bounds it is known without
// reading: then what is left is whether it was sent before, which it hardly ever
// was, and both can be read together.
func recall(tx Tx, n *Need, commands []rota.Command) {
	memory, has := tx.(RowCache)
	if !has || n.ClaimedBefore == nil {
		return
	}
	if memory.LoadCached(n, n.unit); n.bounded() {
		need(n, commands[len(commands)-1]) // the claim is the only one, or the last
	}
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
		needCompany(n, c)
	}
}

func decide(tx Tx, w *UnitOfWork, c rota.Command) (rota.Reply, *rota.Error, error) {
	if all, ok := c.(*rota.All); ok {
		return decideAll(tx, w, all)
	}
	w.stirred = w.stirred[:0]
	reply, refusal := decideOne(w, c)
	if refusal != nil {
		if refusal.Act == "" {
			refusal.Act = string(c.Verb())
		}
		return nil, refusal, nil
	}
	if len(w.stirred) > 0 {
		w.balanceAll()
		refresh(w, reply)
	}
	return reply, nil, nil
}

func decideOne(w *UnitOfWork, c rota.Command) (rota.Reply, *rota.Error) {
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
	return decideCompany(w, c)
}
