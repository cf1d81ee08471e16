package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
)

// reader implements the reads of the store on any connection: the store takes a connection of its
// pool for each read, a view keeps one.
type reader struct {
	// withConn calls use with a connection for one round trip.
	withConn func(ctx context.Context, act string, use func(*session) error) error
	// withSnapshot calls use with a connection on which several round trips read one snapshot.
	withSnapshot func(ctx context.Context, act string, use func(*session, context.Context) error) error
	// clockParam is the time that replaces PostgreSQL's clock in a read, or NULL.
	clockParam func(context.Context) param
}

// readMax is the time limit of a read, so that a server that does not answer is reported.
const readMax = 10 * time.Second

// query executes statements in one round trip.
func (s *reader) query(ctx context.Context, act string, statements ...statement) error {
	caller := ctx
	ctx, done := context.WithTimeout(ctx, readMax)
	defer done()
	err := s.withConn(ctx, act, func(c *session) error { return c.send(ctx, statements...) })
	if err != nil && ctx.Err() != nil && caller.Err() == nil {
		return &rota.Error{
			Code: rota.Unavailable, Act: "postgres: " + act, Reason: "PostgreSQL did not answer within " + readMax.String(), Err: err,
			Hint: "check that the server runs and can be reached",
		}
	}
	return err
}

const sqlSnapshot = `
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`

// withPoolSnapshot lets several round trips read one snapshot of the store.
func (s *Store) withPoolSnapshot(ctx context.Context, act string, use func(*session, context.Context) error) error {
	return s.withPoolConn(ctx, act, func(c *session) error {
		if err := c.send(ctx, statement{sql: sqlSnapshot}); err != nil {
			return err
		}
		defer c.endTransaction(ctx)
		return use(c, ctx)
	})
}

// withPoolConn takes a connection of the pool for a read.
func (s *Store) withPoolConn(ctx context.Context, act string, use func(*session) error) error {
	conn, err := s.acquire(ctx)
	if err == nil {
		err = s.useConn(conn, use)
	}
	return s.readFault(ctx, act, err)
}

// readFault reports why a read failed: the end of the context or of the store takes precedence over
// the error that it caused.
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

// useConn calls use with a connection and releases it afterwards.
func (s *Store) useConn(conn *pgxpool.Conn, use func(*session) error) error {
	defer conn.Release()
	return use(s.session(conn))
}

// clockOverride is the time of Config.Clock, or NULL without one.
func (s *Store) clockOverride(context.Context) param {
	if s.config.Clock == nil {
		return timeParam(time.Time{})
	}
	return timeParam(s.config.Clock())
}
