package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
)

// view is a snapshot of the store: a connection of the pool in a transaction that ends with the
// view.
type view struct {
	reader
	store       *Store
	at          time.Time
	stopContext func() bool // stops watching the context of View

	mu   sync.Mutex // held by a read
	conn *pgxpool.Conn
}

// View returns a snapshot of the store. It lasts until it is closed, ctx ends or the store is
// closed.
func (s *Store) View(ctx context.Context) (rota.View, error) {
	select {
	case s.viewSemaphore <- struct{}{}:
	case <-s.closed:
		return nil, errClosed()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	conn, err := s.acquire(ctx)
	if err != nil {
		<-s.viewSemaphore
		return nil, s.readFault(ctx, "view", err)
	}
	v := &view{store: s, conn: conn}
	v.reader = reader{withConn: v.useConn, withSnapshot: v.useSnapshot}
	v.reader.init(v.Now)
	if err := v.begin(ctx); err != nil {
		v.release(ctx)
		return nil, s.readFault(ctx, "view", err)
	}
	if !s.views.Add(v) {
		v.release(ctx)
		return nil, errClosed()
	}
	v.stopContext = context.AfterFunc(ctx, v.end)
	return v, nil
}

// begin takes the snapshot, which PostgreSQL does at the first statement.
func (v *view) begin(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, readMax)
	defer done()
	return v.store.session(v.conn).send(ctx, statement{sql: sqlSnapshot}, statement{
		sql: sqlClockHere, params: []param{timeParam(v.store.clockOverride())},
		eachRow: func(r row) error {
			v.at = r.Time(0)
			return nil
		},
	})
}

// Now returns the time of the store's clock when the view was taken.
func (v *view) Now() time.Time { return v.at }

// Close releases the connection.
func (v *view) Close() error {
	v.stopContext()
	v.end()
	return nil
}

func (v *view) end() {
	v.store.views.Remove(v)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conn != nil {
		v.release(context.Background())
	}
}

func (v *view) release(ctx context.Context) {
	v.store.session(v.conn).endTransaction(ctx)
	v.conn.Release()
	v.conn = nil
	<-v.store.viewSemaphore
}

// connsForWork is the number of connections that views leave free for batches and other reads. A
// slow query may hold a view for long.
const connsForWork = 2

// useConn calls use with the view's connection. A read that fails may have ended the transaction;
// the reads after it return errViewSpent.
func (v *view) useConn(ctx context.Context, act string, use func(*session) error) error {
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
	c := v.store.session(v.conn)
	if !c.conn.IsClosed() && c.conn.TxStatus() != 'T' {
		return errViewSpent()
	}
	return v.store.readFault(ctx, act, use(c))
}

// useSnapshot is useConn, because all reads of a view see one snapshot.
func (v *view) useSnapshot(ctx context.Context, act string, use func(*session, context.Context) error) error {
	return v.useConn(ctx, act, func(c *session) error { return use(c, ctx) })
}

func errViewClosed() *rota.Error {
	return &rota.Error{Code: rota.Unavailable, Act: "postgres: view", Reason: "the view is closed", Hint: "open another view"}
}

func errViewSpent() *rota.Error {
	return &rota.Error{Code: rota.Unavailable, Act: "postgres: view", Reason: "an earlier read of the view failed", Hint: "open another view"}
}
