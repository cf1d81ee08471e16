package postgres

import (
	"errors"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// Jobs are inserted together, as one array for each column. Columns that are empty in all jobs are
// left out.
const insertInto = `
INSERT INTO rota_jobs (`

// insertColumns are the columns of a new job, then those of one that starts in the same transaction.
var (
	insertColumns = append(storekit.NewJob(), storekit.StartedJob()...)
	allFields     = fieldsUsed(1)<<len(insertColumns) - 1
	newFields     = len(storekit.NewJob())
	startedFields = allFields &^ (1<<newFields - 1)
)

func isStarted(j *rota.Job) bool { return j.Run != nil }

// insertJobs inserts new jobs. A few jobs that start in the same transaction are inserted as
// running. It returns the other changes of the new jobs.
func (t *tx) insertJobs(jobs []*rota.Job, changes []rules.JobChange) ([]rules.JobChange, error) {
	switch {
	case len(jobs) == 0:
		return changes, nil
	case len(jobs) >= copyMin && t.store.uses(Copy):
		return changes, t.copyJobs(t.columnsOf(jobs), jobs)
	}
	jobs, changes = withStarts(jobs, changes)
	t.write(t.insertStatement(jobs, t.writer.claimID))
	return changes, nil
}

// insertStatement returns the statement that inserts a few jobs. The first of those that start
// stores the claim's id.
func (t *tx) insertStatement(jobs []*rota.Job, claimID rota.ID) statement {
	used := t.columnsOf(jobs).roundUp()
	var params []param
	for i, of := range insertColumns {
		if used&(1<<i) == 0 {
			continue
		}
		c := newColumn(arrayOf[of.Kind], len(jobs))
		for _, j := range jobs {
			of.Write(c, j)
		}
		params = append(params, c.param())
	}
	a := statement{sql: insertSQL(used), params: params}
	if used&startedFields != 0 {
		a.params = append(a.params, idParam(claimID), idParam(firstStarted(jobs)))
		a.eachRow = func(r row) error {
			t.writer.xid = r.xid(0)
			return nil
		}
		t.noteChanged(slices.DeleteFunc(slices.Clone(jobs), func(j *rota.Job) bool { return !isStarted(j) }))
	}
	return a
}

// startFields are the fields that change when a job starts.
const startFields = rules.JobStatus | rules.JobStartedAt | rules.JobRun | rules.RunHeartbeat

// withStarts replaces each new job that only starts by its running state, and returns the remaining
// changes.
func withStarts(jobs []*rota.Job, changes []rules.JobChange) ([]*rota.Job, []rules.JobChange) {
	if len(changes) == 0 {
		return jobs, changes
	}
	starts := map[rota.ID]*rota.Job{}
	var others []rules.JobChange
	for _, c := range changes {
		if c.Fields == startFields && c.Job.Run.Open() {
			starts[c.Job.ID] = c.Job
		} else {
			others = append(others, c)
		}
	}
	jobs = slices.Clone(jobs)
	for i, j := range jobs {
		if started := starts[j.ID]; started != nil {
			jobs[i] = started
		}
	}
	return jobs, others
}

// firstStarted returns the job that stores the claim's id.
func firstStarted(jobs []*rota.Job) (id rota.ID) {
	if i := slices.IndexFunc(jobs, isStarted); i >= 0 {
		id = jobs[i].ID
	}
	return id
}

// insertSQL returns the statement that inserts jobs. If some of them start, the first of those
// stores the claim's id, and the statement returns the version of the rows.
func insertSQL(used fieldsUsed) string {
	names := used.names()
	places := make([]string, len(names))
	for i := range places {
		places[i] = "$" + itoa(i+1)
	}
	of := strings.Join(names, ", ")
	rows := `
FROM unnest(` + strings.Join(places, ", ") + `)`
	if used&startedFields == 0 {
		return insertInto + of + `)
SELECT *` + rows
	}
	claim, first := "$"+itoa(len(names)+1), "$"+itoa(len(names)+2)
	return `
WITH inserted AS (` + insertInto + of + `, claim_id)
SELECT v.*, CASE v.id WHEN ` + first + ` THEN ` + claim + ` END` + rows + ` AS v (` + of + `)
RETURNING 1)
SELECT pg_current_xact_id()::xid
FROM inserted
LIMIT 1`
}

const (
	sqlKeys = `
SELECT k.type, k.key, k.execution_id, k.free_at, k.ended, k.xmin
FROM unnest($1, $2) AS v (type, key)
JOIN rota_keys k ON k.type = ANY (ARRAY[v.type]) AND k.key = v.key`
	// Only the unique index decides which of two transactions inserts a key: a transaction of a caller
	// takes no other lock.
	sqlInsertKeys = `
WITH inserted AS (
  INSERT INTO rota_keys (type, key, execution_id, free_at, ended)
  SELECT *
  FROM unnest($1, $2, $3, $4, $5)
  ON CONFLICT (type, key) DO NOTHING
  RETURNING 1)
SELECT rota_expect(count(*), $6, $6)
FROM inserted`
	sqlUpdateKeys = `
WITH changed AS (
  UPDATE rota_keys k
  SET execution_id = v.execution_id, free_at = v.free_at, ended = v.ended
  FROM unnest($1, $2, $3, $4, $5, $6) AS v (type, key, execution_id, free_at, ended, version_seen)
  WHERE k.type = ANY (ARRAY[v.type]) AND k.key = v.key AND k.xmin = v.version_seen
  RETURNING 1)
SELECT rota_expect(count(*), $7, $7)
FROM changed`
	sqlDeleteKeys = `
WITH deleted AS (
  DELETE FROM rota_keys k
  USING unnest($1, $2, $3) AS v (type, key, version_seen)
  WHERE k.type = ANY (ARRAY[v.type]) AND k.key = v.key AND k.xmin = v.version_seen
  RETURNING 1)
SELECT rota_expect(count(*), $4, $4)
FROM deleted`
	// OFFSET 0 has each plan looked up by its key, as = ANY does in updateSQL.
	sqlPlans = `
SELECT v.n, j.id
FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS v (name, scope_kind, scope_id, plan_time, n)
CROSS JOIN LATERAL (
  SELECT j.id
  FROM rota_jobs j
  WHERE coalesce(j.name, j.type) = v.name AND coalesce(j.scope_kind, 'global') = v.scope_kind
    AND coalesce(j.scope_id, 'global') = v.scope_id AND j.plan_time = v.plan_time
    AND j.plan_time IS NOT NULL AND j.retry_of IS NULL
  OFFSET 0) j`
)

func (t *tx) loadKeys(keys []rules.UniqueKey, u *rules.UnitOfWork) []statement {
	if len(keys) == 0 {
		return nil
	}
	types, names := newColumn(oidTexts, len(keys)), newColumn(oidTexts, len(keys))
	for _, k := range keys {
		types.Text(k.Type)
		names.Text(k.Key)
		t.readSet.addLookup(rules.LockUniqueKey, rowKey{k.Type, k.Key})
	}
	return []statement{{sql: sqlKeys, params: []param{types.param(), names.param()}, eachRow: func(r row) error {
		k := rules.UniqueKey{Type: r.Text(0), Key: r.Text(1)}
		t.readSet.addRow(rules.LockUniqueKey, rowKey{k.Type, k.Key}, r.xid(5))
		rules.UniqueKeys.Put(u, &rules.UniqueKeyRecord{Key: k, ExecutionID: r.ID(2), FreeAt: r.Int(3), Ended: r.Bool(4)})
		return nil
	}}}
}

// writeKeys inserts keys that were absent, and changes the others in the version that was read.
func (t *tx) writeKeys(changes []rules.Change[rules.UniqueKey, rules.UniqueKeyRecord]) {
	inserted, changed, deleted := newKeyColumns(), newKeyColumns(), newKeyColumns()
	for _, c := range changes {
		switch {
		case c.Was == nil && c.Is == nil:
		case c.Is == nil:
			deleted.add(t, c.Was)
		case c.Was == nil:
			inserted.add(t, c.Is)
		default:
			changed.add(t, c.Is)
		}
	}
	var statements []statement
	if n := deleted.count(); n > 0 {
		statements = append(statements, statement{sql: sqlDeleteKeys, params: append(paramsOf([]*column{deleted.typ, deleted.key, deleted.version}), intParam(n))})
	}
	if n := changed.count(); n > 0 {
		statements = append(statements, statement{sql: sqlUpdateKeys, params: append(paramsOf(append(changed.values(), changed.version)), intParam(n))})
	}
	if n := inserted.count(); n > 0 {
		statements = append(statements, statement{sql: sqlInsertKeys, params: append(paramsOf(inserted.values()), intParam(n))})
	}
	for i := range statements {
		statements[i].onLockTimeout = func(err error) error { return &keyHeldError{err} }
	}
	t.write(t.withShortLockWait(statements)...)
}

// keyHeldError is a lock time-out at a unique key that a transaction has inserted or taken over and
// not committed. That may be one of a caller, which may stay open for long.
type keyHeldError struct{ error }

func (e *keyHeldError) Unwrap() error { return e.error }

// isRefusedAlone reports whether one command of a batch is to be refused and the others applied: a
// constraint refuses it, or it needs a unique key that another transaction holds.
func isRefusedAlone(err error) bool {
	var held *keyHeldError
	return errors.As(err, &held) || isConstraint(err)
}

const sqlLockTimeout = `
SELECT set_config('lock_timeout', $1, true)`

// withShortLockWait returns statements that execute some with a lock time-out of rota.TxLockWait.
func (t *tx) withShortLockWait(some []statement) []statement {
	if len(some) == 0 || t.caller != nil { // all waits of a caller are short
		return some
	}
	all := []statement{{sql: sqlLockTimeout, params: []param{textNotNull(callerLockTimeout)}}}
	all = append(all, some...)
	return append(all, statement{sql: sqlLockTimeout, params: []param{textNotNull(lockTimeout)}})
}

// keyColumns are unique keys as parameters, with the versions that were read.
type keyColumns struct{ typ, key, execution, freeAt, ended, version *column }

func newKeyColumns() *keyColumns {
	return &keyColumns{newColumn(oidTexts, 0), newColumn(oidTexts, 0), newColumn(oidIDs, 0), newColumn(oidInts, 0), newColumn(oidBools, 0), newColumn(oidXids, 0)}
}

func (k *keyColumns) add(t *tx, r *rules.UniqueKeyRecord) {
	k.typ.Text(r.Key.Type)
	k.key.Text(r.Key.Key)
	k.execution.ID(r.ExecutionID)
	if r.FreeAt == 0 {
		k.freeAt.Null()
	} else {
		k.freeAt.Int(r.FreeAt)
	}
	k.ended.Bool(r.Ended)
	k.version.xid(t.readSet.rows[rules.LockUniqueKey][rowKey{r.Key.Type, r.Key.Key}])
}

func (k *keyColumns) values() []*column {
	return []*column{k.typ, k.key, k.execution, k.freeAt, k.ended}
}

func (k *keyColumns) count() int64 { return int64(k.typ.count) }

func paramsOf(columns []*column) []param {
	params := make([]param, len(columns))
	for i, c := range columns {
		params[i] = c.param()
	}
	return params
}

func (t *tx) loadPlans(plans []rules.Plan, u *rules.UnitOfWork) []statement {
	if len(plans) == 0 {
		return nil
	}
	columns := []*column{newColumn(oidTexts, 0), newColumn(oidTexts, 0), newColumn(oidTexts, 0), newColumn(oidInts, 0)}
	for _, p := range plans {
		columns[0].Text(p.Name)
		columns[1].Text(p.ScopeKind)
		columns[2].Text(p.ScopeID)
		columns[3].Int(p.Time)
	}
	return []statement{{sql: sqlPlans, params: paramsOf(columns), eachRow: func(r row) error {
		rules.Plans.Put(u, plans[r.Int(0)-1], r.ID(1))
		return nil
	}}}
}
