package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Jobs are inserted together, however many they are, column by column.
const sqlInsertJobs = `
INSERT INTO rota_jobs (
  id, execution_id, retry_of, type, hold, priority, position, attempt, max_attempts,
  backoff, backoff_max, jitter, timeout, created_at, queued_at, run_at, plan_time,
  scope_kind, scope_id, name, unique_key, unique_for, created_by, params,
  template, schedule, group_id, group_position, concurrency_key, counts_at, wait_from, wait_until, redrive_of, trace)
SELECT *
FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
  $25, $26, $27, $28, $29, $30, $31, $32, $33, $34)`

// insertColumns are the columns in their order, and what of a job stands in them.
var insertColumns = []struct {
	oid uint32
	put func(c *column, j *rota.Job)
}{
	{oidIDs, func(c *column, j *rota.Job) { c.bytes(j.ID[:]) }},
	{oidIDs, func(c *column, j *rota.Job) {
		if j.RetryOf.IsZero() {
			c.null()
			return
		}
		c.id(j.ExecutionID)
	}},
	{oidIDs, func(c *column, j *rota.Job) { c.id(j.RetryOf) }},
	{oidTexts, func(c *column, j *rota.Job) { c.textAlways(j.Type) }},
	{oidInts, func(c *column, j *rota.Job) { c.int(int64(j.Hold)) }},
	{oidInts, func(c *column, j *rota.Job) { c.int(int64(j.Priority)) }},
	{oidInts, func(c *column, j *rota.Job) { c.int(j.Position) }},
	{oidInts, func(c *column, j *rota.Job) { c.int(int64(j.Attempt)) }},
	{oidInts, func(c *column, j *rota.Job) { c.int(int64(j.Policy.MaxAttempts)) }},
	{oidInts, func(c *column, j *rota.Job) { c.int(j.Policy.Backoff.Microseconds()) }},
	{oidInts, func(c *column, j *rota.Job) { c.duration(j.Policy.BackoffMax) }},
	{oidFloats, func(c *column, j *rota.Job) { c.float(j.Policy.Jitter) }},
	{oidInts, func(c *column, j *rota.Job) { c.int(j.Policy.Timeout.Microseconds()) }},
	{oidInts, func(c *column, j *rota.Job) { c.time(j.CreatedAt) }},
	{oidInts, func(c *column, j *rota.Job) { c.time(j.QueuedAt) }},
	{oidInts, func(c *column, j *rota.Job) { c.time(j.RunAt) }},
	{oidInts, func(c *column, j *rota.Job) { c.time(j.PlanTime) }},
	{oidTexts, func(c *column, j *rota.Job) { c.text(j.ScopeKind) }},
	{oidTexts, func(c *column, j *rota.Job) { c.text(j.ScopeID) }},
	{oidTexts, func(c *column, j *rota.Job) { c.text(j.Name) }},
	{oidTexts, func(c *column, j *rota.Job) { c.text(j.UniqueKey) }},
	{oidInts, func(c *column, j *rota.Job) { c.duration(j.UniqueFor) }},
	{oidTexts, func(c *column, j *rota.Job) { c.text(j.CreatedBy) }},
	{oidTexts, func(c *column, j *rota.Job) { c.textAlways(string(j.Params)) }},
	{oidTexts, func(c *column, j *rota.Job) { c.text(j.Template) }},
	{oidTexts, func(c *column, j *rota.Job) { c.text(j.Schedule) }},
	{oidIDs, func(c *column, j *rota.Job) { c.id(j.GroupID) }},
	{oidInts, func(c *column, j *rota.Job) {
		if j.GroupID.IsZero() {
			c.null()
			return
		}
		c.int(int64(j.GroupPosition))
	}},
	{oidTexts, func(c *column, j *rota.Job) { c.text(j.ConcurrencyKey) }},
	{oidInts, func(c *column, j *rota.Job) { c.time(j.CountsAt) }},
	{oidInts, func(c *column, j *rota.Job) { c.time(j.WaitFrom) }},
	{oidInts, func(c *column, j *rota.Job) { c.time(j.WaitUntil) }},
	{oidIDs, func(c *column, j *rota.Job) { c.id(j.RedriveOf) }},
	{oidTexts, func(c *column, j *rota.Job) { c.text(j.Trace) }},
}

func (t *tx) insertJobs(jobs []*rota.Job) {
	if len(jobs) == 0 {
		return
	}
	params := make([]param, len(insertColumns))
	for i, of := range insertColumns {
		c := newColumn(of.oid, len(jobs))
		for _, j := range jobs {
			of.put(c, j)
		}
		params[i] = c.param()
	}
	t.write(ask{sql: sqlInsertJobs, params: params})
}

const (
	sqlKeys = `
SELECT k.type, k.key, k.execution_id, k.free_at, k.ended, k.xmin
FROM unnest($1, $2) AS v (type, key)
JOIN rota_keys k ON k.type = v.type AND k.key = v.key`
	sqlPutKeys = `
INSERT INTO rota_keys (type, key, execution_id, free_at, ended)
SELECT *
FROM unnest($1, $2, $3, $4, $5)
ON CONFLICT (type, key) DO UPDATE
SET execution_id = excluded.execution_id, free_at = excluded.free_at, ended = excluded.ended`
	sqlDeleteKeys = `
DELETE FROM rota_keys k
USING unnest($1, $2) AS v (type, key)
WHERE k.type = v.type AND k.key = v.key`
	sqlPlans = `
SELECT v.n, j.id
FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS v (name, scope_kind, scope_id, plan_time, n)
JOIN rota_jobs j ON coalesce(j.name, j.type) = v.name AND coalesce(j.scope_kind, 'global') = v.scope_kind
  AND coalesce(j.scope_id, 'global') = v.scope_id AND j.plan_time = v.plan_time
  AND j.plan_time IS NOT NULL AND j.retry_of IS NULL`
)

func (t *tx) loadKeys(keys []rules.Key, w *rules.World) []ask {
	if len(keys) == 0 {
		return nil
	}
	types, names := newColumn(oidTexts, len(keys)), newColumn(oidTexts, len(keys))
	for _, k := range keys {
		types.textAlways(k.Type)
		names.textAlways(k.Key)
		t.seen.asked(classKey, seat{k.Type, k.Key})
	}
	return []ask{{sql: sqlKeys, params: []param{types.param(), names.param()}, each: func(r row) error {
		k := rules.Key{Type: r.text(0), Key: r.text(1)}
		t.seen.named(classKey, seat{k.Type, k.Key}, r.xid(5))
		w.PutKey(rules.KeyRecord{Key: k, ExecutionID: r.id(2), FreeAt: r.int(3), Ended: r.bool(4)})
		return nil
	}}}
}

func (t *tx) writeKeys(changes []rules.Change[rules.Key, rules.KeyRecord]) {
	put := []*column{newColumn(oidTexts, 0), newColumn(oidTexts, 0), newColumn(oidIDs, 0), newColumn(oidInts, 0), newColumn(oidBools, 0)}
	gone := []*column{newColumn(oidTexts, 0), newColumn(oidTexts, 0)}
	for _, c := range changes {
		into := gone
		if c.Is != nil {
			into = put
		}
		into[0].textAlways(c.Key.Type)
		into[1].textAlways(c.Key.Key)
		if c.Is == nil {
			continue
		}
		put[2].id(c.Is.ExecutionID)
		if c.Is.FreeAt == 0 {
			put[3].null()
		} else {
			put[3].int(c.Is.FreeAt)
		}
		put[4].bool(c.Is.Ended)
	}
	if gone[0].count > 0 {
		t.write(ask{sql: sqlDeleteKeys, params: paramsOf(gone)})
	}
	if put[0].count > 0 {
		t.write(ask{sql: sqlPutKeys, params: paramsOf(put)})
	}
}

func paramsOf(columns []*column) []param {
	params := make([]param, len(columns))
	for i, c := range columns {
		params[i] = c.param()
	}
	return params
}

func (t *tx) loadPlans(plans []rules.Plan, w *rules.World) []ask {
	if len(plans) == 0 {
		return nil
	}
	columns := []*column{newColumn(oidTexts, 0), newColumn(oidTexts, 0), newColumn(oidTexts, 0), newColumn(oidInts, 0)}
	for _, p := range plans {
		columns[0].textAlways(p.Name)
		columns[1].textAlways(p.ScopeKind)
		columns[2].textAlways(p.ScopeID)
		columns[3].int(p.Time)
	}
	return []ask{{sql: sqlPlans, params: paramsOf(columns), each: func(r row) error {
		w.PutPlan(plans[r.int(0)-1], r.id(1))
		return nil
	}}}
}
