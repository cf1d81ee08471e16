package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// countStatements returns the statements whose counts add up to what a list would list. Jobs are
// counted in parts, each by a partial index that holds only that part. Most jobs of a store have
// ended; see count_ended.go.
func countStatements(q *rota.JobQuery) []storekit.Statement {
	bounded := !q.Before.IsZero() || !q.After.IsZero()
	if !q.GroupID.IsZero() || q.Dead || storekit.IsLive(q.State) || bounded || q.Template != "" || storekit.HasDetails(q) {
		return []storekit.Statement{countBy(q, listIndex(q), "")}
	}
	return countParts(q)
}

// countBy returns the statement that counts the jobs of a query in an index.
func countBy(q *rota.JobQuery, index, condition string) storekit.Statement {
	f := storekit.FilterOf(q, isDead)
	if condition != "" {
		f.Add(condition)
	} else if !storekit.IsLive(q.State) {
		f.Add(storekit.NotDropped)
	}
	return storekit.Statement{SQL: `
SELECT count(*)
FROM rota_jobs j` + indexedBy(index) + `
WHERE ` + f.SQL(), Args: f.Args()}
}

// countParts returns the statements that count ended jobs and the live jobs that the query can
// match. A run that has an outcome and is not settled counts as live, and its state is that of its
// outcome.
func countParts(q *rota.JobQuery) (all []storekit.Statement) {
	if q.Status != rota.StatusQueued {
		all = append(countEnded(q), countHidden(q))
	}
	if q.Schedule != "" {
		return append(all, countBy(q, "rota_jobs_live", `j.sequel IS NULL`))
	}
	if q.State == "" && (q.Status == "" || q.Status == rota.StatusQueued) {
		all = append(all, countBy(q, "rota_jobs_claim", `j.status = 'QUEUED' AND j.hold = 0`),
			countBy(q, "rota_jobs_held", `j.status = 'QUEUED' AND j.hold <> 0`))
	}
	if q.Status == "" || q.Status == rota.StatusRunning {
		all = append(all, countBy(q, "rota_jobs_open", `j.status = 'RUNNING' AND j.sequel IS NULL`))
	}
	return all
}
