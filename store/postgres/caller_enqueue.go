package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// The enqueue of one simple job in a transaction of the caller is a fast path; see simpleTx. It
// decides on the cached type. It assumes that the job does not exist, that nobody holds its unique
// key, and that its priority is empty. The function rota_enqueue_one inserts the job behind the last
// one of its priority.

// sqlEnqueueOne has the parameters of simpleEnqueue.statement.
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

// isSimpleEnqueue reports whether a command may be one simple job. The columns of the job decide. A
// job whose id the caller has chosen may exist in another open transaction: the wait for that needs
// a savepoint.
func isSimpleEnqueue(c *rota.Enqueue) bool {
	if c == nil || len(c.Jobs) != 1 || len(c.Expect) > 0 {
		return false
	}
	j := &c.Jobs[0]
	return j.ID == rota.ID{} && j.Template == "" && j.ConcurrencyKey == nil && j.PlanTime.IsZero()
}

// simpleEnqueue is the enqueue of one simple job.
type simpleEnqueue struct {
	typeVersion uint32 // 0: the type is not declared
	job         *rota.Job
	free        int64 // when the unique key is free
}

var _ simpleCommand = (*simpleEnqueue)(nil)

func (e *simpleEnqueue) load(t *simpleTx, u *rules.UnitOfWork) error {
	if rules.MissesOther(u, rules.Types, rules.Tails, rules.UniqueKeys) || len(u.MissingJobs())+len(u.MissingLeases()) > 0 {
		return errNotSimple
	}
	for _, name := range rules.Types.Missing(u) {
		known, err := t.store.cachedType(t.ctx, name)
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

func (e *simpleEnqueue) keep(c *rules.Changes) error {
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
	e.job = j
	return nil
}

func (e *simpleEnqueue) statement(assumptions []param) statement {
	j := e.job
	return statement{sql: sqlEnqueueOne, params: append(assumptions, versionParam(e.typeVersion),
		idParam(j.ID), textNotNull(j.Type), intParam(int64(j.Hold)), intParam(int64(j.Priority)), intParam(int64(j.Policy.MaxAttempts)),
		intParam(j.Policy.Backoff.Microseconds()), optionalInt(j.Policy.BackoffMax.Microseconds()), optionalFloat(j.Policy.Jitter), intParam(j.Policy.Timeout.Microseconds()),
		timeParam(j.CreatedAt), timeParam(j.QueuedAt), timeParam(j.RunAt),
		textParam(j.UniqueKey), optionalInt(j.UniqueFor.Microseconds()), optionalInt(e.free),
		textParam(j.CreatedBy), textParam(j.Trace), textParam(j.Owner), textNotNull(string(j.Params)),
	)}
}

// answer reads the position of the last job of the priority.
func (e *simpleEnqueue) answer(numbers []int64) { e.job.Position = numbers[0] + rota.PositionGap }

func (e *simpleEnqueue) finish(results []rota.Result, _ *writer) {
	results[0].Reply.(*rota.Enqueued).Jobs[0].Job.Position = e.job.Position
}
