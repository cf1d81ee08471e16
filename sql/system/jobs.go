package system

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// job is a row of sys.jobs: a schedule, and its template,
// which is read when a column needs it.
type job struct {
	*rota.Schedule
	q *query
}

// template returns the template of the job, or an empty one if it no longer exists.
func (j *job) template() *rota.Template { return j.q.templates.get(j.q, j.Spec.Template) }

// policy returns the effective policy of the runs of the job.
func (j *job) policy() rota.Policy { return j.Spec.Policy.Or(j.template().Spec.Policy).Policy() }

// params returns the params of a run.
func (j *job) params() json.RawMessage {
	return rota.MergeParams(j.template().Spec.Params, j.Spec.Params)
}

// action decodes the params that describe the action of the built-in types.
func (j *job) action() (a action) {
	_ = json.Unmarshal(j.params(), &a)
	return a
}

type action struct {
	Statement string `json:"statement"`
	Procedure string `json:"procedure"`
	Command   string `json:"command"`
	Target    string `json:"target"`
	RunAs     string `json:"run_as"`
}

// The types of jobs of document 002. A handler is a procedure.
const (
	typeSQL  = "sql"
	typeCall = "call"
	typeExec = "exec"
)

func jobType(kind string) string {
	switch kind {
	case typeSQL:
		return "SQL"
	case typeExec:
		return "EXTERNAL"
	}
	return "PROCEDURE"
}

// ofType shows a value of jobs of one type alone.
func ofType(kind string, value func(action) string) func(*job) sqlite.Value {
	return func(j *job) sqlite.Value {
		if j.template().Spec.Type != kind {
			return null
		}
		return text(value(j.action()))
	}
}

func (j *job) procedure() string {
	switch kind := j.template().Spec.Type; kind {
	case typeSQL, typeExec:
		return ""
	case typeCall:
		return j.action().Procedure
	default:
		return kind
	}
}

func (j *job) target() string {
	switch j.template().Spec.Type {
	case typeSQL, typeCall:
		return j.action().Target
	}
	return ""
}

func (j *job) kind() string {
	switch {
	case j.Spec.Cron != "":
		return "CRON"
	case j.Spec.Every != 0:
		return "EVERY"
	}
	return "AT"
}

// starts returns when an AT job runs, or when another schedule begins.
func (j *job) starts() time.Time {
	if !j.Spec.At.IsZero() {
		return j.Spec.At
	}
	return j.Spec.StartsAt
}

func (j *job) zone() string {
	if j.Spec.Zone == "" {
		return "UTC"
	}
	return j.Spec.Zone
}

func (j *job) description() string {
	if j.Spec.Description != "" {
		return j.Spec.Description
	}
	return j.template().Spec.Description
}

func (j *job) priority() int {
	switch t := j.template(); {
	case j.Spec.Priority != nil:
		return *j.Spec.Priority
	case t.Spec.Priority != nil:
		return *t.Spec.Priority
	}
	return rota.DefaultPriority
}

func upper[W ~string](w W) sqlite.Value { return text(strings.ToUpper(string(w))) }

// shard is the shard of a partition that has one.
func shard(p rota.Partition) sqlite.Value {
	if len(p.Shards) != 1 {
		return null
	}
	return text(p.Shards[0])
}

// shards are those of a partition that lists them.
func shards(p rota.Partition) sqlite.Value {
	if len(p.Shards) == 0 {
		return null
	}
	return encoded(p.Shards)
}

func interval(j *job) sqlite.Value {
	if j.Spec.Every == 0 {
		return null
	}
	return seconds(j.Spec.Every)
}

var jobs = &table[job]{name: "jobs", columns: jobColumns(), paths: jobWays, key: func(j *job) string { return j.Name }, alwaysFull: true}

func jobColumns() []column[job] {
	columns := []column[job]{
		{name: "job_uuid", kind: UUID, value: func(j *job) sqlite.Value { return definitionUUID(j.Name) }, notNull: true},
		{name: "job_name", kind: Text, value: func(j *job) sqlite.Value { return notNullText(j.Name) }, notNull: true},
		{name: "description", kind: Text, value: func(j *job) sqlite.Value { return text(j.description()) }},
		{name: "job_class", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.Class)) }},
		{name: "job_type", kind: Text, value: func(j *job) sqlite.Value { return notNullText(jobType(j.template().Spec.Type)) }, notNull: true},
		{name: "job_sql", kind: Text, long: true, value: ofType(typeSQL, func(a action) string { return a.Statement })},
		{name: "procedure_uuid", kind: UUID, value: func(*job) sqlite.Value { return null }},
		{name: "procedure_name", kind: Text, long: true, value: func(j *job) sqlite.Value { return text(j.procedure()) }},
		{name: "external_command", kind: Text, long: true, value: ofType(typeExec, func(a action) string { return a.Command })},
		{name: "schedule_kind", kind: Text, value: func(j *job) sqlite.Value { return notNullText(j.kind()) }, notNull: true},
		{name: "cron_expression", kind: Text, value: func(j *job) sqlite.Value { return text(j.Spec.Cron) }},
		{name: "interval_seconds", kind: Integer, value: interval},
		{name: "schedule_tz", kind: Text, value: func(j *job) sqlite.Value { return notNullText(j.zone()) }, notNull: true},
		{name: "on_completion", kind: Text, value: func(j *job) sqlite.Value { return upper(j.Spec.OnCompletion) }},
		{name: "catch_up", kind: Text, value: func(j *job) sqlite.Value { return upper(j.Spec.CatchUp) }},
		{name: "overlap", kind: Text, value: func(j *job) sqlite.Value { return upper(j.Spec.Overlap) }},
		{name: "partition_strategy", kind: Text, value: func(j *job) sqlite.Value { return text(string(j.Spec.Partition.Strategy)) }},
		{name: "partition_shard_uuid", kind: UUID, value: func(j *job) sqlite.Value { return shard(j.Spec.Partition) }},
		{name: "partition_shards", kind: JSON, value: func(j *job) sqlite.Value { return shards(j.Spec.Partition) }},
		{name: "partition_expression", kind: Text, value: func(j *job) sqlite.Value { return text(j.Spec.Partition.Expression) }},
		{name: "max_retries", kind: Int4, value: func(j *job) sqlite.Value { return integer(int64(j.policy().MaxAttempts - 1)) }, notNull: true},
		{name: "retry_backoff_seconds", kind: Int4, value: func(j *job) sqlite.Value { return seconds(j.policy().Backoff) }, notNull: true},
		{name: "timeout_seconds", kind: Int4, value: func(j *job) sqlite.Value { return seconds(j.policy().Timeout) }, notNull: true},
		{name: "priority", kind: Int4, value: func(j *job) sqlite.Value { return integer(int64(j.priority())) }, notNull: true},
		{name: "template", kind: Text, value: func(j *job) sqlite.Value { return notNullText(j.Spec.Template) }, notNull: true},
		{name: "target", kind: Text, long: true, value: func(j *job) sqlite.Value { return text(j.target()) }},
		{name: "params", kind: JSON, value: func(j *job) sqlite.Value { return document(j.params()) }},
		{name: "created_by_user_uuid", kind: UUID, value: func(*job) sqlite.Value { return null }},
		{name: "created_by", kind: Text, value: func(j *job) sqlite.Value { return text(j.CreatedBy) }},
		{name: "owner", kind: Text, value: func(j *job) sqlite.Value { return notNullText(j.Owner) }, notNull: true},
		{name: "run_as_role_uuid", kind: UUID, value: func(*job) sqlite.Value { return null }},
		{name: "run_as_role", kind: Text, long: true, value: func(j *job) sqlite.Value { return text(j.action().RunAs) }},
		{name: "state", kind: Text, value: func(j *job) sqlite.Value { return notNullText(string(j.State)) }, notNull: true},
		{name: "state_reason", kind: Text, value: func(j *job) sqlite.Value { return text(j.Reason) }},
	}
	for _, pair := range [][]column[job]{
		timeColumns("starts_at", (*job).starts),
		timeColumns("ends_at", func(j *job) time.Time { return j.Spec.EndsAt }),
		timeColumns("next_run_time", func(j *job) time.Time { return j.NextFire }),
		timeColumns("last_run_time", func(j *job) time.Time { return j.LastFire }),
		timeColumns("last_triggered_at", func(j *job) time.Time { return j.TriggeredAt }),
		timeColumns("created_at", func(j *job) time.Time { return j.CreatedAt }),
		timeColumns("updated_at", func(j *job) time.Time { return j.UpdatedAt }),
	} {
		if pair[0].name == "next_run_time" {
			pair[0].sortKey = nextRunKey
		}
		columns = append(columns, pair...)
	}
	return append(columns, column[job]{name: nextRunKey, kind: Integer, hidden: true, notNull: true, value: func(j *job) sqlite.Value {
		if j.NextFire.IsZero() {
			return integer(math.MaxInt64)
		}
		return millis(j.NextFire)
	}})
}

// nextRunKey is a hidden column with the order of the next run, in which jobs without one are last.
const nextRunKey = "next_run_time_key"
