package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// reader implements the reads of the store on any connection: the store takes a connection of its
// pool for each read, a view keeps one.
type reader struct {
	storekit.Reader
	// withConn calls use with a connection for one round trip.
	withConn func(ctx context.Context, act string, use func(*session) error) error
	// withSnapshot calls use with a connection on which several round trips read one snapshot.
	withSnapshot func(ctx context.Context, act string, use func(*session, context.Context) error) error
}

// init sets the reads of storekit. now returns the time that replaces PostgreSQL's clock, or zero.
func (s *reader) init(now func() time.Time) {
	s.Reader = storekit.NewReader(storekit.Connection{
		Reads: &reads, Now: now,
		Query: func(ctx context.Context, act, sql string, each func(storekit.Row) error, args ...any) error {
			one := statementOf(sql, each, args)
			one.varies = varying[act]
			return s.query(ctx, act, append(settingsOf[act], one)...)
		},
		Snapshot: func(ctx context.Context, act string, use func(storekit.Querier) error) error {
			return s.withSnapshot(ctx, act, func(c *session, ctx context.Context) error {
				if err := c.send(ctx, withoutJIT); err != nil {
					return err
				}
				return use(querier{c, ctx})
			})
		},
	})
}

// varying are the reads whose statements contain only the requested filters. There are too many texts to prepare each
// on every connection, and PostgreSQL plans each by its values.
var varying = map[string]bool{"list": true, "count": true}

// querier sends queries in one round trip.
type querier struct {
	*session
	ctx context.Context
}

func (q querier) Query(queries ...storekit.Query) error {
	statements := make([]statement, len(queries))
	for i, one := range queries {
		statements[i] = statementOf(one.SQL, one.Each, one.Args)
	}
	return q.send(q.ctx, statements...)
}

// reads are the queries of the reads.
var reads = storekit.Reads{
	Searches: searches, List: listSQL, Index: func(*rota.JobQuery) string { return "" }, Count: countSQL, IsDead: isDead,
	Group: sqlCountedGroup, Groups: sqlCountedGroups, SchedulesNext: sqlSchedulesNext, SchedulesNextEnabled: sqlSchedulesNextEnabled,
	SchedulesNextPaused: sqlSchedulesNextPaused, SchedulesNextOf: sqlSchedulesNextOf, DueSchedules: sqlDueSchedules,
	NextDue: sqlNextDue, Stats: sqlStats, Clock: clockHere, Ahead: sqlAhead, Before: sqlBefore, ReadyOfKey: sqlKeyQueueReady,
}

// settingsOf are the settings of some reads. They last for the pipeline.
var settingsOf = map[string][]statement{
	"list": {withoutJIT, indexScansOnly}, "count": {withoutJIT}, "stats": {withoutJIT}, "prunable": {withoutJIT}, "next due": {withoutSeqScan},
}

var (
	// withoutJIT goes before statements with recursive queries. The planner overestimates them and
	// would compile the statement for a second to run it for milliseconds.
	withoutJIT = statement{sql: `
SELECT set_config('jit', 'off', true)`}
	// indexScansOnly goes before lists, which read an index in its order and stop. A plan that was made
	// without statistics reads and sorts all rows that an index has.
	indexScansOnly = statement{sql: `
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`}
	// withoutSeqScan goes before statements that every engine sends all the time. A plan that was
	// made while the table was empty scans it whole, and PostgreSQL keeps it when there are a million
	// jobs.
	withoutSeqScan = statement{sql: `
SELECT set_config('enable_seqscan', 'off', true)`}
)

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
