package sqlite

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// view is the file as it stood at one moment: a connection of its own, in a
// transaction that ends with the view. While it lasts the log cannot be written
// back beyond that moment.
type view struct {
	reader
	store       *Store
	at          time.Time
	stopContext func() bool // stops minding the context that the view was taken with

	mu   sync.Mutex // held by the read under way
	conn *sqlite.Conn
}

// View is the store as it stands now, until it is closed, ctx ends or the store is
// closed.
func (s *Store) View(ctx context.Context) (rota.View, error) {
	if !s.longReads.begin() {
		return nil, errClosed()
	}
	defer s.longReads.active.Done()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	storeCtx, end := s.untilClosed(ctx)
	defer end()
	conn, err := s.views.takeConn(s, storeCtx)
	if err != nil {
		return nil, s.readFault(ctx, "view", err)
	}
	v := &view{store: s, conn: conn}
	v.reader = reader{withSnapshot: v.useSnapshot, now: v.Now}
	if err = v.begin(); err == nil && !s.views.add(v) {
		err = errClosed()
	}
	if err != nil {
		_ = conn.Close()
		return nil, s.readFault(ctx, "view", err)
	}
	v.stopContext = context.AfterFunc(ctx, func() { _ = v.end() })
	return v, nil
}

// begin takes the moment: SQLite does at the first look into the file.
func (v *view) begin() error {
	err := sqlitex.Execute(v.conn, "BEGIN", nil)
	if err == nil {
		_, err = getMeta(v.conn, metaVersion)
	}
	v.conn.SetInterrupt(nil)
	v.at = v.store.clock()
	return err
}

// Now is the time by the store's clock when the view was taken.
func (v *view) Now() time.Time { return v.at }

// Close gives the connection back.
func (v *view) Close() error {
	v.stopContext()
	return v.end()
}

func (v *view) end() error {
	v.store.views.remove(v)
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

// useSnapshot lends the view's connection for one read. The end of ctx and that of the
// store interrupt it, and leave the transaction as it is.
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
	return &rota.Error{Code: rota.Unavailable, Act: "sqlite: view", Reason: "the view is closed", Hint: "take another"}
}

// views are those that are open. A store that closes ends them, since it cannot
// know whether anybody else will.
type views struct {
	mu     sync.Mutex
	closed bool
	open   map[*view]struct{}
	idle   []*sqlite.Conn // of views that were closed, for the next
}

// idleConnsMax is how many connections are kept: to open one takes longer than most
// queries.
const idleConnsMax = 4

// takeConn is a connection that only reads: one that was kept, or another.
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

// keepConn keeps a connection for the next view, if there is room.
func (o *views) keepConn(conn *sqlite.Conn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.idle) == idleConnsMax {
		return false
	}
	o.idle = append(o.idle, conn)
	return true
}

// add is false once the store is closed.
func (o *views) add(v *view) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	if o.open == nil {
		o.open = map[*view]struct{}{}
	}
	o.open[v] = struct{}{}
	return true
}

func (o *views) remove(v *view) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, v)
}

// close ends all of them, each when its read under way has been interrupted.
func (o *views) close() (err error) {
	o.mu.Lock()
	o.closed = true
	all, idle := o.open, o.idle
	o.open, o.idle = nil, nil
	o.mu.Unlock()
	for v := range all {
		err = errors.Join(err, v.end())
	}
	for _, conn := range idle {
		err = errors.Join(err, conn.Close())
	}
	return err
}
