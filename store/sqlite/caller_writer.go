package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// callerWriter applies batches in a transaction of a caller. It neither begins nor ends it, and reads
// and fills none of the caches of the store's writer: the transaction may be rolled back.
type callerWriter struct {
	writer
	saved    bool   // the savepoint is open; something was written since
	lost     bool   // SQLite has rolled the whole transaction back
	mark     string // last mark that was written; "": none
	previous string // mark that the first one has replaced; "" if no other work is pending
}

// SQLite rolls the whole transaction back if a trigger of the store refuses a write, and after some
// errors of the system. What the caller did next would then commit by itself. So the writes follow a
// savepoint: without it nothing would show whether the transaction that an error leaves is the same.
const (
	sqlSavepoint  = `SAVEPOINT rota_apply_tx`
	sqlRelease    = `RELEASE rota_apply_tx`
	sqlRollbackTo = `ROLLBACK TO rota_apply_tx; RELEASE rota_apply_tx`
)

const sqlSetMark = `
UPDATE rota_meta
SET value = $1
WHERE key = '` + metaTxMark + `'`

// applyHalves applies a batch, or its halves if a constraint refuses it.
func (w *callerWriter) applyHalves(b rota.Batch) ([]rota.Result, error) {
	return storekit.ApplyHalves(b, func(err error) bool { return !w.lost && isConstraint(err) }, w.apply)
}

// apply applies a batch. However it ends, also by a panic, nothing of a batch that failed stays in the
// transaction.
func (w *callerWriter) apply(b rota.Batch) (results []rota.Result, err error) {
	before := w.writer
	w.commands, w.audit, w.saved = b.Commands, nil, false
	applied := false
	defer func() {
		if !applied {
			w.writer = before
			err = w.undo(err)
		}
	}()
	results, err = rules.Apply(w, b)
	if err == nil {
		err = w.sealAudit()
	}
	if err == nil && w.saved {
		err = w.finish()
	}
	if err != nil {
		return nil, fault("apply", err)
	}
	applied = true
	return results, nil
}

// Write executes the changes that the rules decided.
func (w *callerWriter) Write(c *rules.Changes) error {
	if !w.saved {
		if err := w.caller.exec(sqlSavepoint); err != nil {
			return err
		}
		w.saved = true
	}
	return w.writer.Write(c)
}

// finish writes the mark and ends the savepoint. It reads the mark that it replaces only if the chain of
// marks may matter: other work is pending.
func (w *callerWriter) finish() error {
	mark, previous := rota.NewID().String(), w.previous
	if w.mark == "" && w.pending.any() {
		var err error
		if previous, err = w.caller.text(sqlTxMark); err != nil {
			return err
		}
	}
	err := w.change(sqlSetMark, mark)
	if err == nil && w.changed() != 1 {
		err = &rota.Error{
			Code: rota.Internal, Act: "sqlite: apply", Reason: "a row of rota_meta that Open has written is missing",
			Hint: "another program has changed the file; open the store again",
		}
	}
	if err == nil {
		err = w.caller.exec(sqlRelease)
	}
	if err == nil {
		w.mark, w.previous = mark, previous
	}
	return err
}

// undo rolls back to the savepoint. If SQLite has ended the transaction, it ends the caller's *sql.Tx, so
// that no later statement of the caller commits by itself.
func (w *callerWriter) undo(cause error) error {
	open, err := w.caller.text(sqlCallerOpen)
	if err == nil && open == "1" {
		if w.saved {
			err = w.caller.exec(sqlRollbackTo)
		}
		if err == nil {
			return cause
		}
	}
	w.lost = true
	_ = w.caller.tx.Rollback()
	lost := &rota.Error{
		Code: rota.CodeOf(cause), Act: "sqlite: apply", Reason: "the whole transaction of the caller was rolled back", Err: cause,
		Hint: "begin another transaction and repeat all that this one did",
	}
	if lost.Code == "" || lost.Code == rota.Invalid || lost.Code == rota.Busy { // these leave a transaction usable
		lost.Code = rota.Internal
	}
	return lost
}
