package sqlite

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// view is a snapshot of the store: a connection of its own in a transaction that ends with the
// view. While it is open, SQLite cannot write the log back beyond the snapshot.
type view struct {
	reader
	store       *Store
	at          time.Time
	stopContext func() bool // stops watching the context of View

	mu   sync.Mutex // held by a read
	conn *sqlite.Conn
}

// View returns a snapshot of the store. It lasts until it is closed, ctx ends or the store is
// closed.
func (s *Store) View(ctx context.Context) (rota.View, error) {
	if !s.longReads.begin() {
		return nil, errClosed()
	}
	defer s.longReads.active.Done()
	if err := firstError(ctx.Err, func() error { return s.catchUp(ctx) }); err != nil {
		return nil, err
	}
	storeCtx, end := s.untilClosed(ctx)
	defer end()
	conn, err := s.views.takeConn(s, storeCtx)
	if err != nil {
		return nil, s.readFault(ctx, "view", err)
	}
	v := &view{store: s, conn: conn}
	v.reader = newReader(v.useSnapshot, v.Now)
	if err = v.begin(); err == nil && !s.views.Add(v) {
		err = errClosed()
	}
	if err != nil {
		_ = conn.Close()
		return nil, s.readFault(ctx, "view", err)
	}
	v.stopContext = context.AfterFunc(ctx, func() { _ = v.end() })
	return v, nil
}

// begin takes the snapshot, which SQLite does at the first read.
func (v *view) begin() error {
	err := sqlitex.Execute(v.conn, "BEGIN", nil)
	if err == nil {
		_, err = getMeta(v.conn, metaVersion)
	}
	v.conn.SetInterrupt(nil)
	v.at = v.store.clock()
	return err
}

// Now returns the time of the store's clock when the view was taken.
func (v *view) Now() time.Time { return v.at }

// Close ends the view and releases its connection.
func (v *view) Close() error {
	v.stopContext()
	return v.end()
}

func (v *view) end() error {
	v.store.views.Remove(v)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conn == nil {
		return nil
	}
	conn := v.conn
	v.conn = nil
	if sqlitex.Execute(conn, "ROLLBACK", nil) == nil && v.store.views.keepConn(conn) {
		return nil
	}
	return fault("view", conn.Close()) // which ends the transaction
}

// useSnapshot calls use with the connection of the view. The end of ctx and Close of the store
// interrupt the read, but not the transaction.
func (v *view) useSnapshot(ctx context.Context, act string, use func(*sqlite.Conn) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.store.isClosed():
		return errClosed()
	case v.conn == nil:
		return errViewClosed()
	case ctx.Err() != nil:
		return ctx.Err()
	}
	storeCtx, end := v.store.untilClosed(ctx)
	defer end()
	v.conn.SetInterrupt(storeCtx.Done())
	defer v.conn.SetInterrupt(nil)
	return v.store.readFault(ctx, act, use(v.conn))
}

func errViewClosed() *rota.Error {
	return &rota.Error{Code: rota.Unavailable, Act: "sqlite: view", Reason: "the view is closed", Hint: "open another view"}
}

// views holds the open views, which the store ends when it closes, because their connections keep
// the file open.
type views struct {
	storekit.Views[*view]
	mu     sync.Mutex
	closed bool
	idle   []*sqlite.Conn // connections of closed views, for the next views
}

// idleConnsMax is the maximal number of kept connections. To open one takes longer than most
// queries.
const idleConnsMax = 4

// takeConn returns a read-only connection: a kept one, or a new one.
func (o *views) takeConn(s *Store, storeCtx context.Context) (*sqlite.Conn, error) {
	o.mu.Lock()
	n := len(o.idle)
	if n == 0 {
		o.mu.Unlock()
		return s.openReader(storeCtx)
	}
	conn := o.idle[n-1]
	o.idle = o.idle[:n-1]
	o.mu.Unlock()
	if err := s.file.checkInPlace(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	conn.SetInterrupt(storeCtx.Done())
	return conn, nil
}

// keepConn keeps a connection for the next view, unless enough are kept.
func (o *views) keepConn(conn *sqlite.Conn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.idle) == idleConnsMax {
		return false
	}
	o.idle = append(o.idle, conn)
	return true
}

// close ends all views, each after its current read was interrupted.
func (o *views) close() (err error) {
	o.Close(func(v *view) { err = errors.Join(err, v.end()) })
	o.mu.Lock()
	idle := o.idle
	o.closed, o.idle = true, nil
	o.mu.Unlock()
	for _, conn := range idle {
		err = errors.Join(err, conn.Close())
	}
	return err
}
