package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// The enqueue in a transaction of the caller is a fast path for one simple job. The plain way opens
// a savepoint, changes settings, reads and writes with a dozen statements, which PostgreSQL plans
// each time, because nothing may stay prepared in the caller's connection.
//
// The fast path decides on cached rows: the type, and that there are no webhooks. It assumes the
// time, that the job does not exist, that nobody holds its unique key, and that its priority is
// empty. The function rota_enqueue_one checks all of that in one statement and inserts the job
// behind the last one of its priority. If an assumption is wrong it changes nothing, and the plain
// way is taken. The statement has a savepoint too, in the same round trip.

// errNotSimple is the error of a batch that the fast path does not take.
var errNotSimple = errors.New("the batch is not one simple job")

// callerClockLag is how far the time of a job in a transaction of the caller may be behind the
// server's clock. The caller may commit at any time, so the exact time matters to nobody.
const callerClockLag = time.Second

// sqlEnqueueOne has the parameters of enqueueParams.
const sqlEnqueueOne = `
SELECT rota_enqueue_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`

// simpleColumns are the columns that the function writes.
var simpleColumns = func() (all fieldsUsed) {
	for i, c := range insertColumns {
		switch c.Name {
		case "id", "type", "hold", "priority", "position", "max_attempts", "backoff", "backoff_max", "jitter", "timeout",
			"created_at", "queued_at", "run_at", "unique_key", "unique_for", "created_by", "trace", "owner", "params":
			all |= 1 << i
		}
	}
	return all
}()

// enqueueInCaller enqueues one simple job, or returns errNotSimple.
func (s *Store) enqueueInCaller(ctx context.Context, conn *pgx.Conn, b rota.Batch) ([]rota.Result, *pendingWork, error) {
	known, _ := conn.PgConn().CustomData()[identityKey].(string)
	if !s.uses(CallerEnqueue) || known != s.identity || !isSimple(b.Commands) {
		return nil, nil, errNotSimple
	}
	e := &simpleEnqueue{store: s, ctx: ctx, watched: s.watch.Any() || s.bus.forwarder.wanted()}
	results, err := rules.Apply(e, b)
	if err == nil && e.job == nil { // refused, perhaps because of an assumption
		err = errNotSimple
	}
	if err == nil {
		err = e.send(&session{conn: conn.PgConn(), dialect: s.callerDialect})
	}
	if err != nil {
		return nil, nil, err
	}
	enqueued := results[0].Reply.(*rota.Enqueued)
	enqueued.Jobs[0].Job.Position = e.job.Position
	return results, e.pendingWork(), nil
}

// isSimple reports whether a batch may be one simple job. The columns of the job decide. A job whose
// id the caller has chosen may exist in another open transaction: the wait for that needs a savepoint.
func isSimple(commands []rota.Command) bool {
	if len(commands) != 1 {
		return false
	}
	c, is := commands[0].(*rota.Enqueue)
	if !is || c == nil || len(c.Jobs) != 1 || len(c.Expect) > 0 {
		return false
	}
	j := &c.Jobs[0]
	return j.ID == rota.ID{} && j.Template == "" && j.ConcurrencyKey == nil && j.PlanTime.IsZero()
}

// simpleEnqueue decides an enqueue on assumptions. It implements rules.Tx.
type simpleEnqueue struct {
	store       *Store
	ctx         context.Context
	watched     bool
	stamp       string    // of the webhooks
	now         time.Time // assumed
	typeVersion uint32    // 0: the type is not declared
	changes     *rules.Changes
	job         *rota.Job
	free        int64 // when the unique key is free
	xid         int64
}

var (
	_ rules.Tx    = (*simpleEnqueue)(nil)
	_ rules.Clock = (*simpleEnqueue)(nil)
)

// Now returns the assumed time.
func (e *simpleEnqueue) Now() (rules.Reading, error) {
	if e.store.config.Clock != nil {
		return rules.Reading{}, errNotSimple
	}
	e.now, e.stamp = e.store.idlePath.assumeClock()
	if e.now.IsZero() {
		return rules.Reading{}, errNotSimple
	}
	return rules.Reading{Now: e.now}, nil
}

// Load puts the cached type into the unit of work. What else is missing counts as absent.
func (e *simpleEnqueue) Load(u *rules.UnitOfWork) error {
	if rules.MissesOther(u, rules.Types, rules.Tails, rules.UniqueKeys) || len(u.MissingJobs())+len(u.MissingLeases()) > 0 {
		return errNotSimple
	}
	for _, name := range rules.Types.Missing(u) {
		known, err := e.store.cachedType(e.ctx, name)
		if err != nil {
			return err
		}
		e.typeVersion = known.version
		if known.row != nil {
			typ := known.row.(rota.Type)
			rules.Types.Put(u, &typ)
		}
	}
	return nil
}

// cachedType returns a type from the row cache. It reads an unknown one outside of the caller's
// transaction, unless that takes long: all connections of the pool may wait for rows that the
// caller's transaction has locked.
func (s *Store) cachedType(ctx context.Context, name string) (cachedRow, error) {
	at := rowKey{name: name}
	if known, is := s.rowCache.get(rules.LockType, at); is || !s.uses(RowCache) {
		if !is {
			return known, errNotSimple
		}
		return known, nil
	}
	read := cachedRow{}
	put := func(t *rota.Type) { read.row = *t }
	scan := scanInto(storekit.Types, put)
	ctx, done := context.WithTimeout(ctx, rota.TxLockWait)
	defer done()
	err := s.query(ctx, "type", statement{sql: sqlTypes, params: []param{textsParam([]string{name})}, eachRow: func(r row) error {
		read.version = r.xid(len(r) - 1)
		return scan(r)
	}})
	if err != nil {
		return read, errNotSimple
	}
	s.rowCache.set(rules.LockType, at, read)
	return read, nil
}

// Lock does nothing: the function checks what was assumed.
func (e *simpleEnqueue) Lock(*rules.UnitOfWork) (bool, error) { return false, nil }

// Hooks returns the webhooks in force. With any, the job is not simple. The function compares the
// stamp, which then has no part of templates.
func (e *simpleEnqueue) Hooks() (*rules.Hooks, error) {
	inForce, known := e.store.hooks.get(e.stamp)
	if !known || inForce != nil || !e.store.uses(WebhookCache) {
		return nil, errNotSimple
	}
	return nil, nil
}

// Write keeps the job until it is sent.
func (e *simpleEnqueue) Write(c *rules.Changes) error {
	if len(c.NewJobs) != 1 || !rules.InsertsOnly(c, rules.UniqueKeys) {
		return errNotSimple
	}
	j := c.NewJobs[0]
	if usedFields([]*rota.Job{j})&^simpleColumns != 0 || j.Position != rota.PositionGap {
		return errNotSimple
	}
	for _, key := range rules.UniqueKeys.Changes(c) {
		e.free = key.Is.FreeAt
	}
	e.changes, e.job = c, j
	return nil
}

// send inserts the job, or returns errNotSimple if an assumption was wrong.
func (e *simpleEnqueue) send(c *session) error {
	opened := false
	err := c.send(e.ctx,
		statement{sql: sqlSavepoint, afterRows: func() { opened = true }},
		statement{sql: sqlEnqueueOne, params: e.params(), eachRow: e.scan},
		statement{sql: sqlReleaseSavepoint})
	switch {
	case err != nil && opened:
		c.rollbackToSavepoint(e.ctx)
	case err == nil && e.xid == 0:
		return errNotSimple
	}
	return err
}

// scan reads the answer of the function: last position, transaction, version of the row.
func (e *simpleEnqueue) scan(r row) error {
	const header, element = 20, 12 // of an array of bigint, and of one of its elements
	if r.Null(0) || len(r[0]) < header+3*element {
		return nil
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(r[0][header+i*element+4:])) }
	e.job.Position = at(0) + rota.PositionGap
	e.xid = at(1) + (at(2)-at(1))&math.MaxUint32 // the version has no epoch
	return nil
}

func (e *simpleEnqueue) params() []param {
	j := e.job
	version := param{oid: oidXid}
	if e.typeVersion != 0 {
		version = xidParam(e.typeVersion)
	}
	return []param{
		timeParam(e.now), intParam(callerClockLag.Microseconds()), textParam(e.stamp), version,
		idParam(j.ID), textNotNull(j.Type), intParam(int64(j.Hold)), intParam(int64(j.Priority)), intParam(int64(j.Policy.MaxAttempts)),
		intParam(j.Policy.Backoff.Microseconds()), optionalInt(j.Policy.BackoffMax.Microseconds()), optionalFloat(j.Policy.Jitter), intParam(j.Policy.Timeout.Microseconds()),
		timeParam(j.CreatedAt), timeParam(j.QueuedAt), timeParam(j.RunAt),
		textParam(j.UniqueKey), optionalInt(j.UniqueFor.Microseconds()), optionalInt(e.free),
		textParam(j.CreatedBy), textParam(j.Trace), textParam(j.Owner), textNotNull(string(j.Params)),
	}
}

func optionalInt(n int64) param {
	if n == 0 {
		return param{oid: oidInt}
	}
	return intParam(n)
}

func optionalFloat(f float64) param {
	if f == 0 {
		return param{oid: oidFloat}
	}
	return param{oidFloat, binary.BigEndian.AppendUint64(nil, math.Float64bits(f))}
}

// pendingWork returns the work with its events.
func (e *simpleEnqueue) pendingWork() *pendingWork {
	w := &writer{watched: e.watched}
	w.wakeup.Add(e.changes)
	if e.watched {
		w.events = append(w.events, rules.Events(e.changes))
		w.touched.add(e.changes)
	}
	return &pendingWork{result: rota.NewPendingTx(), writer: w, xid: e.xid}
}
