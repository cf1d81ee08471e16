package postgres

import (
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Jobs are inserted together. A few are sent with the other writes, as one array for each column.
// Many are sent with COPY, which costs a round trip of its own and half the time for each job.
// Columns that are empty in all jobs are left out.
const (
	insertInto = `
INSERT INTO rota_jobs (`
	copyInto = `
COPY rota_jobs (`
	copyFrom = `)
FROM STDIN (FORMAT binary)`

	copyMin = 50 // jobs
)

// insertColumns are the columns of a new job, their values, and whether a job has a value; nil
// means always.
var insertColumns = []insertColumn{
	{"id", oidIDs, func(c *column, j *rota.Job) { c.bytes(j.ID[:]) }, nil},
	{"execution_id", oidIDs, putExecution, isRetry},
	{"retry_of", oidIDs, func(c *column, j *rota.Job) { c.id(j.RetryOf) }, isRetry},
	{"type", oidTexts, func(c *column, j *rota.Job) { c.textNotNull(j.Type) }, nil},
	{"hold", oidInt4s, func(c *column, j *rota.Job) { c.int4(int(j.Hold)) }, func(j *rota.Job) bool { return j.Hold != 0 }},
	{"priority", oidInt4s, func(c *column, j *rota.Job) { c.int4(j.Priority) }, nil},
	{"position", oidInts, func(c *column, j *rota.Job) { c.int(j.Position) }, nil},
	{"attempt", oidInt4s, func(c *column, j *rota.Job) { c.int4(j.Attempt) }, func(j *rota.Job) bool { return j.Attempt != 1 }},
	{"max_attempts", oidInt4s, func(c *column, j *rota.Job) { c.int4(j.Policy.MaxAttempts) }, nil},
	{"backoff", oidInts, func(c *column, j *rota.Job) { c.int(j.Policy.Backoff.Microseconds()) }, nil},
	{"backoff_max", oidInts, func(c *column, j *rota.Job) { c.duration(j.Policy.BackoffMax) }, func(j *rota.Job) bool { return j.Policy.BackoffMax != 0 }},
	{"jitter", oidFloats, func(c *column, j *rota.Job) { c.float(j.Policy.Jitter) }, func(j *rota.Job) bool { return j.Policy.Jitter != 0 }},
	{"timeout", oidInts, func(c *column, j *rota.Job) { c.int(j.Policy.Timeout.Microseconds()) }, nil},
	{"created_at", oidInts, func(c *column, j *rota.Job) { c.time(j.CreatedAt) }, nil},
	{"queued_at", oidInts, func(c *column, j *rota.Job) { c.time(j.QueuedAt) }, func(j *rota.Job) bool { return !j.QueuedAt.IsZero() }},
	{"run_at", oidInts, func(c *column, j *rota.Job) { c.time(j.RunAt) }, func(j *rota.Job) bool { return !j.RunAt.IsZero() }},
	{"plan_time", oidInts, func(c *column, j *rota.Job) { c.time(j.PlanTime) }, func(j *rota.Job) bool { return !j.PlanTime.IsZero() }},
	{"scope_kind", oidTexts, func(c *column, j *rota.Job) { c.text(j.ScopeKind) }, func(j *rota.Job) bool { return j.ScopeKind != "" }},
	{"scope_id", oidTexts, func(c *column, j *rota.Job) { c.text(j.ScopeID) }, func(j *rota.Job) bool { return j.ScopeID != "" }},
	{"name", oidTexts, func(c *column, j *rota.Job) { c.text(j.Name) }, func(j *rota.Job) bool { return j.Name != "" }},
	{"unique_key", oidTexts, func(c *column, j *rota.Job) { c.text(j.UniqueKey) }, func(j *rota.Job) bool { return j.UniqueKey != "" }},
	{"unique_for", oidInts, func(c *column, j *rota.Job) { c.duration(j.UniqueFor) }, func(j *rota.Job) bool { return j.UniqueFor != 0 }},
	{"created_by", oidTexts, func(c *column, j *rota.Job) { c.text(j.CreatedBy) }, func(j *rota.Job) bool { return j.CreatedBy != "" }},
	{"params", oidTexts, func(c *column, j *rota.Job) { c.textNotNull(string(j.Params)) }, nil},
	{"template", oidTexts, func(c *column, j *rota.Job) { c.text(j.Template) }, func(j *rota.Job) bool { return j.Template != "" }},
	{"schedule", oidTexts, func(c *column, j *rota.Job) { c.text(j.Schedule) }, func(j *rota.Job) bool { return j.Schedule != "" }},
	{"group_id", oidIDs, func(c *column, j *rota.Job) { c.id(j.GroupID) }, isMember},
	{"group_position", oidInt4s, putGroupPosition, isMember},
	{"concurrency_key", oidTexts, func(c *column, j *rota.Job) { c.text(j.ConcurrencyKey) }, func(j *rota.Job) bool { return j.ConcurrencyKey != "" }},
	{"counts_at", oidInts, func(c *column, j *rota.Job) { c.time(j.CountsAt) }, func(j *rota.Job) bool { return !j.CountsAt.IsZero() }},
	{"wait_from", oidInts, func(c *column, j *rota.Job) { c.time(j.WaitFrom) }, func(j *rota.Job) bool { return !j.WaitFrom.IsZero() }},
	{"wait_until", oidInts, func(c *column, j *rota.Job) { c.time(j.WaitUntil) }, func(j *rota.Job) bool { return !j.WaitUntil.IsZero() }},
	{"redrive_of", oidIDs, func(c *column, j *rota.Job) { c.id(j.RedriveOf) }, func(j *rota.Job) bool { return !j.RedriveOf.IsZero() }},
	{"trace", oidTexts, func(c *column, j *rota.Job) { c.text(j.Trace) }, func(j *rota.Job) bool { return j.Trace != "" }},
	{"status", oidTexts, func(c *column, j *rota.Job) { c.textNotNull(string(j.Status)) }, isStarted},
	{"started_at", oidInts, func(c *column, j *rota.Job) { c.time(j.StartedAt) }, isStarted},
	{"run_id", oidIDs, runColumn(func(c *column, r *rota.Run) { c.id(r.ID) }), isStarted},
	{"token", oidIDs, runColumn(func(c *column, r *rota.Run) { c.bytes(r.Token[:]) }), isStarted},
	{"runner", oidTexts, runColumn(func(c *column, r *rota.Run) { c.textNotNull(r.Runner) }), isStarted},
	{"life", oidIDs, runColumn(func(c *column, r *rota.Run) { c.id(r.Incarnation) }), isStarted},
	{"heartbeat_at", oidInts, runColumn(func(c *column, r *rota.Run) { c.time(r.HeartbeatAt) }), isStarted},
	{"stale_after", oidInts, runColumn(func(c *column, r *rota.Run) { c.time(r.StaleAfter) }), isStarted},
}

type insertColumn struct {
	name string
	oid  uint32
	put  func(c *column, j *rota.Job)
	has  func(j *rota.Job) bool
}

func isStarted(j *rota.Job) bool { return j.Run != nil }

// runColumn writes a column of the run, or NULL for a job without one.
func runColumn(put func(c *column, r *rota.Run)) func(c *column, j *rota.Job) {
	return func(c *column, j *rota.Job) {
		if j.Run == nil {
			c.null()
			return
		}
		put(c, j.Run)
	}
}

func isRetry(j *rota.Job) bool { return !j.RetryOf.IsZero() }

func isMember(j *rota.Job) bool { return !j.GroupID.IsZero() }

func putExecution(c *column, j *rota.Job) {
	if !isRetry(j) {
		c.null()
		return
	}
	c.id(j.ExecutionID)
}

func putGroupPosition(c *column, j *rota.Job) {
	if !isMember(j) {
		c.null()
		return
	}
	c.int4(j.GroupPosition)
}

// insertJobs inserts new jobs. A few jobs that start in the same transaction are inserted as
// running. It returns the other changes of the new jobs.
func (t *tx) insertJobs(jobs []*rota.Job, changes []rules.JobChange) ([]rules.JobChange, error) {
	switch {
	case len(jobs) == 0:
		return changes, nil
	case len(jobs) >= copyMin && t.store.uses(Copy):
		return changes, t.copyJobs(t.usedFields(jobs), jobs)
	}
	jobs, changes = withStarts(jobs, changes)
	t.write(t.insertStatement(jobs, t.writer.claimID))
	return changes, nil
}

// insertStatement returns the statement that inserts a few jobs. The first of those that start
// stores the claim's id.
func (t *tx) insertStatement(jobs []*rota.Job, claimID rota.ID) statement {
	used := t.usedFields(jobs).roundUp()
	var params []param
	for i, of := range insertColumns {
		if used&(1<<i) == 0 {
			continue
		}
		c := newColumn(of.oid, len(jobs))
		for _, j := range jobs {
			of.put(c, j)
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

// fieldsUsed is a bit set of the insertColumns that have a value.
type fieldsUsed uint64

// usedFields returns the columns that any of the jobs uses. It iterates over the jobs in the outer
// loop, which reads each job's memory once.
func usedFields(jobs []*rota.Job) fieldsUsed {
	used, has := fieldsUsed(0), make([]func(*rota.Job) bool, 0, len(insertColumns))
	bits := make([]fieldsUsed, 0, len(insertColumns))
	for i, of := range insertColumns {
		if of.has == nil {
			used |= 1 << i
			continue
		}
		has, bits = append(has, of.has), append(bits, 1<<i)
	}
	for _, j := range jobs {
		for i, is := range has {
			if is(j) {
				used |= bits[i]
			}
		}
	}
	return used
}

func (t *tx) usedFields(jobs []*rota.Job) fieldsUsed {
	used := usedFields(jobs)
	if !t.store.uses(UsedColumns) {
		used |= 1<<len(insertColumns) - 1&^startedFields
	}
	return used
}

// roundUp returns one of four supersets: the columns of a simple job or all columns, with or
// without those of a run. Connections keep one prepared statement for each set.
func (u fieldsUsed) roundUp() fieldsUsed {
	common := basicFields
	if u&^basicFields&^startedFields != 0 {
		common = 1<<len(insertColumns) - 1&^startedFields
	}
	if u&startedFields != 0 {
		common |= startedFields
	}
	return common
}

var startedFields = usedFields([]*rota.Job{{Run: &rota.Run{}}}) &^ usedFields([]*rota.Job{{}})

var basicFields = usedFields([]*rota.Job{{QueuedAt: time.Unix(1, 0), CreatedBy: "x", Trace: "x"}}) &^ fieldsNamed("attempt")

func fieldsNamed(name string) fieldsUsed {
	return 1 << slices.IndexFunc(insertColumns, func(of insertColumn) bool { return of.name == name })
}

func (u fieldsUsed) names() (names []string) {
	for i, of := range insertColumns {
		if u&(1<<i) != 0 {
			names = append(names, of.name)
		}
	}
	return names
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

func copySQL(used fieldsUsed) string { return copyInto + strings.Join(used.names(), ", ") + copyFrom }

// copyJobs sends jobs with COPY, after the statements that are pending.
func (t *tx) copyJobs(used fieldsUsed, jobs []*rota.Job) error {
	if err := t.read(); err != nil {
		return err
	}
	t.locks.holdsRows = true
	_, err := t.conn.CopyFrom(t.ctx, newCopyRows(used, jobs), t.dialect.qualify(copySQL(used)))
	return err
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

func (t *tx) loadKeys(keys []rules.UniqueKey, u *rules.UnitOfWork) []statement {
	if len(keys) == 0 {
		return nil
	}
	types, names := newColumn(oidTexts, len(keys)), newColumn(oidTexts, len(keys))
	for _, k := range keys {
		types.textNotNull(k.Type)
		names.textNotNull(k.Key)
		t.readSet.addLookup(classKey, rowKey{k.Type, k.Key})
	}
	return []statement{{sql: sqlKeys, params: []param{types.param(), names.param()}, eachRow: func(r row) error {
		k := rules.UniqueKey{Type: r.Text(0), Key: r.Text(1)}
		t.readSet.addRow(classKey, rowKey{k.Type, k.Key}, r.xid(5))
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
		into[0].textNotNull(c.Key.Type)
		into[1].textNotNull(c.Key.Key)
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
		columns[0].textNotNull(p.Name)
		columns[1].textNotNull(p.ScopeKind)
		columns[2].textNotNull(p.ScopeID)
		columns[3].int(p.Time)
	}
	return []statement{{sql: sqlPlans, params: paramsOf(columns), eachRow: func(r row) error {
		rules.Plans.Put(u, plans[r.Int(0)-1], r.ID(1))
		return nil
	}}}
}
