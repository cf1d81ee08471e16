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
	at := &batchTime{tx: tx}
	at.set(b.Now)
	results := make([]rota.Result, len(b.Commands))
	for from := 0; from < len(b.Commands); {
		to := from + mergeableCount(b.Commands[from:])
		err := applyCommands(tx, at, b.Commands[from:to], results[from:to])
		if err == errClaimAlone {
			to--
			err = applyCommands(tx, at, b.Commands[from:to], results[from:to])
		}
		if err != nil {
			return nil, err
		}
		from = to
	}
	return results, nil
}

// mergeableCount is how many commands, from the first on, may share one world. A schedule
// fires once in each: what is told of a step says where it stands at its end. A
// claim may be the last behind enqueues.
func mergeableCount(commands []rota.Command) int {
	var fired map[string]bool
	for n, c := range commands {
		if n > 0 && !mergeable(commands[0], c) {
			if isClaimAfterEnqueues(commands[:n+1]) {
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

// isClaimAfterEnqueues says that a claim comes behind enqueues.
func isClaimAfterEnqueues(commands []rota.Command) bool {
	_, enqueues := commands[0].(*rota.Enqueue)
	_, claims := commands[len(commands)-1].(*rota.Claim)
	return enqueues && claims
}

// applyCommands decides some commands, locks what they looked at, and writes what
// came of it. If somebody moved a row before it was locked, the world is thrown
// away and the commands are decided anew.
func applyCommands(tx Tx, at *batchTime, commands []rota.Command, results []rota.Result) error {
	for range triesMax {
		u := newUnitOfWork(at.now, jobsIn(commands))
		u.afterEnqueues = isClaimAfterEnqueues(commands)
		u.loadMore = func(n *Need) error { return tx.Load(n, u) }
		if err := decideCommands(tx, at, u, commands, results); err != nil {
			return err
		}
		if err := checkClaimAfterEnqueues(tx, u, commands); err != nil {
			return err
		}
		moved, err := tx.Lock(u)
		if err != nil {
			return err
		}
		if moved {
			continue
		}
		changes := u.changes()
		if changes.Empty() {
			return nil
		}
		if err := deliver(tx, u, changes); err != nil {
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

// decideCommands loads what the commands need and decides them one after the other.
func decideCommands(tx Tx, at *batchTime, u *UnitOfWork, commands []rota.Command, results []rota.Result) error {
	valid := make([]rota.Command, 0, len(commands))
	for i, c := range commands {
		if results[i] = (rota.Result{Err: check(c)}); results[i].Err == nil {
			valid = append(valid, c)
		}
	}
	if err := loadCommands(tx, at, u, valid); err != nil {
		return err
	}
	for i, c := range commands {
		if results[i].Err != nil {
			continue
		}
		savepoint := u.savepoint()
		reply, refusal, err := decide(tx, u, c)
		if err == nil && refusal == nil {
			refusal, err = mayDeliver(tx, u, c, savepoint)
		}
		if err != nil {
			return err
		}
		if u.loadErr != nil {
			return u.loadErr
		}
		if refusal != nil {
			u.restore(savepoint)
			results[i].Err = refusal
			continue
		}
		results[i].Reply = reply
		if isDryRun(c) {
			u.restore(savepoint)
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
		loadFromCache(tx, &n, commands)
		if n.empty() {
			return n.updateTime()
		}
		if err := tx.Load(&n, n.unit); err != nil {
			return err
		}
		if err := n.updateTime(); err != nil {
			return err
		}
	}
	return rota.Errorf(rota.Internal, "apply", "a command asked for rows %d times over", roundsMax)
}

// loadFromCache asks a claim again at once, if all that bounds it is known without
// reading: then what is left is whether it was sent before, which it hardly ever
// was, and both can be read together.
func loadFromCache(tx Tx, n *Need, commands []rota.Command) {
	cache, has := tx.(RowCache)
	if !has || n.ClaimedBefore == nil {
		return
	}
	if cache.LoadCached(n, n.unit); n.limitsKnown() {
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
		needOtherVerb(n, c)
	}
}

func decide(tx Tx, u *UnitOfWork, c rota.Command) (rota.Reply, *rota.Error, error) {
	if all, ok := c.(*rota.All); ok {
		return decideAll(tx, u, all)
	}
	u.keysToBalance = u.keysToBalance[:0]
	reply, refusal := decideOne(u, c)
	if refusal != nil {
		if refusal.Act == "" {
			refusal.Act = string(c.Verb())
		}
		return nil, refusal, nil
	}
	if len(u.keysToBalance) > 0 {
		u.balanceChangedKeys()
		refresh(u, reply)
	}
	return reply, nil, nil
}

func decideOne(u *UnitOfWork, c rota.Command) (rota.Reply, *rota.Error) {
	switch c := c.(type) {
	case *rota.Enqueue:
		return decideEnqueue(u, c)
	case *rota.Ready:
		return decideReady(u, c)
	case *rota.Claim:
		return decideClaim(u, c)
	case *rota.Extend:
		return decideExtend(u, c)
	case *rota.Note:
		return decideNote(u, c)
	case *rota.Finish:
		return decideFinish(u, c)
	case *rota.Cancel:
		return decideCancel(u, c)
	case *rota.Edit:
		return decideEdit(u, c)
	case *rota.Move:
		return decideMove(u, c)
	case *rota.Normalise:
		return decideNormalise(u, c)
	case *rota.Reap:
		return decideReap(u, c)
	case *rota.Recover:
		return decideRecover(u, c)
	}
	return decideOtherVerb(u, c)
}
