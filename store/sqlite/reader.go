package sqlite

import (
	"context"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// reader implements the reads of the store on any connection: the store takes a connection of its
// pool for each read, a view keeps one.
type reader struct {
	// withSnapshot calls use with a read-only connection on which all statements read one snapshot.
	withSnapshot func(ctx context.Context, act string, use func(*sqlite.Conn) error) error
	// now returns the time that belongs to the snapshot.
	now func() time.Time
}

// withPoolSnapshot calls use with a connection of the pool. The pool is small, so use must be
// short.
func (s *Store) withPoolSnapshot(ctx context.Context, act string, use func(*sqlite.Conn) error) error {
	if s.isClosed() {
		return errClosed()
	}
	conn, err := s.readers.Take(ctx)
	if err == nil {
		err = inSnapshot(conn, use)
		s.readers.Put(conn)
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

func (s *Store) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// inSnapshot lets several statements read one snapshot.
func inSnapshot(conn *sqlite.Conn, use func(*sqlite.Conn) error) error {
	if err := sqlitex.Execute(conn, "BEGIN", nil); err != nil {
		return err
	}
	defer func() {
		conn.SetInterrupt(nil) // end the transaction also after an interrupt
		_ = sqlitex.Execute(conn, "ROLLBACK", nil)
	}()
	return use(conn)
}
