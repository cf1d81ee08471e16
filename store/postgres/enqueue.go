package postgres

import (
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
	sqlPutKeys = `
INSERT INTO rota_keys (type, key, execution_id, free_at, ended)
SELECT *
FROM unnest($1, $2, $3, $4, $5)
ON CONFLICT (type, key) DO UPDATE
SET execution_id = excluded.execution_id, free_at = excluded.free_at, ended = excluded.ended`
	sqlDeleteKeys = `
DELETE FROM rota_keys k
USING unnest($1, $2) AS v (type, key)
WHERE k.type = ANY (ARRAY[v.type]) AND k.key = v.key`
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

func (t *tx) writeKeys(changes []rules.Change[rules.UniqueKey, rules.UniqueKeyRecord]) {
	put := []*column{newColumn(oidTexts, 0), newColumn(oidTexts, 0), newColumn(oidIDs, 0), newColumn(oidInts, 0), newColumn(oidBools, 0)}
	gone := []*column{newColumn(oidTexts, 0), newColumn(oidTexts, 0)}
	for _, c := range changes {
		into := gone
		if c.Is != nil {
			into = put
		}
		into[0].Text(c.Key.Type)
		into[1].Text(c.Key.Key)
		if c.Is == nil {
			continue
		}
		put[2].ID(c.Is.ExecutionID)
		if c.Is.FreeAt == 0 {
			put[3].Null()
		} else {
			put[3].Int(c.Is.FreeAt)
		}
		put[4].Bool(c.Is.Ended)
	}
	if gone[0].count > 0 {
		t.write(statement{sql: sqlDeleteKeys, params: paramsOf(gone)})
	}
	if put[0].count > 0 {
		t.write(statement{sql: sqlPutKeys, params: paramsOf(put)})
	}
}

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
