package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
)

// reader is what can be read of the store, however it comes by a connection: the
// store lends one of its pool for each read, a view keeps one.
type reader struct {
	// withConn lends a connection for one round trip.
	withConn func(ctx context.Context, act string, use func(*session) error) error
	// withSnapshot lends one on which several round trips see one state of the store.
	withSnapshot func(ctx context.Context, act string, use func(*session, context.Context) error) error
	// clockParam stands in for PostgreSQL's clock where another time goes with what
	// is read.
	clockParam func(context.Context) param
}

// readMax is how long a read may take: a server that does not answer is to be
// heard of.
const readMax = 10 * time.Second

// query asks in one round trip.
func (s *reader) query(ctx context.Context, act string, statements ...statement) error {
	caller := ctx
	ctx, done := context.WithTimeout(ctx, readMax)
	defer done()
	err := s.withConn(ctx, act, func(c *session) error { return c.send(ctx, statements...) })
	if err != nil && ctx.Err() != nil && caller.Err() == nil {
		return &rota.Error{
			Code: rota.Unavailable, Act: "postgres: " + act, Reason: "PostgreSQL has not answered for " + readMax.String(), Err: err,
			Hint: "see that it runs and can be reached",
		}
	}
	return err
}

const sqlSnapshot = `
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`

// withPoolSnapshot lets several round trips see one state of the store.
func (s *Store) withPoolSnapshot(ctx context.Context, act string, use func(*session, context.Context) error) error {
	return s.withPoolConn(ctx, act, func(c *session) error {
		if err := c.send(ctx, statement{sql: sqlSnapshot}); err != nil {
			return err
		}
		defer c.endTransaction(ctx)
		return use(c, ctx)
	})
}

// withPoolConn lends a connection of the pool to read.
func (s *Store) withPoolConn(ctx context.Context, act string, use func(*session) error) error {
	conn, err := s.acquire(ctx)
	if err == nil {
		err = s.useConn(conn, use)
	}
	return s.readFault(ctx, act, err)
}

// readFault says why a read failed: what ended it comes before what it met.
func (s *Store) readFault(ctx context.Context, act string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case s.isClosed():
		return errClosed()
	}
	return fault(act, err)
}

// useConn lends a connection, and takes it back whatever happens.
func (s *Store) useConn(conn *pgxpool.Conn, use func(*session) error) error {
	defer conn.Release()
	return use(s.session(conn))
}

// clockOverride stands in for PostgreSQL's clock where a test has set one.
func (s *Store) clockOverride(context.Context) param {
	if s.config.Clock == nil {
		return timeParam(time.Time{})
	}
	return timeParam(s.config.Clock())
}
