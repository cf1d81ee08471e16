package system

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// schedules shows schedules with the field names of the HTTP API; sys.jobs shows them as document 002 does.
var schedules = &table[job]{
	name: "schedules", key: func(j *job) string { return j.Name }, alwaysFull: true,
	columns: append([]column[job]{
		{name: "schedule_name", kind: Text, value: func(j *job) sqlite.Value { return notNullText(j.Name) }, notNull: true},
		{name: "schedule_uuid", kind: UUID, value: func(j *job) sqlite.Value { return definitionUUID(j.Name) }, notNull: true},
		{name: "template", kind: Text, value: func(j *job) sqlite.Value { return notNullText(j.Spec.Template) }, notNull: true},
		{name: "description", kind: Text, value: func(j *job) sqlite.Value { return text(j.Spec.Description) }},
		{name: "cron", kind: Text, value: func(j *job) sqlite.Value { return text(j.Spec.Cron) }},
		{name: "every", kind: Text, value: func(j *job) sqlite.Value { return every(j.Spec.Every) }},
		{name: "at", kind: Timestamp, value: func(j *job) sqlite.Value { return timestamp(j.Spec.At) }},
		{name: "timezone", kind: Text, value: func(j *job) sqlite.Value { return notNullText(j.zone()) }, notNull: true},
		{name: "scopes", kind: JSON, value: func(j *job) sqlite.Value { return encoded(append([]rota.Scope{}, j.Spec.Scopes...)) }},
		{name: "param_overrides", kind: JSON, value: func(j *job) sqlite.Value { return document(j.Spec.Params) }},
		{name: "priority", kind: Int4, value: func(j *job) sqlite.Value { return integerOf(j.Spec.Priority) }},
		{name: "catch_up", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.CatchUp)) }},
		{name: "overlap", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.Overlap)) }},
		{name: "on_completion", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.OnCompletion)) }},
		{name: "depends_on", kind: JSON, value: func(j *job) sqlite.Value { return encoded(append([]string{}, j.Spec.DependsOn...)) }},
		{name: "class", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.Class)) }},
		{name: "state", kind: Text, value: func(j *job) sqlite.Value { return notNullText(string(j.State)) }, notNull: true},
		{name: "reason", kind: Text, value: func(j *job) sqlite.Value { return text(j.Reason) }},
		{name: "created_by", kind: Text, value: func(j *job) sqlite.Value { return text(j.CreatedBy) }},
		{name: "owner", kind: Text, value: func(j *job) sqlite.Value { return notNullText(j.Owner) }, notNull: true},
	}, scheduleTimes()...),
	paths: []accessPath[job]{
		{key: "schedule_name", rows: 1, read: func(q *query, w readRequest) pages[job] { return jobNamed(q, w.equal["schedule_name"].Text()) }},
		{key: "schedule_uuid", rows: 1, read: func(q *query, w readRequest) pages[job] {
			return jobNamed(q, q.definitionName(w.equal["schedule_uuid"].Text()))
		}},
		{filters: []string{"state", "template"}, order: []orderTerm{{column: "schedule_name"}}, rows: schedulesEstimate, read: jobsByName},
	},
}

func scheduleTimes() (columns []column[job]) {
	for _, pair := range [][]column[job]{
		timeColumns("starts_at", func(j *job) time.Time { return j.Spec.StartsAt }),
		timeColumns("ends_at", func(j *job) time.Time { return j.Spec.EndsAt }),
		timeColumns("next_fire", func(j *job) time.Time { return j.NextFire }),
		timeColumns("last_fire", func(j *job) time.Time { return j.LastFire }),
		timeColumns("last_triggered_at", func(j *job) time.Time { return j.TriggeredAt }),
		timeColumns("created_at", func(j *job) time.Time { return j.CreatedAt }),
		timeColumns("updated_at", func(j *job) time.Time { return j.UpdatedAt }),
	} {
		columns = append(columns, pair...)
	}
	return columns
}

func every(d time.Duration) sqlite.Value {
	if d == 0 {
		return null
	}
	return notNullText(rota.FormatDuration(d))
}
