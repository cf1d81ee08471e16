package sys

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// schedules shows schedules as they were declared over HTTP, in the words of that
// face; sys.jobs shows them as document 002 does.
var schedules = &table[job]{
	name: "schedules", key: func(j *job) string { return j.Name },
	columns: append([]column[job]{
		{name: "schedule_name", kind: Text, value: func(j *job) sqlite.Value { return word(j.Name) }, must: true},
		{name: "schedule_uuid", kind: UUID, value: func(j *job) sqlite.Value { return definition(j.Name) }, must: true},
		{name: "template", kind: Text, value: func(j *job) sqlite.Value { return word(j.Spec.Template) }, must: true},
		{name: "description", kind: Text, value: func(j *job) sqlite.Value { return text(j.Spec.Description) }},
		{name: "cron", kind: Text, value: func(j *job) sqlite.Value { return text(j.Spec.Cron) }},
		{name: "every", kind: Text, value: func(j *job) sqlite.Value { return every(j.Spec.Every) }},
		{name: "at", kind: Timestamp, value: func(j *job) sqlite.Value { return stamp(j.Spec.At) }},
		{name: "timezone", kind: Text, value: func(j *job) sqlite.Value { return word(j.zone()) }, must: true},
		{name: "scopes", kind: JSON, value: func(j *job) sqlite.Value { return encoded(append([]rota.Scope{}, j.Spec.Scopes...)) }},
		{name: "param_overrides", kind: JSON, value: func(j *job) sqlite.Value { return document(j.Spec.Params) }},
		{name: "priority", kind: Integer, value: func(j *job) sqlite.Value { return integerOf(j.Spec.Priority) }},
		{name: "catch_up", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.CatchUp)) }},
		{name: "overlap", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.Overlap)) }},
		{name: "on_completion", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.OnCompletion)) }},
		{name: "depends_on", kind: JSON, value: func(j *job) sqlite.Value { return encoded(append([]string{}, j.Spec.DependsOn...)) }},
		{name: "class", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.Class)) }},
		{name: "state", kind: Text, value: func(j *job) sqlite.Value { return word(string(j.State)) }, must: true},
		{name: "reason", kind: Text, value: func(j *job) sqlite.Value { return text(j.Reason) }},
		{name: "created_by", kind: Text, value: func(j *job) sqlite.Value { return text(j.CreatedBy) }},
	}, scheduleTimes()...),
	ways: []way[job]{
		{by: "schedule_name", rows: 1, read: func(q *query, w want) pages[job] { return jobNamed(q, w.is["schedule_name"].Text()) }},
		{by: "schedule_uuid", rows: 1, read: func(q *query, w want) pages[job] { return jobNamed(q, q.named(w.is["schedule_uuid"].Text())) }},
		{also: []string{"state", "template"}, order: []term{{column: "schedule_name"}}, rows: schedulesGuess, read: jobsByName},
	},
}

func scheduleTimes() (columns []column[job]) {
	for _, pair := range [][]column[job]{
		timed("starts_at", func(j *job) time.Time { return j.Spec.StartsAt }),
		timed("ends_at", func(j *job) time.Time { return j.Spec.EndsAt }),
		timed("next_fire", func(j *job) time.Time { return j.NextFire }),
		timed("last_fire", func(j *job) time.Time { return j.LastFire }),
		timed("created_at", func(j *job) time.Time { return j.CreatedAt }),
		timed("updated_at", func(j *job) time.Time { return j.UpdatedAt }),
	} {
		columns = append(columns, pair...)
	}
	return columns
}

func every(d time.Duration) sqlite.Value {
	if d == 0 {
		return null
	}
	return word(rota.FormatDuration(d))
}
