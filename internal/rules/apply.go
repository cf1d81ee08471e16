package rules

import (
	"errors"
	"reflect"

	"github.com/rotajobs/rota"
)

// roundsMax limits how often a command may find rows through other rows. The
// longest path takes nine rounds: a run that ends, its schedule, the dependents
// of that, their jobs, the other dependencies of those, their latest execution,
// its last attempt.
const roundsMax = 16

// triesMax limits how often a step is repeated because other transactions
// changed its rows.
const triesMax = 16

// Apply applies the commands of a batch, in order, in one transaction. It
// returns one result per command. An error is an error of the transaction,
// which the caller then rolls back.
func Apply(tx Tx, b rota.Batch) ([]rota.Result, error) {
	at := &batchTime{tx: tx}
	at.set(b.Now)
	results := make([]rota.Result, len(b.Commands))
	for from := 0; from < len(b.Commands); {
		to := from + mergeableCount(b.Commands[from:])
		if err := applyCommands(tx, at, b.Commands[from:to], results[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	return results, nil
}

// mergeableCount returns how many commands, from the first on, may share one
// unit of work. A schedule fires at most once in each, since the event of a
// fire reports the state at the end of the step.
func mergeableCount(commands []rota.Command) int {
	var fired map[string]bool
	for n, c := range commands {
		if n > 0 && !mergeable(commands[0], c) {
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

// mergeable reports whether two adjacent commands may share one unit of work.
// They must have the same verb and find their rows by key, so that deciding
// them one after the other on rows loaded together equals applying them one
// after the other.
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

// applyCommands decides some commands, locks the rows they read, and writes the
// changes. If another transaction changed a row before it was locked, it
// discards the unit of work and decides the commands again.
func applyCommands(tx Tx, at *batchTime, commands []rota.Command, results []rota.Result) error {
	for range triesMax {
		u := newUnitOfWork(at.now, jobsIn(commands))
		if d, may := tx.(DefersKeys); may {
			u.deferKeys = d.DefersKeys()
		}
		if err := decideCommands(tx, at, u, commands, results); err != nil {
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
	return rota.Errorf(rota.Busy, "apply", "its rows kept changing; send it again")
}

// jobsIn returns how many jobs some commands name.
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
				n += min(max(c.Limit, 0), 64) // a claim usually finds fewer jobs than its limit
			}
		}
	}
	return n
}

// decideCommands decides commands one after the other. If rules miss rows, it
// undoes everything, loads these rows, and decides all commands again.
func decideCommands(tx Tx, at *batchTime, u *UnitOfWork, commands []rota.Command, results []rota.Result) error {
	var valid []int
	checked := isChecked(tx)
	for i, c := range commands {
		results[i] = rota.Result{}
		if !checked {
			results[i].Err = check(c)
		}
		if results[i].Err == nil {
			valid = append(valid, i)
		}
	}
	rounds, err := prefetch(tx, at, u, commands, valid)
	limit := roundsMax * membersIn(commands)
	for ; err == nil && rounds < limit; rounds++ {
		complete := true
		for _, i := range valid {
			known, err := decideCommand(tx, u, commands[i], &results[i])
			if err != nil {
				return err
			}
			complete = complete && known
		}
		if complete {
			return nil
		}
		u.undoTo(0)
		err = u.load(tx)
	}
	if err != nil {
		return err
	}
	return rota.Errorf(rota.Internal, "apply", "a command needed rows in more than %d rounds", limit)
}

// membersIn returns how many members the commands have, counting a command that
// is not an All as one. A member may need rows that only the members before it
// show to be needed.
func membersIn(commands []rota.Command) (n int) {
	for _, c := range commands {
		if all, is := c.(*rota.All); is && all != nil {
			n += max(1, len(all.Members))
		} else {
			n++
		}
	}
	return n
}

// decideCommand decides a command, and reports whether all rows that it needs
// are known. A command that is refused, or that is only to be answered, changes
// nothing.
func decideCommand(tx Tx, u *UnitOfWork, c rota.Command, result *rota.Result) (complete bool, err error) {
	mark := u.mark()
	var reply rota.Reply
	var refusal *rota.Error
	if !attempt(func() { reply, refusal = decide(u, c) }) {
		u.undoTo(mark)
		return false, nil
	}
	if refusal == nil {
		if refusal, err = mayDeliver(tx, u, c, mark); err != nil {
			return false, err
		}
	}
	*result = rota.Result{Reply: reply, Err: refusal}
	if refusal != nil || isDryRun(c) {
		u.undoTo(mark)
	}
	return true, nil
}

func isChecked(tx Tx) bool {
	t, may := tx.(Checked)
	return may && t.Checked()
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

// decide decides a command.
func decide(u *UnitOfWork, c rota.Command) (rota.Reply, *rota.Error) {
	if len(c.Head().Expect) > 0 {
		return decideExpecting(u, c)
	}
	return decideVerb(u, c)
}

func decideVerb(u *UnitOfWork, c rota.Command) (rota.Reply, *rota.Error) {
	if all, ok := c.(*rota.All); ok {
		return decideAll(u, all)
	}
	u.keysToBalance = u.keysToBalance[:0]
	reply, refusal := decideOne(u, c)
	if refusal != nil {
		if refusal.Act == "" {
			refusal.Act = string(c.Verb())
		}
		return nil, refusal
	}
	if len(u.keysToBalance) > 0 {
		u.balanceChangedKeys()
		refresh(u, reply)
	}
	return reply, nil
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
