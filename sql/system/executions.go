package system

import (
	"math"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// execution is a row of sys.executions: the record of document 003. It appears when its first attempt is dispatched, or
// ends without that, and shows the last attempt that was dispatched.
type execution struct{ chain }

func (q *query) execution(tail *rota.Job) execution { return execution{chain{Job: tail, q: q}} }

// begun keeps the executions that were dispatched or have ended.
func begun(all pages[execution]) pages[execution] {
	return filtered(all, func(e execution) bool { return !pending(e.Job) })
}

// status returns a status of document 003. SUCCESS is an execution that completed or that its worker skipped. FAILED
// includes executions that were cancelled or that Rota skipped; error_code distinguishes them.
func (e *execution) status() string {
	switch j := e.dispatched(); j.State() {
	case rota.StateRunning:
		return "RUNNING"
	case rota.StateCompleted:
		return "SUCCESS"
	case rota.StateSkipped:
		if j.Run.Runner != "" {
			return "SUCCESS"
		}
	}
	return "FAILED"
}

// nextRetry returns the time of the next attempt.
func (e *execution) nextRetry() time.Time {
	switch {
	case !e.waitsForRetry():
		return time.Time{}
	case e.RunAt.IsZero():
		return e.CreatedAt
	}
	return e.RunAt
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

// duration is how long the last attempt took. A clock may have been set back.
func (e *execution) duration() sqlite.Value {
	j := e.dispatched()
	if j.Run == nil || j.Run.Outcome == "" {
		return null
	}
	return integer(min(max(0, j.FinishedAt.Sub(j.StartedAt).Milliseconds()), math.MaxInt32))
}

// result returns the result of the last attempt that was dispatched, or an empty document.
func (e *execution) result() sqlite.Value {
	if r := e.dispatched().Run; r != nil && len(r.Result) > 0 {
		return document(r.Result)
	}
	return notNullText("{}")
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
		{name: "attempt", kind: Int4, value: func(e *execution) sqlite.Value { return integer(int64(e.dispatched().Attempt)) }, notNull: true},
		{name: "max_attempts", kind: Int4, value: func(e *execution) sqlite.Value { return integer(int64(e.Policy.MaxAttempts)) }, notNull: true},
		timestampColumn("next_retry_at", (*execution).nextRetry),
		{name: "runner_id", kind: Text, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return text(r.Runner) })},
		{name: "lease_token", kind: UUID, value: func(*execution) sqlite.Value { return null }}, // secret of the worker that claimed the job
		{name: "heartbeat_at", kind: Timestamp, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return timestamp(r.HeartbeatAt) })},
		{name: "stale_after", kind: Timestamp, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return timestamp(r.StaleAfter) })},
		timestampColumn("started_at", func(e *execution) time.Time { return e.dispatched().StartedAt }),
		timestampColumn("finished_at", func(e *execution) time.Time { return e.dispatched().FinishedAt }),
		{name: "duration_ms", kind: Int4, value: (*execution).duration},
		{name: "rows_affected", kind: Integer, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return integerOf(r.RowsAffected) })},
		column[execution]{name: "result", kind: JSON, value: (*execution).result, notNull: true}.needsFullRow(),
		{name: "error_code", kind: Text, value: func(e *execution) sqlite.Value { return text(e.errorCode()) }},
		{name: "error_msg", kind: Text, value: func(e *execution) sqlite.Value { return text(e.message()) }},
		{name: "schedule", kind: Text, value: func(e *execution) sqlite.Value { return text(e.Schedule) }},
		{name: "type", kind: Text, value: func(e *execution) sqlite.Value { return notNullText(e.Type) }, notNull: true},
		{name: "template", kind: Text, value: func(e *execution) sqlite.Value { return text(e.Template) }},
		timestampColumn("created_at", func(e *execution) time.Time { return e.created() }),
		timestampColumn("updated_at", (*execution).updated),
	},
	paths: []accessPath[execution]{
		{key: "id", rows: 1, read: func(q *query, w readRequest) pages[execution] {
			return begun(tailOf(q, w.equal["id"].Text(), q.execution))
		}},
		{key: "schedule", filters: []string{"type", "template"}, rows: someEstimate, read: func(q *query, w readRequest) pages[execution] {
			return begun(executionsMatching(q, w, rota.JobQuery{Schedule: w.equal["schedule"].Text()}, q.execution))
		}},
		{countOnly: true, rows: runsEstimate, read: countBegun},
		{filters: []string{"type", "template"}, rows: runsEstimate, read: func(q *query, w readRequest) pages[execution] {
			return begun(executionsMatching(q, w, rota.JobQuery{}, q.execution))
		}},
	},
}

// countBegun counts the executions that were dispatched or have ended: all those that are not queued, which the store
// counts, and the queued ones that are retries, which it lists.
func countBegun(q *query, _ readRequest) pages[execution] {
	retries := begun(executionsMatching(q, readRequest{lean: true}, rota.JobQuery{Status: rota.StatusQueued}, q.execution))
	return concat(concat(
		countRows[execution](q, rota.JobQuery{Tails: true, Status: rota.StatusRunning}),
		countRows[execution](q, rota.JobQuery{Tails: true, Status: rota.StatusCancelled})), retries)
}
