package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

var _ rota.TxStore = (*Store)(nil)

// ApplyTx applies a batch in a transaction of the caller: a *sql.Tx of the driver modernc.org/sqlite, on
// the file of this store. It takes the write lock of the file, which the transaction holds until it
// ends, also if all commands are refused. Until then Apply waits, and returns Unavailable after 10
// seconds.
//
// If SQLite ends the transaction because of an error, ApplyTx rolls the *sql.Tx back too, so that its
// later statements fail with sql.ErrTxDone. Calls that use one transaction at the same time run one after
// the other. Other statements of the caller must not run during a call: they are undone if the call
// fails.
func (s *Store) ApplyTx(ctx context.Context, tx any, b rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	callerTx, err := sqlTx(tx)
	if err == nil {
		err = s.mayApplyTx()
	}
	if err == nil {
		err = storekit.CheckTxBatch(b)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	defer s.callers.begin(callerTx)()
	caller := &callerConn{tx: callerTx, injectFault: s.config.injectFault}
	if err := s.checkCaller(caller); err != nil {
		return nil, nil, err
	}
	if err := caller.lock(ctx); err != nil {
		return nil, nil, err
	}
	w := &callerWriter{writer: writer{
		caller: caller, pending: &s.pending, watch: &s.watch, watched: true, // a watcher may come before the commit
		clock: rules.Reading{Now: s.config.Clock(), ReadAt: time.Now()},
	}}
	results, err := w.applyHalves(b)
	if err != nil {
		return nil, nil, err
	}
	return results, s.pending.add(w), nil
}

// sqlTx returns the transaction that a caller passes to ApplyTx.
func sqlTx(tx any) (*sql.Tx, error) {
	switch tx := tx.(type) {
	case nil:
		return nil, invalidTx("is nil", "pass the *sql.Tx that db.BeginTx has returned", nil)
	case *sql.Tx:
		if tx == nil {
			return nil, invalidTx("is a nil *sql.Tx", "pass the *sql.Tx that db.BeginTx has returned", nil)
		}
		return tx, nil
	}
	return nil, invalidTx(fmt.Sprintf("is a %T; the SQLite store takes a *sql.Tx", tx), hintDriver, nil)
}

const hintDriver = `open the store's file with sql.Open("sqlite", path) and the driver modernc.org/sqlite, and pass a *sql.Tx of it`

func invalidTx(reason, hint string, cause error) error {
	return &rota.Error{Code: rota.Invalid, Act: "sqlite: apply", Field: "tx", Reason: reason, Hint: hint, Err: cause}
}

func txIsOver(cause error) error {
	return invalidTx("is over", "call ApplyTx before Commit and Rollback", cause)
}

func (s *Store) mayApplyTx() error {
	switch {
	case s.config.ReadOnly:
		return invalidTx("belongs to a store that is open read-only", "open the store without ReadOnly to change it", nil)
	case s.isClosed():
		return invalidTx("belongs to a store that is closed", "open the store again", nil)
	}
	return nil
}

// checkCaller refuses a transaction that is not of this store's copy of SQLite, or not on its file.
func (s *Store) checkCaller(c *callerConn) error {
	path, columns := "", 0
	err := c.query(sqlCallerFile, func(r storekit.Row) error {
		path, columns = r.Text(0), r.Len()
		return nil
	}, nil)
	switch {
	case errors.Is(err, sql.ErrTxDone):
		return txIsOver(err)
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return invalidTx("is over, because its context has ended", "begin another transaction", err)
	case isFailure(err):
		return fault("apply", err)
	case err != nil:
		return invalidTx("is a transaction of another driver than modernc.org/sqlite", hintDriver, err)
	case columns != 2:
		return invalidTx("is a transaction of another database than SQLite", hintDriver, nil)
	}
	return s.checkCallerFile(path)
}

// isFailure reports whether a statement failed for another reason than a missing function.
func isFailure(err error) bool {
	code, has := callerCode(err)
	return has && code != sqlite.ResultError
}

// checkCallerFile refuses any other file than the store's, and another name of that file: SQLite keeps
// the log beside the name that was opened.
func (s *Store) checkCallerFile(path string) error {
	if path == "" {
		return invalidTx("is a transaction on a database in memory", hintDriver, nil)
	}
	info, err := os.Stat(path)
	if err != nil || !os.SameFile(info, s.file.info) {
		return invalidTx(fmt.Sprintf("is a transaction on %s; the file of the store is %s", path, s.file.path), hintDriver, err)
	}
	if path == s.file.path {
		return nil
	}
	dir, err := os.Stat(filepath.Dir(path))
	own, ownErr := os.Stat(filepath.Dir(s.file.path))
	if err != nil || ownErr != nil || !os.SameFile(dir, own) || filepath.Base(path) != filepath.Base(s.file.path) {
		return invalidTx(fmt.Sprintf("is a transaction on %s, a second name (a hard link) of the file of the store, %s", path, s.file.path),
			"open the file by the name by which the store was opened", errors.Join(err, ownErr))
	}
	return nil
}

// lockRetry is the time between two attempts to take the write lock. SQLite does not wait for it in a
// transaction that has read before.
const lockRetry = time.Millisecond

// lock takes the write lock.
func (c *callerConn) lock(ctx context.Context) error {
	deadline := time.Now().Add(rota.TxLockWait)
	for {
		err := c.tryLock(max(0, time.Until(deadline)))
		if !isBusy(err) {
			return lockFault(err)
		}
		if resultCode(err) == sqlite.ResultBusySnapshot {
			return &rota.Error{
				Code: rota.Busy, Act: "sqlite: apply", Reason: "another transaction has written to the file since this one first read from it", Err: err,
				Hint: "roll back and repeat the transaction; " + hintImmediate,
			}
		}
		if time.Until(deadline) <= 0 {
			return &rota.Error{
				Code: rota.Busy, Act: "sqlite: apply", Reason: "another transaction writes to the file", Err: err,
				Hint: "end that transaction, then call ApplyTx again; " + hintImmediate,
			}
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const hintImmediate = "open the database with _txlock=immediate, so that a transaction waits when it begins"

func lockFault(err error) error {
	switch {
	case errors.Is(err, sql.ErrTxDone):
		return txIsOver(err)
	case err != nil && resultCode(err).ToPrimary() == sqlite.ResultReadOnly:
		return invalidTx("is a read-only transaction", "use a connection that may write: without mode=ro, and with PRAGMA query_only = 0", err)
	}
	return fault("apply", err)
}

func (c *callerConn) tryLock(wait time.Duration) error {
	_, err := c.text(sqlCallerLock, wait.Milliseconds())
	return err
}

// callerCalls lets the calls that use one transaction run one after the other.
type callerCalls struct {
	mu     sync.Mutex
	active map[*sql.Tx]chan struct{} // closed at the end of the call
}

func (c *callerCalls) begin(tx *sql.Tx) (end func()) {
	for {
		c.mu.Lock()
		other := c.active[tx]
		if other == nil {
			break
		}
		c.mu.Unlock()
		<-other
	}
	defer c.mu.Unlock()
	done := make(chan struct{})
	if c.active == nil {
		c.active = map[*sql.Tx]chan struct{}{}
	}
	c.active[tx] = done
	return func() {
		c.mu.Lock()
		delete(c.active, tx)
		c.mu.Unlock()
		close(done)
	}
}
