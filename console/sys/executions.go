package sys

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// execution is a row of sys.executions: the record of document 003. It shows the
// last attempt; where that waits for its time, the one before it says how the
// execution stands.
type execution struct {
	*rota.Job
	q    *query
	last *rota.Job // the last attempt that was dispatched; nil: not looked for yet
}

func (q *query) execution(tail *rota.Job) execution { return execution{Job: tail, q: q} }

// dispatched is the last attempt that was, or the first that was not.
func (e *execution) dispatched() *rota.Job {
	if e.last != nil {
		return e.last
	}
	e.last = e.Job
	if e.Status == rota.StatusQueued && !e.RetryOf.IsZero() {
		if before := e.q.attempt(e.RetryOf); before != nil {
			e.last = before
		}
	}
	return e.last
}

// attempt reads one job, nil if it is gone. What goes wrong ends the query.
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

// The statuses of document 003. What was planned and is done is a SUCCESS: it
// completed, or its worker found nothing to do. What was cancelled, or skipped by
// Rota, is FAILED, and its code tells it from what was tried.
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

// nextRetry is when it is tried again.
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

// at is a column of one time, as document 003 has it.
func at(name string, of func(*execution) time.Time) column[execution] {
	return column[execution]{name: name, kind: Timestamp, value: func(e *execution) sqlite.Value { return stamp(of(e)) }}
}

var executions = &table[execution]{
	name: "executions", key: func(e *execution) string { return string(e.ExecutionID[:]) },
	columns: []column[execution]{
		{name: "id", kind: UUID, value: func(e *execution) sqlite.Value { return uuid(e.ExecutionID) }, must: true},
		{name: "job_name", kind: Text, value: func(e *execution) sqlite.Value { return word(e.DefinitionName()) }, must: true},
		{name: "scope_kind", kind: Text, value: func(e *execution) sqlite.Value { return word(orGlobal(e.ScopeKind)) }, must: true},
		{name: "scope_id", kind: Text, value: func(e *execution) sqlite.Value { return word(orGlobal(e.ScopeID)) }, must: true},
		at("plan_time", func(e *execution) time.Time { return e.PlanTime }),
		{name: "status", kind: Text, value: func(e *execution) sqlite.Value { return word(e.status()) }, must: true},
		{name: "attempt", kind: Integer, value: func(e *execution) sqlite.Value { return integer(int64(e.dispatched().Attempt)) }, must: true},
		{name: "max_attempts", kind: Integer, value: func(e *execution) sqlite.Value { return integer(int64(e.Policy.MaxAttempts)) }, must: true},
		at("next_retry_at", (*execution).nextRetry),
		{name: "runner_id", kind: Text, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return text(r.Runner) })},
		{name: "lease_token", kind: UUID, value: func(*execution) sqlite.Value { return null }}, // it belongs to the claimer alone
		{name: "heartbeat_at", kind: Timestamp, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return stamp(r.HeartbeatAt) })},
		{name: "stale_after", kind: Timestamp, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return stamp(r.StaleAfter) })},
		at("started_at", func(e *execution) time.Time { return e.dispatched().StartedAt }),
		at("finished_at", func(e *execution) time.Time { return e.dispatched().FinishedAt }),
		{name: "duration_ms", kind: Integer, value: (*execution).duration},
		{name: "rows_affected", kind: Integer, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return integerOf(r.RowsAffected) })},
		column[execution]{name: "result", kind: JSON, value: dispatchedRun(func(r *rota.Run) sqlite.Value { return document(r.Result) })}.whole(),
		{name: "error_code", kind: Text, value: func(e *execution) sqlite.Value { return text(e.errorCode()) }},
		{name: "error_msg", kind: Text, value: func(e *execution) sqlite.Value { return text(e.errorText()) }},
		{name: "schedule", kind: Text, value: func(e *execution) sqlite.Value { return text(e.Schedule) }},
		{name: "type", kind: Text, value: func(e *execution) sqlite.Value { return word(e.Type) }, must: true},
		{name: "template", kind: Text, value: func(e *execution) sqlite.Value { return text(e.Template) }},
		at("created_at", (*execution).created),
		at("updated_at", (*execution).updated),
	},
	ways: []way[execution]{
		{by: "id", rows: 1, read: func(q *query, w want) pages[execution] { return tailOf(q, w.is["id"].Text(), q.execution) }},
		{by: "schedule", also: []string{"type", "template"}, rows: someGuess, read: func(q *query, w want) pages[execution] {
			return tailsLike(q, w, rota.JobQuery{Schedule: w.is["schedule"].Text()}, q.execution)
		}},
		{count: true, rows: runsGuess, read: func(q *query, _ want) pages[execution] {
			return counted[execution](q, rota.JobQuery{Tails: true})
		}},
		{also: []string{"type", "template"}, rows: runsGuess, read: func(q *query, w want) pages[execution] {
			return tailsLike(q, w, rota.JobQuery{}, q.execution)
		}},
	},
}
