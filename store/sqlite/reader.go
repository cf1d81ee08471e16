package sqlite

import (
	"context"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// reader is what can be read of the file, however it comes by a connection: the
// store lends one of a few for each read, a view has one of its own.
type reader struct {
	// withSnapshot lends a connection that only reads, and on which all statements see one
	// state of the file.
	withSnapshot func(ctx context.Context, act string, use func(*sqlite.Conn) error) error
	// now is the time that goes with what is read.
	now func() time.Time
}

// withPoolSnapshot lends one of the store's readers, to be given back soon: there are few.
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

func (s *Store) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// inSnapshot lets several statements see one state of the file.
func inSnapshot(conn *sqlite.Conn, use func(*sqlite.Conn) error) error {
	if err := sqlitex.Execute(conn, "BEGIN", nil); err != nil {
		return err
	}
	defer func() {
		conn.SetInterrupt(nil) // whoever cancelled it, the transaction must end
		_ = sqlitex.Execute(conn, "ROLLBACK", nil)
	}()
	return use(conn)
}
