package system

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// event is a row of sys.audit.
type event struct{ *rota.AuditEntry }

var audit = &table[event]{
	name: "audit", key: func(e *event) string { return string(e.ID[:]) }, alwaysFull: true,
	columns: append([]column[event]{
		{name: "audit_uuid", kind: UUID, value: func(e *event) sqlite.Value { return uuid(e.ID) }, notNull: true},
		{name: "event_type", kind: Text, value: func(e *event) sqlite.Value { return notNullText(e.Act) }, notNull: true},
		{name: "job_uuid", kind: UUID, value: func(e *event) sqlite.Value { return definitionUUID(e.Schedule) }},
		{name: "job_name", kind: Text, value: func(e *event) sqlite.Value { return text(e.Schedule) }},
		{name: "job_run_uuid", kind: UUID, value: func(e *event) sqlite.Value { return uuid(e.ExecutionID) }},
		{name: "job_id", kind: UUID, value: func(e *event) sqlite.Value { return uuid(e.JobID) }},
		{name: "run_id", kind: UUID, value: func(e *event) sqlite.Value { return uuid(e.RunID) }},
		{name: "user_name", kind: Text, value: func(e *event) sqlite.Value { return text(e.Actor) }},
		{name: "outcome", kind: Text, value: func(e *event) sqlite.Value { return text(e.Outcome) }},
		{name: "subject", kind: Text, value: func(e *event) sqlite.Value { return text(e.Subject) }},
		{name: "detail", kind: Text, long: true, value: func(e *event) sqlite.Value { return text(e.Detail) }},
		{name: "changes", kind: JSON, value: func(e *event) sqlite.Value { return document(e.Changes) }},
	}, neverNull(timeColumns("at", func(e *event) time.Time { return e.At }))...),
	paths: []accessPath[event]{
		auditBy("job_run_uuid", func(q *query, ask *rota.AuditQuery, value string) bool {
			id, err := rota.ParseID(value)
			ask.ExecutionID = id
			return err == nil
		}),
		auditBy("subject", func(q *query, ask *rota.AuditQuery, value string) bool {
			ask.Subject = value
			return value != ""
		}),
		auditBy("job_uuid", func(q *query, ask *rota.AuditQuery, value string) bool {
			ask.Schedule = q.definitionName(value)
			return ask.Schedule != ""
		}),
		auditBy("job_name", func(q *query, ask *rota.AuditQuery, value string) bool {
			ask.Schedule = value
			return value != ""
		}),
		{
			rangeColumn: "at", filters: auditFilters, order: auditOrder, orderFirstOnly: true, rows: runsEstimate,
			read: func(q *query, w readRequest) pages[event] { return auditPages(q, w, rota.AuditQuery{}) },
		},
	},
}

// neverNull marks columns that always have a value.
func neverNull[R any](columns []column[R]) []column[R] {
	for i := range columns {
		columns[i].notNull = true
	}
	return columns
}

var (
	auditFilters = []string{"user_name", "event_type"}
	auditOrder   = []orderTerm{{column: "at", desc: true}}
)

// auditBy is the path to the entries that have one value in a column. set puts the value into the
// query, or reports false if no entry has it.
func auditBy(column string, set func(q *query, ask *rota.AuditQuery, value string) bool) accessPath[event] {
	return accessPath[event]{
		key: column, rangeColumn: "at", filters: auditFilters, order: auditOrder, orderFirstOnly: true, rows: someEstimate,
		read: func(q *query, w readRequest) pages[event] {
			var ask rota.AuditQuery
			if !set(q, &ask, w.equal[column].Text()) {
				return noRows[event]
			}
			return auditPages(q, w, ask)
		},
	}
}

// auditPages lists entries, newest first. A page of the store may be empty although others follow.
func auditPages(q *query, w readRequest, ask rota.AuditQuery) pages[event] {
	from, to := w.times("at")
	if from.After(time.UnixMicro(0)) { // no entry is older, and the store refuses such a bound
		ask.Since = from
	}
	if !to.IsZero() && to.Before(time.UnixMicro(0)) {
		return noRows[event]
	}
	if !to.IsZero() && to.Year() < rota.YearMax {
		ask.Until = to.Add(time.Microsecond) // the store excludes it
	}
	ask.Actor = w.equal["user_name"].Text()
	if act, is := w.equal["event_type"]; is {
		ask.Acts = []string{act.Text()}
	}
	size, done, bytes := w.page(), false, 0
	return func() ([]event, error) {
		for !done {
			view, err := q.store()
			if err != nil {
				return nil, err
			}
			ask.Limit = size(bytes)
			page, err := view.Audit(q.ctx, ask)
			switch {
			case rota.CodeOf(err) == rota.Invalid: // a condition has a value that no entry can have, such as an unknown act
				return nil, nil
			case err != nil:
				return nil, err
			}
			ask.Before, done = page.Next, !page.More
			bytes = 0
			for i := range page.Entries {
				bytes += documentBytes(&page.Entries[i])
			}
			if rows := events(page.Entries); len(rows) > 0 {
				return rows, nil
			}
		}
		return nil, nil
	}
}

func events(entries []rota.AuditEntry) []event {
	rows := make([]event, len(entries))
	for i := range entries {
		rows[i] = event{&entries[i]}
	}
	return rows
}
