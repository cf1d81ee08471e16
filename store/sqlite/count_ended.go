package sqlite

import "github.com/rotajobs/rota"

// Ended jobs are counted by a covering index whose first column is the outcome. SQLite counts the
// entries of a whole index without reading them, and the entries of one outcome without comparing
// other columns. So the counts of other conditions are separate statements whose results are
// subtracted. A job without an outcome was cancelled before it ran.
const (
	sqlCountEnded = selectCountIndexed + fromEnded
	subtractEnded = `
SELECT -count(*)
FROM rota_jobs j INDEXED BY ` + fromEnded
	fromEnded = `rota_jobs_ended
WHERE j.sequel IS NOT NULL`

	andRetried    = ` AND j.sequel = 'retry'`
	andNotRetried = ` AND j.sequel <> 'retry'`
	andInternal   = ` AND j.schedule IS NULL AND j.type >= 'rota.' AND j.type < 'rota/'` // internal jobs have no schedule
)

// outcomeFilter selects the ended jobs of one outcome. Only failed and cancelled runs can have a
// retry.
type outcomeFilter struct {
	state     rota.State
	condition string
	retried   bool
}

var outcomeFilters = []outcomeFilter{
	{rota.StateCompleted, ` AND j.outcome = 'COMPLETED'`, false},
	{rota.StateFailed, ` AND j.outcome = 'FAILED'`, true},
	{rota.StateSkipped, ` AND j.outcome = 'SKIPPED'`, false},
	{rota.StateCancelled, ` AND j.outcome = 'CANCELLED'`, true},
	{rota.StateCancelled, ` AND j.outcome IS NULL`, false},
}

// countEnded returns the statements that count ended jobs, including hidden ones.
func countEnded(q *rota.JobQuery) (all []string) {
	matching := outcomeFiltersOf(q)
	whole := len(matching) == len(outcomeFilters) && q.Type == "" && q.Schedule == ""
	if whole {
		all = append(all, sqlCountEnded)
	}
	for _, e := range matching {
		condition, tails := e.condition, ""
		if q.Tails && e.retried {
			tails = andNotRetried
		}
		switch {
		case !whole:
			all = append(all, sqlCountEnded+condition+andEndedFilters(q)+tails)
		case tails != "":
			all = append(all, subtractEnded+condition+andRetried)
		}
		if q.Type == "" && q.Schedule == "" {
			all = append(all, subtractEnded+condition+andInternal+tails)
		}
	}
	return all
}

// outcomeFiltersOf returns the outcomes that a query can match.
func outcomeFiltersOf(q *rota.JobQuery) (matching []outcomeFilter) {
	for _, e := range outcomeFilters {
		ran := e != outcomeFilters[len(outcomeFilters)-1]
		if (q.State == "" || q.State == e.state) &&
			(q.Status == "" || (q.Status == rota.StatusRunning) == ran) {
			matching = append(matching, e)
		}
	}
	return matching
}

// andEndedFilters returns the conditions for the schedule and the type of a query.
func andEndedFilters(q *rota.JobQuery) (sql string) {
	if q.Schedule != "" {
		sql += ` AND j.schedule = ?6`
	}
	if q.Type != "" {
		sql += ` AND j.type = ?4`
	}
	return sql
}

// withEndedFilters adds all conditions of a query on ended jobs.
func withEndedFilters(sql string, q *rota.JobQuery) string {
	if q.Schedule != "" {
		sql += ` AND j.schedule = ?6`
	}
	if q.Type != "" {
		sql += ` AND j.type = ?4`
	} else {
		sql += ` AND NOT (j.type >= 'rota.' AND j.type < 'rota/')`
	}
	if q.Tails {
		sql += ` AND j.sequel <> 'retry'`
	}
	switch q.Status {
	case rota.StatusRunning:
		sql += ` AND j.outcome IS NOT NULL`
	case rota.StatusCancelled:
		sql += ` AND j.outcome IS NULL`
	}
	switch q.State {
	case "":
	case rota.StateCancelled:
		sql += ` AND (j.outcome IS NULL OR j.outcome = 'CANCELLED')`
	default:
		sql += ` AND j.outcome = upper(?8)`
	}
	return sql
}
