package system

import (
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// event is a row of sys.audit: an entry of the audit, or an attempt that ended,
// which is its own record.
type event struct {
	seq     int64   // 0: of an attempt
	attempt rota.ID // the attempt that ended
	at      time.Time
	act     string
	actor   string
	job     string // the definition, if it is about one
	run     rota.ID
	outcome string
	subject string
	detail  string
}

// Event types of ended attempts.
const (
	eventExecuted  = "JOB_EXECUTED"
	eventFailed    = "JOB_FAILED"
	eventCancelled = "JOB_CANCELLED"
)

func (e *event) key() string {
	if e.seq != 0 {
		return strconv.FormatInt(e.seq, 10)
	}
	return string(e.attempt[:])
}

func (e *event) number() sqlite.Value {
	if e.seq == 0 {
		return null
	}
	return integer(e.seq)
}

var audit = &table[event]{
	name: "audit", key: (*event).key,
	columns: append([]column[event]{
		{name: "seq", kind: Integer, value: (*event).number},
		{name: "event_type", kind: Text, value: func(e *event) sqlite.Value { return notNullText(e.act) }, notNull: true},
		{name: "job_uuid", kind: UUID, value: func(e *event) sqlite.Value { return definitionUUID(e.job) }},
		{name: "job_name", kind: Text, value: func(e *event) sqlite.Value { return text(e.job) }},
		{name: "job_run_uuid", kind: UUID, value: func(e *event) sqlite.Value { return uuid(e.run) }},
		{name: "user_name", kind: Text, value: func(e *event) sqlite.Value { return text(e.actor) }},
		{name: "outcome", kind: Text, value: func(e *event) sqlite.Value { return text(e.outcome) }},
		{name: "subject", kind: Text, value: func(e *event) sqlite.Value { return text(e.subject) }},
		{name: "detail", kind: Text, value: func(e *event) sqlite.Value { return text(e.detail) }},
	}, timeColumns("at", func(e *event) time.Time { return e.at })...),
	paths: []accessPath[event]{
		{key: "job_run_uuid", rows: someEstimate, read: func(q *query, w readRequest) pages[event] {
			id := w.equal["job_run_uuid"].Text()
			w.limit = 0
			return concat(aboutRun(auditEntries(q, w), id), endedEvents(attemptsOf(q, id)))
		}},
		{rangeColumn: "seq", rows: runsEstimate, read: func(q *query, w readRequest) pages[event] {
			if w.hasBounds("seq") { // attempts have no number
				return auditEntries(q, w)
			}
			return concat(auditEntries(q, w), attempts(q, w))
		}},
	},
}

// auditEntries lists the entries of the audit by number.
func auditEntries(q *query, w readRequest) pages[event] {
	first, last := w.numbers("seq")
	return paged(q, w, func(v rota.View, limit int, read *rota.AuditEntry) ([]rota.AuditEntry, error) {
		after := max(0, max(first, 0)-1)
		if read != nil {
			after = read.Seq
		}
		if after >= last {
			return nil, nil
		}
		return v.Audit(q.ctx, after, int(min(int64(limit), last-after)))
	}, func(e rota.AuditEntry) event {
		job, _ := strings.CutPrefix(e.Subject, "schedule ")
		if job == e.Subject {
			job = ""
		}
		return event{seq: e.Seq, at: e.At, act: e.Act, actor: e.Actor, job: job, run: e.JobID, subject: e.Subject, detail: e.Detail}
	})
}

// aboutRun keeps only the events of one run.
func aboutRun(of pages[event], id string) pages[event] {
	parsed, err := rota.ParseID(id)
	if err != nil {
		return noRows[event]
	}
	return filtered(of, func(e event) bool { return e.run == parsed })
}

// attempts are the attempts that ended, newest first.
func attempts(q *query, w readRequest) pages[event] {
	return endedEvents(paged(q, w, func(v rota.View, limit int, last **rota.Job) ([]*rota.Job, error) {
		ask := rota.JobQuery{Lean: true, Limit: limit}
		if last != nil {
			ask.Before = (*last).ID
		}
		return v.Jobs(q.ctx, ask)
	}, asRead[*rota.Job]))
}

// endedEvents returns an event for each job that has ended.
func endedEvents(of pages[*rota.Job]) pages[event] {
	of = filtered(of, func(j *rota.Job) bool { return j.Run != nil && j.Run.Outcome != "" })
	return func() ([]event, error) {
		list, err := of()
		rows := make([]event, len(list))
		for i, j := range list {
			rows[i] = eventOf(j)
		}
		return rows, err
	}
}

func eventOf(j *rota.Job) event {
	act := eventExecuted
	switch j.Run.ShownOutcome() {
	case rota.OutcomeFailed:
		act = eventFailed
	case rota.OutcomeCancelled:
		act = eventCancelled
	}
	return event{
		attempt: j.ID, at: j.FinishedAt, act: act, actor: j.CreatedBy, job: j.Schedule, run: j.ExecutionID, outcome: string(j.Run.ShownOutcome()),
		subject: "job " + j.ID.String(), detail: endMessage(j),
	}
}
