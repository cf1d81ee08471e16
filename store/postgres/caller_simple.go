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
)

// A simple command in a transaction of the caller has a fast path. The plain way opens a savepoint,
// changes settings, reads and writes with a dozen statements, which PostgreSQL plans each time,
// because nothing may stay prepared in the caller's connection.
//
// The fast path decides on cached rows, an assumed time, and that there are no webhooks. One
// statement calls a function of the database that checks all of that and writes the job. If an
// assumption is wrong the function changes nothing, and the plain way is taken. The statement has a
// savepoint too, in the same round trip.

// errNotSimple is the error of a batch that no fast path takes.
var errNotSimple = errors.New("the batch is not one simple command")

// callerClockLag is how far the time of a job in a transaction of the caller may be behind the
// server's clock. The caller may commit at any time, so the exact time matters to nobody.
const callerClockLag = time.Second

// simpleCommand is a command that a function of the database may carry out.
type simpleCommand interface {
	// load puts the cached rows into the unit of work. What else is missing counts as absent.
	load(t *simpleTx, u *rules.UnitOfWork) error
	// keep keeps the decided changes until they are sent.
	keep(c *rules.Changes) error
	// statement calls the function. Its parameters follow those of the assumptions.
	statement(assumptions []param) statement
	// answer reads what the function returns before the transaction and the version of the row.
	answer(numbers []int64)
	// finish adds to the results and to the work what the rules did not know.
	finish(results []rota.Result, w *writer)
}

// simpleTx decides a simple command on assumptions. It implements rules.Tx.
type simpleTx struct {
	store   *Store
	ctx     context.Context
	command simpleCommand
	stamp   string    // of the webhooks
	now     time.Time // assumed
	changes *rules.Changes
	xid     int64
}

var (
	_ rules.Tx    = (*simpleTx)(nil)
	_ rules.Clock = (*simpleTx)(nil)
)

// applySimple applies a batch of one simple command, or returns errNotSimple.
func (s *Store) applySimple(ctx context.Context, conn *pgx.Conn, b rota.Batch) ([]rota.Result, *pendingWork, error) {
	known, _ := conn.PgConn().CustomData()[identityKey].(string)
	command := s.simpleCommandOf(b.Commands)
	if known != s.identity || command == nil {
		return nil, nil, errNotSimple
	}
	t := &simpleTx{store: s, ctx: ctx, command: command}
	results, err := rules.Apply(t, b)
	if err == nil && t.changes == nil { // refused, perhaps because of an assumption
		err = errNotSimple
	}
	if err == nil {
		err = t.send(&session{conn: conn.PgConn(), dialect: s.callerDialect})
	}
	if err != nil {
		return nil, nil, err
	}
	w := t.writer()
	command.finish(results, w)
	return results, &pendingWork{result: rota.NewPendingTx(), writer: w, xid: t.xid}, nil
}

// simpleCommandOf returns the command of a batch as a simple one, nil if it is none.
func (s *Store) simpleCommandOf(commands []rota.Command) simpleCommand {
	if len(commands) != 1 {
		return nil
	}
	switch c := commands[0].(type) {
	case *rota.Enqueue:
		if s.uses(CallerEnqueue) && isSimpleEnqueue(c) {
			return &simpleEnqueue{}
		}
	case *rota.Finish:
		if s.uses(CallerFinish) && isSimpleFinish(c) {
			return &simpleFinish{}
		}
	}
	return nil
}

// Now returns the assumed time.
func (t *simpleTx) Now() (rules.Reading, error) {
	if t.store.config.Clock != nil {
		return rules.Reading{}, errNotSimple
	}
	t.now, t.stamp = t.store.idlePath.assumeClock()
	if t.now.IsZero() {
		return rules.Reading{}, errNotSimple
	}
	return rules.Reading{Now: t.now, ReadAt: time.Now()}, nil
}

func (t *simpleTx) Load(u *rules.UnitOfWork) error { return t.command.load(t, u) }

// Lock does nothing: the function checks what was assumed.
func (t *simpleTx) Lock(*rules.UnitOfWork) (bool, error) { return false, nil }

// Hooks returns the webhooks in force. With any, the command is not simple. The function compares the
// stamp, which then has no part of templates.
func (t *simpleTx) Hooks() (*rules.Hooks, error) {
	inForce, known := t.store.hooks.get(t.stamp)
	if !known || inForce != nil || !t.store.uses(WebhookCache) {
		return nil, errNotSimple
	}
	return nil, nil
}

func (t *simpleTx) Write(c *rules.Changes) error {
	if err := t.command.keep(c); err != nil {
		return err
	}
	t.changes = c
	return nil
}

// send carries out the command, or returns errNotSimple if an assumption was wrong.
func (t *simpleTx) send(c *session) error {
	opened := false
	call := t.command.statement([]param{timeParam(t.now), intParam(callerClockLag.Microseconds()), textParam(t.stamp)})
	call.eachRow = t.scan
	err := c.send(t.ctx,
		statement{sql: sqlSavepoint, afterRows: func() { opened = true }}, call, statement{sql: sqlReleaseSavepoint})
	switch {
	case err != nil && opened:
		c.rollbackToSavepoint(t.ctx)
	case err == nil && t.xid == 0:
		return errNotSimple
	}
	return err
}

// scan reads the array that the function returns. Its last elements are the id of the transaction
// and the version of the written row. NULL means that an assumption was wrong.
func (t *simpleTx) scan(r row) error {
	const header, element = 20, 12 // of an array of bigint, and of one of its elements
	if r.Null(0) {
		return nil
	}
	var numbers []int64
	for at := header + 4; at+8 <= len(r[0]); at += element {
		numbers = append(numbers, int64(binary.BigEndian.Uint64(r[0][at:])))
	}
	if len(numbers) < 2 {
		return errPipeline
	}
	rest := len(numbers) - 2
	id, version := numbers[rest], numbers[rest+1]
	t.xid = id + (version-id)&math.MaxUint32 // the version has no epoch
	t.command.answer(numbers[:rest])
	return nil
}

// writer returns what follows from the command after the commit.
func (t *simpleTx) writer() *writer {
	w := &writer{watched: t.store.watch.Any() || t.store.bus.forwarder.wanted()}
	w.wakeup.Add(t.changes)
	if w.watched {
		w.events = append(w.events, rules.Events(t.changes))
		w.touched.add(t.changes)
	}
	return w
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

// versionParam is the version of a row, NULL for one that does not exist.
func versionParam(version uint32) param {
	if version == 0 {
		return param{oid: oidXid}
	}
	return xidParam(version)
}
