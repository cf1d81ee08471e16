package storekit

import (
	"strings"

	"github.com/rotajobs/rota"
)

// Filter is the condition of a query of the jobs j, with its arguments.
type Filter struct {
	conditions []string
	args       []any
}

// Add adds a condition without arguments.
func (f *Filter) Add(condition string) { f.conditions = append(f.conditions, condition) }

// Compare adds a comparison with an argument: the left side and the operator.
func (f *Filter) Compare(left string, arg any) { f.Add(left + " " + f.Next(arg)) }

// Equal adds a comparison with a text that is not empty.
func (f *Filter) Equal(column, text string) {
	if text != "" {
		f.Compare(column+" =", text)
	}
}

// Limit adds an argument that no condition uses and returns its placeholder.
func (f *Filter) Limit(limit int) string { return f.Next(limit) }

// SQL returns the conditions.
func (f *Filter) SQL() string { return strings.Join(f.conditions, " AND ") }

// Args returns the arguments.
func (f *Filter) Args() []any { return f.args }

// Conditions that several queries share.
const (
	// NotInternal excludes the jobs of Rota itself.
	NotInternal = `(j.type < 'rota.' OR j.type >= 'rota/')`
	// NotDropped excludes the history of dropped schedules: ended jobs that were created before the
	// drop. If nothing was dropped it costs a lookup in an empty table for each ended job of a
	// schedule.
	NotDropped = `(j.sequel IS NULL OR j.schedule IS NULL OR NOT EXISTS (
  SELECT 1
  FROM rota_dropped d
  WHERE d.schedule = j.schedule AND d.hidden_before > j.created_at))`
	notRetried = `j.sequel IS DISTINCT FROM 'retry'`
)

// NotCancelled returns the condition of jobs, of the given name in the query, that were not cancelled.
func NotCancelled(job string) string {
	return strings.ReplaceAll(`j.status <> 'CANCELLED'
  AND (j.outcome IS DISTINCT FROM 'CANCELLED' OR j.error_code = 'timeout' AND j.cancel_at IS NULL)`, "j.", job+".")
}

// stateSQL holds the condition of each state. A run that timed out has failed: see
// rota.Run.ShownOutcome.
var stateSQL = map[rota.State]string{
	rota.StateQueued:    `j.status = 'QUEUED' AND j.hold = 0`,
	rota.StateScheduled: `j.status = 'QUEUED' AND j.hold <> 0 AND j.hold & 1 <> 0`,
	rota.StateBlocked:   `j.status = 'QUEUED' AND j.hold <> 0 AND j.hold & 1 = 0`,
	rota.StateRunning:   `j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL`,
	rota.StateCompleted: `j.outcome = 'COMPLETED'`,
	rota.StateFailed:    `(j.outcome = 'FAILED' OR j.outcome = 'CANCELLED' AND j.error_code = 'timeout' AND j.cancel_at IS NULL)`,
	rota.StateSkipped:   `j.outcome = 'SKIPPED'`,
	rota.StateCancelled: `(j.status = 'CANCELLED' OR j.outcome = 'CANCELLED' AND (j.error_code IS DISTINCT FROM 'timeout' OR j.cancel_at IS NOT NULL))`,
}

// liveStatusOf is the status of each state of jobs that have not ended.
var liveStatusOf = map[rota.State]rota.Status{
	rota.StateQueued: rota.StatusQueued, rota.StateScheduled: rota.StatusQueued, rota.StateBlocked: rota.StatusQueued,
	rota.StateRunning: rota.StatusRunning,
}

// IsLive reports whether jobs of a state have not ended. They have a status of their own, no retry,
// and are never hidden.
func IsLive(s rota.State) bool { return liveStatusOf[s] != "" }

// FilterOf returns the condition of a query, without the hidden history of dropped schedules. isDead
// is the condition of dead letters that no redrive handles.
func FilterOf(q *rota.JobQuery, isDead string) *Filter {
	f := &Filter{}
	live := IsLive(q.State)
	f.between(q)
	if q.Type == "" {
		f.Add(NotInternal)
	}
	f.Equal(`j.type`, q.Type)
	if !live {
		f.Equal(`j.status`, string(q.Status))
	}
	if q.State != "" {
		f.Add(stateSQL[q.State])
	}
	f.Equal(`j.template`, q.Template)
	f.Equal(`j.schedule`, q.Schedule)
	if q.Schedule != "" && live { // the index of live jobs has this condition
		f.Add(`j.sequel IS NULL`)
	}
	if !q.GroupID.IsZero() {
		f.Compare(`j.group_id =`, q.GroupID)
	}
	if q.Tails && !live {
		f.Add(notRetried)
	}
	if q.Dead {
		f.Add(isDead)
	}
	f.details(q)
	return f
}

// between adds the ids between which a query selects jobs.
func (f *Filter) between(q *rota.JobQuery) {
	if !q.Before.IsZero() {
		f.Compare(`j.id <`, q.Before)
	}
	if !q.After.IsZero() {
		f.Compare(`j.id >`, q.After)
	}
}

// Next adds an argument and returns its placeholder.
func (f *Filter) Next(arg any) string {
	f.args = append(f.args, arg)
	return place(len(f.args) - 1)
}
