package system

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// execution is a row of sys.executions: the record of document 003. It shows the
// last attempt that was dispatched, or the first if none was.
type execution struct {
	*rota.Job
	q              *query
	lastDispatched *rota.Job // the last attempt that was dispatched; nil: not read yet
}

func (q *query) execution(tail *rota.Job) execution { return execution{Job: tail, q: q} }

// dispatched returns the last attempt that was dispatched, or the first attempt if none was.
func (e *execution) dispatched() *rota.Job {
	if e.lastDispatched != nil {
		return e.lastDispatched
	}
	e.lastDispatched = e.Job
	if e.Status == rota.StatusQueued && !e.RetryOf.IsZero() {
		if before := e.q.attempt(e.RetryOf); before != nil {
			e.lastDispatched = before
		}
	}
	return e.lastDispatched
}

// attempt reads one job, nil if it is gone. An error ends the query.
func (q *query) attempt(id rota.ID) *rota.Job {
	view, err := q.store()
	if err != nil {
		_ = q.fail(err)
		return nil
	}
	q.reads++
	j, err := view.Job(q.ctx, id)
	if err != nil && rota.CodeOf(err) != rota.NotFound {
		_ = q.fail(err)
	}
	return j
}

// status returns a status of document 003. SUCCESS is an execution that completed or that its worker skipped. FAILED
// includes executions that were cancelled or that Rota skipped; error_code distinguishes them.
func (e *execution) status() string {
	j := e.dispatched()
	switch {
	case j.Status == rota.StatusQueued:
		return "PENDING"
	case j.Status == rota.StatusCancelled:
		return "FAILED"
	case j.Run == nil || j.Run.Outcome == "":
		return "RUNNING"
	case j.Run.Outcome == rota.OutcomeCompleted, j.Run.Outcome == rota.OutcomeSkipped && j.Run.Runner != "":
		return "SUCCESS"
	}
	return "FAILED"
}

// nextRetry returns the time of the next attempt.
func (e *execution) nextRetry() time.Time {
	switch {
	case e.Status != rota.StatusQueued || e.RetryOf.IsZero():
		return time.Time{}
	case e.RunAt.IsZero():
		return e.CreatedAt
	}
	return e.RunAt
}

// created is when its first attempt was made.
func (e *execution) created() time.Time {
	if e.RetryOf.IsZero() {
		return e.CreatedAt
	}
	if first := e.q.attempt(e.ExecutionID); first != nil {
		return first.CreatedAt
	}
	return time.Time{}
}

// updated is when anything last happened to it.
func (e *execution) updated() time.Time {
	last := e.CreatedAt
	for _, j := range []*rota.Job{e.Job, e.dispatched()} {
		times := []time.Time{j.StartedAt, j.FinishedAt, j.QueuedAt}
		if j.Run != nil {
			times = append(times, j.Run.HeartbeatAt, j.Run.CancelAt, j.Run.FinishedAt)
		}
		for _, t := range times {
			if t.After(last) {
				last = t
			}
		}
	}
	return last
}

func (e *execution) errorCode() string {
	j := e.dispatched()
	switch {
	case j.Run != nil && j.Run.ErrorCode != "":
		return j.Run.ErrorCode
	case j.State() == rota.StateCancelled:
		return rota.CodeCancelled
	}
	return ""
}

func (e *execution) errorText() string {
	r := run{e.dispatched()}
	return r.message()
}

// duration is how long the last attempt took. A clock may have been set back.
func (e *execution) duration() sqlite.Value {
	j := e.dispatched()
	if j.Run == nil || j.Run.Outcome == "" {
		return null
	}
	return integer(max(0, j.FinishedAt.Sub(j.StartedAt).Milliseconds()))
}

// dispatchedRun shows a value of the last run that there was.
func dispatchedRun(value func(*rota.Run) sqlite.Value) func(*execution) sqlite.Value {
	return func(e *execution) sqlite.Value {
		if r := e.dispatched().Run; r != nil {
			return value(r)
		}
		return null
	}
}

// timestampColumn is a column of one time, as in document 003.
func timestampColumn(name string, of func(*execution) time.Time) column[execution] {
	return column[execution]{name: name, kind: Timestamp, value: func(e *execution) sqlite.Value { return timestamp(of(e)) }}
}

var executions = &table[execution]{
	name: "executions", key: func(e *execution) string { return string(e.ExecutionID[:]) },
	columns: []column[execution]{
		{name: "id", kind: UUID, value: func(e *execution) sqlite.Value { return uuid(e.ExecutionID) }, notNull: true},
		{name: "job_name", kind: Text, value: func(e *execution) sqlite.Value { return notNullText(e.DefinitionName()) }, notNull: true},
		{name: "scope_kind", kind: Text, value: func(e *execution) sqlite.Value { return notNullText(orGlobal(e.ScopeKind)) }, notNull: true},
		{name: "scope_id", kind: Text, value: func(e *execution) sqlite.Value { return notNullText(orGlobal(e.ScopeID)) }, notNull: true},
		timestampColumn("plan_time", func(e *execution) time.Time { return e.PlanTime }),
		{name: "status", kind: Text, value: func(e *execution) sqlite.Value { return notNullText(e.status()) }, notNull: true},
		{name: "attempt", kind: Integer, value: func(e *execution) sqlite.Value { return integer(int64(e.dispatched().Attempt)) }, notNull: true},
		{name: "max_attempts", kind: Integer, value: func(e *execution) sqlite.Value { return integer(int64(e.Policy.MaxAttempts)) }, notNull: true},
		timestampColumn("next_retry_at", (*execution).nextRetry),
		{name: "runner_id", kind: Text, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return text(r.Runner) })},
		{name: "lease_token", kind: UUID, value: func(*execution) sqlite.Value { return null }}, // secret of the worker that claimed the job
		{name: "heartbeat_at", kind: Timestamp, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return timestamp(r.HeartbeatAt) })},
		{name: "stale_after", kind: Timestamp, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return timestamp(r.StaleAfter) })},
		timestampColumn("started_at", func(e *execution) time.Time { return e.dispatched().StartedAt }),
		timestampColumn("finished_at", func(e *execution) time.Time { return e.dispatched().FinishedAt }),
		{name: "duration_ms", kind: Integer, value: (*execution).duration},
		{name: "rows_affected", kind: Integer, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return integerOf(r.RowsAffected) })},
		column[execution]{name: "result", kind: JSON, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return document(r.Result) })}.needsFullRow(),
		{name: "error_code", kind: Text, value: func(e *execution) sqlite.Value { return text(e.errorCode()) }},
		{name: "error_msg", kind: Text, value: func(e *execution) sqlite.Value { return text(e.errorText()) }},
		{name: "schedule", kind: Text, value: func(e *execution) sqlite.Value { return text(e.Schedule) }},
		{name: "type", kind: Text, value: func(e *execution) sqlite.Value { return notNullText(e.Type) }, notNull: true},
		{name: "template", kind: Text, value: func(e *execution) sqlite.Value { return text(e.Template) }},
		timestampColumn("created_at", (*execution).created),
		timestampColumn("updated_at", (*execution).updated),
	},
	paths: []accessPath[execution]{
		{key: "id", rows: 1, read: func(q *query, w readRequest) pages[execution] { return tailOf(q, w.equal["id"].Text(), q.execution) }},
		{key: "schedule", filters: []string{"type", "template"}, rows: someEstimate, read: func(q *query, w readRequest) pages[execution] {
			return executionsMatching(q, w, rota.JobQuery{Schedule: w.equal["schedule"].Text()}, q.execution)
		}},
		{countOnly: true, rows: runsEstimate, read: func(q *query, _ readRequest) pages[execution] {
			return countRows[execution](q, rota.JobQuery{Tails: true})
		}},
		{filters: []string{"type", "template"}, rows: runsEstimate, read: func(q *query, w readRequest) pages[execution] {
			return executionsMatching(q, w, rota.JobQuery{}, q.execution)
		}},
	},
}
