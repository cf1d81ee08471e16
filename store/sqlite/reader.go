package sqlite

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// newReader returns the reads on any connection: the store takes a connection of its pool for each
// read, a view keeps one. withSnapshot calls use with a read-only connection on which all statements
// read one snapshot, and now returns the time that belongs to the snapshot.
func newReader(withSnapshot func(ctx context.Context, act string, use func(*sqlite.Conn) error) error, now func() time.Time) reader {
	return reader{
		withSnapshot: withSnapshot,
		Reader: storekit.NewReader(storekit.Connection{
			Reads: &reads, Now: now,
			Query: func(ctx context.Context, act, sql string, each func(storekit.Row) error, args ...any) error {
				return withSnapshot(ctx, act, func(conn *sqlite.Conn) error { return query(conn, sql, each, args...) })
			},
			Snapshot: func(ctx context.Context, act string, use func(storekit.Querier) error) error {
				return withSnapshot(ctx, act, func(conn *sqlite.Conn) error { return use(querier{conn}) })
			},
		}),
	}
}

// reader implements the reads of the store.
type reader struct {
	storekit.Reader
	withSnapshot func(ctx context.Context, act string, use func(*sqlite.Conn) error) error
}

// querier executes queries on a connection.
type querier struct{ conn *sqlite.Conn }

func (q querier) Query(queries ...storekit.Query) error {
	for _, one := range queries {
		if err := query(q.conn, one.SQL, one.Each, one.Args...); err != nil {
			return err
		}
	}
	return nil
}

func query(conn *sqlite.Conn, sql string, each func(storekit.Row) error, args ...any) error {
	stmt, err := conn.Prepare(rewrite(sql))
	if err != nil {
		return err
	}
	if err := bind(stmt, sql, args); err != nil {
		return err
	}
	return rows(stmt, each)
}

// reads are the queries of the reads.
var reads = storekit.Reads{
	Searches: searches, List: listSQL, Index: func(q *rota.JobQuery) string { return indexedBy(listIndex(q)) }, Count: countStatements, IsDead: isDead,
	Group: sqlGroup, Groups: sqlGroups, SchedulesNext: sqlSchedulesNext, SchedulesNextEnabled: sqlSchedulesNextEnabled,
	SchedulesNextPaused: sqlSchedulesNextPaused, SchedulesNextOf: sqlSchedulesNextOf, DueSchedules: sqlDueSchedules,
	NextDue: sqlNextDue, Stats: sqlStats, Clock: `$1`, Ahead: sqlAhead, Before: sqlBefore, ReadyOfKey: sqlKeyQueueReady,
}

// withPoolSnapshot calls use with a connection of the pool. The pool is small, so use must be
// short.
func (s *Store) withPoolSnapshot(ctx context.Context, act string, use func(*sqlite.Conn) error) error {
	if s.isClosed() {
		return errClosed()
	}
	if err := s.catchUp(ctx); err != nil {
		return err
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
