package storekit

import (
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// HasDetails reports whether a query has a condition of details.
func HasDetails(q *rota.JobQuery) bool {
	return q.Name != "" || q.Unnamed || q.UniqueKey != "" || q.ScopeKind != "" || q.ScopeID != "" || q.ErrorCode != "" || q.Text != "" ||
		!q.Since.IsZero() || !q.Until.IsZero()
}

// details adds the conditions of names, keys, scopes, errors, times and texts.
func (f *Filter) details(q *rota.JobQuery) {
	f.Equal(`j.name`, q.Name)
	if q.Unnamed {
		f.Add(`j.name IS NULL`)
	}
	f.Equal(`j.unique_key`, q.UniqueKey)
	f.equalOr(`j.scope_kind`, q.ScopeKind, rota.GlobalScopeKind)
	f.equalOr(`j.scope_id`, q.ScopeID, rota.GlobalScopeID)
	if !q.Since.IsZero() {
		f.Compare(createdAt(q)+` >=`, roundUp(q.Since))
	}
	if !q.Until.IsZero() {
		f.Compare(createdAt(q)+` <`, roundUp(q.Until))
	}
	if q.ErrorCode != "" {
		f.errorCode(q)
	}
	if q.Text != "" {
		f.contains(q)
	}
}

// equalOr adds a comparison with a column that is NULL for a certain value.
func (f *Filter) equalOr(column, text, null string) {
	if text == null {
		f.Compare(`coalesce(`+column+`, '`+null+`') =`, text)
		return
	}
	f.Equal(column, text)
}

// createdAt returns the time of creation that a query compares.
func createdAt(q *rota.JobQuery) string {
	if !q.OfExecution {
		return `j.created_at`
	}
	return `CASE WHEN j.execution_id IS NULL THEN j.created_at ELSE (SELECT f.created_at FROM rota_jobs f WHERE f.id = j.execution_id) END`
}

// ownError reports whether the error that a query compares is that of the job itself. An execution
// whose last attempt has no run is shown with the error of the attempt before it.
func ownError(q *rota.JobQuery) bool {
	switch q.State {
	case rota.StateRunning, rota.StateCompleted, rota.StateFailed, rota.StateSkipped:
		return true
	}
	return !q.OfExecution
}

// ofPrevious returns the condition of jobs without a run whose attempt before fulfils a condition.
func ofPrevious(condition string) string {
	return `j.runner IS NULL AND EXISTS (SELECT 1 FROM rota_jobs p WHERE p.id = j.retry_of AND ` + condition + `)`
}

func (f *Filter) errorCode(q *rota.JobQuery) {
	if ownError(q) {
		f.Compare(`j.error_code =`, q.ErrorCode)
		return
	}
	code := f.Next(q.ErrorCode)
	f.Add(`(j.error_code = ` + code + ` OR ` + ofPrevious(`p.error_code = `+code) + `)`)
}

// textColumns are the columns that rota.Job.Contains reads.
var textColumns = []string{`j.name`, `j.type`, `j.template`, `j.schedule`, `j.unique_key`, `j.scope_id`, `j.error`}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// contains adds the search for a text. With this collation lower changes only the letters A to Z in
// every database.
func (f *Filter) contains(q *rota.JobQuery) {
	pattern := f.Next("%" + likeEscaper.Replace(rota.FoldASCII(q.Text)) + "%")
	like := func(column string) string { return `lower(` + column + ` COLLATE "C") LIKE ` + pattern + ` ESCAPE '\'` }
	var any []string
	for _, column := range textColumns {
		any = append(any, like(column))
	}
	if !ownError(q) {
		any = append(any, ofPrevious(like(`p.error`)))
	}
	f.Add(`(` + strings.Join(any, ` OR `) + `)`)
}

// roundUp rounds a time up to the precision of the store.
func roundUp(t time.Time) time.Time {
	if down := t.Truncate(time.Microsecond); down.Before(t) {
		return down.Add(time.Microsecond)
	}
	return t
}
