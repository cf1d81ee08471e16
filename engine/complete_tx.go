package engine

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/rotajobs/rota"
)

// CompleteTx completes the run of a handler in a transaction that the handler has begun on
// the database of the store: what the handler writes in it and the end of the run are
// committed together, or neither is. The store says which Go types tx may have.
//
//	tx, err := db.BeginTx(ctx, nil)
//	if err != nil {
//		return err
//	}
//	defer tx.Rollback()
//	if _, err := tx.ExecContext(ctx, "UPDATE accounts ..."); err != nil {
//		return err
//	}
//	if err := engine.CompleteTx(ctx, tx, nil); err != nil {
//		return err
//	}
//	return tx.Commit()
//
// The result is stored as [Result] does; with nil the run keeps what Result has set. The
// rest of what the handler has reported is stored too: progress, artifacts, rows affected,
// exit code. What it reports after the call is not, except for lines of the log.
//
// Commit before the handler returns. The transaction then decides the outcome:
//
//   - Committed: the run is COMPLETED, even if the handler returns an error or panics after
//     the commit, was cancelled or exceeded its timeout.
//   - Not committed, because it was rolled back, also to an earlier savepoint, or has not
//     ended: the run is FAILED with the code [rota.CodeUncommitted] and is retried, even if
//     the handler returns nil. An error of the handler is a part of the recorded text;
//     [rota.Permanent] and [rota.RetryAt] apply. A run that was stopped has the code of
//     that, such as [rota.CodeTimeout].
//
// An error of CompleteTx means that the run is not completed in the transaction. Return it,
// and roll back. With the code LeaseLost the store has given the job to another attempt,
// whose work this transaction must not repeat; the context of the handler ends. With Busy
// another transaction has held the row of the job for rota.TxLockWait; CompleteTx may be
// called again in the same transaction. If the handler goes on without it, the run ends
// with what the handler returns.
//
// A run is completed once: a second call is Invalid, unless it is in a new transaction and
// the first one was rolled back. A worker of package worker cannot use CompleteTx: Invalid.
//
// Keep the transaction short. While it is open it locks the row of the job, and in SQLite
// all of the file: the lease is not extended meanwhile, and no other process takes the job.
// Use EnqueueTx in place of Enqueue in it. If the transaction is still open when the handler
// returns, its context ends at once, which rolls back a *sql.Tx that was begun with it. A
// pgx.Tx stays open until it is rolled back: defer its Rollback. The engine then waits for the end of the transaction, whatever the timeout of the run
// is: as long as it is open nothing else can be recorded. The slot is free again after
// Config.CancelGrace. A shutdown waits as long as for a run that cannot be recorded, and then
// records nothing: if the transaction is rolled back later, the job is retried when another
// process takes it over or this one starts again.
func CompleteTx(ctx context.Context, tx any, result any) error {
	t := taskOf(ctx)
	switch {
	case t == nil:
		return completeError(rota.Invalid, "there is no run in this context", "use the context that the handler was called with")
	case t.pool.e.config.Remote:
		return completeError(rota.Invalid, "a worker of a server has no transaction on the database of the server",
			"run the handler in a process that opens the store, or let it return nil to complete the run")
	}
	text, err := t.resultToStore(result)
	if err != nil {
		return err
	}
	c, err := t.beginCompletion(tx)
	if err != nil {
		return err
	}
	err = c.apply(ctx, t, text)
	if rota.CodeOf(err) == rota.LeaseLost {
		t.pool.leaseLost(t)
	}
	return err
}

func completeError(code rota.Code, reason, hint string) *rota.Error {
	return &rota.Error{Code: code, Act: "complete in a transaction", Reason: reason, Hint: hint}
}

// resultToStore returns the result of a run that completes; nil keeps that of Result.
func (t *task) resultToStore(result any) (json.RawMessage, error) {
	if result == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.result, nil
	}
	text, err := marshal("result", result, rota.ResultMax)
	if err != nil {
		return nil, err
	}
	return t.maskJSON("result", text, rota.ResultMax), nil
}

// completion is a call of CompleteTx.
type completion struct {
	tx       any
	before   *completion     // earlier call, in a transaction that was rolled back; nil: none
	answered chan struct{}   // closed when the store has answered
	pending  *rota.PendingTx // valid once answered is closed; nil: the call was refused
}

// previousEndWait is how long CompleteTx waits until the store has found out what became of
// an earlier transaction of the run.
const previousEndWait = time.Second

func errCompletedAlready() error {
	return completeError(rota.Invalid, "the run is completed already, in this transaction or in another one",
		"roll this transaction back; call CompleteTx once, or again in a new transaction after a rollback")
}

// beginCompletion makes a call the completion of the run, unless there is another one. An
// earlier one in another transaction may have been rolled back without the knowledge of the
// store: see checkEarlier.
func (t *task) beginCompletion(tx any) (*completion, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.completion
	switch {
	case t.settled:
		return nil, completeError(rota.LeaseLost, "the run has ended: its handler has returned, or did not in time", "roll the transaction back")
	case last.committed(), last.open() && (sameTx(last.tx, tx) || !last.wasAnswered()):
		return nil, errCompletedAlready()
	}
	t.completion = &completion{tx: tx, before: last, answered: make(chan struct{})}
	return t.completion, nil
}

// checkEarlier refuses a completion if an earlier one was committed, or may still be. The
// store learns of the rollback of an earlier transaction at the latest when it is used in the
// next one: in SQLite that one holds the lock that the store would need before. A batch whose
// work is committed at once has changed nothing, because the run has been completed before.
func (c *completion) checkEarlier(ctx context.Context, applied *rota.PendingTx) error {
	if applied.Committed() {
		return errCompletedAlready()
	}
	ctx, done := context.WithTimeout(ctx, previousEndWait)
	defer done()
	if c.before.open() {
		select {
		case <-c.before.next():
		case <-ctx.Done():
		}
	}
	if c.before.open() || c.before.committed() {
		return errCompletedAlready()
	}
	return nil
}

// sameTx reports whether two values are the same transaction.
func sameTx(a, b any) bool {
	typ := reflect.TypeOf(a)
	return typ != nil && typ == reflect.TypeOf(b) && typ.Comparable() && a == b
}

// apply sends the end of the run, and progress that is not written yet.
func (c *completion) apply(ctx context.Context, t *task, result json.RawMessage) error {
	var pending *rota.PendingTx // nil also if the store panics
	defer func() { t.endCompletion(c, pending) }()
	end := []*ending{t.completedEnding(result)}
	commands := append(noteCommands(end), finishCommands(end)...)
	results, applied, err := rota.ApplyTx(ctx, t.pool.e.store, c.tx, rota.Batch{Commands: commands})
	if rota.CodeOf(err) == rota.Busy && c.before.open() { // it holds the row of the job
		return errCompletedAlready()
	}
	if err != nil {
		return err
	}
	last := results[len(results)-1]
	switch {
	case last.Err != nil:
		return last.Err
	case last.Reply.(*rota.Finished).Items[0].Code == rota.LeaseLost:
		return completeError(rota.LeaseLost, "the lease of the run was lost: the store has given the job to another attempt", "roll the transaction back")
	}
	if err := c.checkEarlier(ctx, applied); err != nil {
		return err
	}
	pending = applied
	return nil
}

// completedEnding is the end of a run that completes now. Its progress stays unwritten until
// the end of the transaction is known. The log goes on, so it is opened for its path.
func (t *task) completedEnding(result json.RawMessage) *ending {
	path := t.log.begin()
	t.mu.Lock()
	defer t.mu.Unlock()
	end := &ending{task: t, item: t.completedItem(path), at: time.Now()}
	end.item.Result = result
	if t.progressUnsent {
		end.note = &rota.NoteItem{LeaseRef: t.lease, Progress: t.progress}
	}
	return end
}

// endCompletion notes the answer of the store. A refused call leaves the state as it was.
func (t *task) endCompletion(c *completion, pending *rota.PendingTx) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.pending = pending; pending == nil {
		t.completion = c.before
	}
	c.before = nil
	close(c.answered)
}

// next returns a channel that is closed when the store has answered, and then one that is
// closed when the transaction has ended.
func (c *completion) next() <-chan struct{} {
	if c.wasAnswered() && c.pending != nil {
		return c.pending.Done()
	}
	return c.answered
}

// open reports whether it is not known yet what became of a completion.
func (c *completion) open() bool {
	switch {
	case c == nil:
		return false
	case !c.wasAnswered():
		return true
	}
	return c.pending != nil && !isClosed(c.pending.Done())
}

// wasAnswered reports whether the store has answered the call.
func (c *completion) wasAnswered() bool { return isClosed(c.answered) }

func (c *completion) committed() bool {
	return c != nil && c.wasAnswered() && c.pending != nil && c.pending.Committed()
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// lastCompletion returns the call of CompleteTx that decides the outcome, nil if there is none.
func (t *task) lastCompletion() *completion {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.completion
}

// completesLocked reports whether the end of the run is in a transaction that is open or
// committed: no other process takes its job, and its lease is not extended. The caller
// holds t.mu.
func (t *task) completesLocked() bool { return t.completion.open() || t.completion.committed() }

func (t *task) completes() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.completesLocked()
}

// uncommittedError is the error of a run whose transaction was not committed.
type uncommittedError struct{ err error } // of the handler; may be nil

func (e *uncommittedError) Error() string {
	text := "the transaction of engine.CompleteTx was not committed; commit it before the handler returns"
	if e.err != nil {
		text += "; error of the handler: " + e.err.Error()
	}
	return text
}

// Unwrap returns the error of the handler, which decides about the retry.
func (e *uncommittedError) Unwrap() error { return e.err }

// Code is the error code of the run.
func (e *uncommittedError) Code() string { return rota.CodeUncommitted }
