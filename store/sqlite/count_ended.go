package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// Ended jobs are counted by a covering index whose first column is the outcome. SQLite counts the
// entries of a whole index without reading them, and the entries of one outcome without comparing
// other columns. So the counts of other conditions are separate statements whose results are
// subtracted. A job without an outcome was cancelled before it ran.
const (
	selectEnded = `
SELECT count(*)` + fromEnded
	subtractEnded = `
SELECT -count(*)` + fromEnded
	fromEnded = `
FROM rota_jobs j INDEXED BY rota_jobs_ended
WHERE `
	sqlCountEnded = selectEnded + isEnded

	isEnded    = `j.sequel IS NOT NULL`
	isInternal = `j.schedule IS NULL AND j.type >= 'rota.' AND j.type < 'rota/'` // internal jobs have no schedule
)

// outcomeFilter selects the ended jobs of one state and outcome. Only failed runs can have a retry. Of
// the cancelled runs, those that timed out have failed; they have a retry or are dead letters.
type outcomeFilter struct {
	state     rota.State
	condition string
	retried   bool
}

var outcomeFilters = []outcomeFilter{
	{rota.StateCompleted, `j.outcome = 'COMPLETED'`, false},
	{rota.StateFailed, `j.outcome = 'FAILED'`, true},
	{rota.StateSkipped, `j.outcome = 'SKIPPED'`, false},
	{rota.StateFailed, `j.outcome = 'CANCELLED' AND j.sequel <> 'none'`, true},
	{rota.StateCancelled, `j.outcome = 'CANCELLED' AND j.sequel = 'none'`, false},
	{rota.StateCancelled, `j.outcome IS NULL`, false},
}

// countEnded returns the statements that count ended jobs, including hidden ones.
func countEnded(q *rota.JobQuery) (all []storekit.Statement) {
	add := func(count string, conditions ...string) {
		f := &storekit.Filter{}
		f.Add(isEnded)
		for _, one := range conditions {
			f.Add(one)
		}
		if count == selectEnded {
			f.Equal(`j.schedule`, q.Schedule)
			f.Equal(`j.type`, q.Type)
		}
		all = append(all, storekit.Statement{SQL: count + f.SQL(), Args: f.Args()})
	}
	matching := outcomeFiltersOf(q)
	whole := len(matching) == len(outcomeFilters) && q.Type == "" && q.Schedule == ""
	if whole {
		add(selectEnded)
	}
	for _, e := range matching {
		conditions := []string{e.condition}
		tails := q.Tails && e.retried
		if whole && tails {
			add(subtractEnded, e.condition, `j.sequel = 'retry'`)
		}
		if tails {
			conditions = append(conditions, `j.sequel <> 'retry'`)
		}
		if !whole {
			add(selectEnded, conditions...)
		}
		if q.Type == "" && q.Schedule == "" {
			add(subtractEnded, append(conditions, isInternal)...)
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

// countHidden returns the statement that subtracts the hidden jobs: the index of ended jobs does not
// have the time of creation.
func countHidden(q *rota.JobQuery) storekit.Statement {
	f := storekit.FilterOf(q, isDead)
	return storekit.Statement{SQL: selectHidden + f.SQL(), Args: f.Args()}
}

const selectHidden = `
SELECT -count(*)
FROM rota_dropped d
CROSS JOIN rota_jobs j INDEXED BY rota_jobs_schedule
WHERE j.schedule = d.schedule AND j.created_at < d.hidden_before AND j.sequel IS NOT NULL AND `
