package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

var (
	sqlLeases = `
SELECT ` + leaseColumns + rowVersion + `
FROM rota_jobs j
WHERE j.id = ANY ($1)`
	// Skips the jobs that other transactions have locked.
	sqlLeasesUnlocked = sqlLeases + `
FOR UPDATE SKIP LOCKED`
	sqlFullJobs = `
SELECT ` + fullColumns + rowVersion + `
FROM rota_jobs j
WHERE j.id = ANY ($1)`
	sqlRetries = `
SELECT retry_of, id
FROM rota_jobs
WHERE retry_of = ANY ($1)`
	sqlChains = `
WITH RECURSIVE chain (first, id, n) AS (
  SELECT v, v, 0
  FROM unnest($1) AS v
  UNION ALL
  SELECT c.first, j.id, c.n + 1
  FROM chain c
  JOIN rota_jobs j ON j.retry_of = c.id
)
SELECT DISTINCT ON (first) first, id
FROM chain
ORDER BY first, n DESC`
)

// loadLeases reads the columns that a heartbeat or a finish needs. With skipLocked it locks the
// jobs as it reads them, and then reads those that other transactions hold without a lock.
func (t *tx) loadLeases(ids []rota.ID, skipLocked bool, u *rules.UnitOfWork) []statement {
	if len(ids) == 0 {
		return nil
	}
	if !skipLocked || t.pessimistic {
		ids = t.store.dispatched.load(t, ids, u)
		if len(ids) == 0 {
			return nil
		}
		return []statement{{sql: sqlLeases, params: []param{idsParam(ids)}, eachRow: func(r row) error {
			u.PutLease(t.scanLease(r))
			return nil
		}}}
	}
	t.locks.holdsRows = true
	free := make(map[rota.ID]bool, len(ids))
	return []statement{
		{sql: sqlLeasesUnlocked, params: []param{idsParam(ids)}, eachRow: func(r row) error {
			j := t.scanLease(r)
			free[j.ID] = true
			u.PutLease(j)
			return nil
		}},
		{sql: sqlLeases, params: []param{idsParam(ids)}, eachRow: func(r row) error {
			if id := r.ID(0); !free[id] {
				u.PutLocked(scanLease(r))
			}
			return nil
		}},
	}
}

// loadFullJobs reads jobs with their params.
func (t *tx) loadFullJobs(ids []rota.ID, u *rules.UnitOfWork) []statement {
	if len(ids) == 0 {
		return nil
	}
	return []statement{{sql: sqlFullJobs, params: []param{idsParam(ids)}, eachRow: func(r row) error {
		u.PutJob(t.scanJob(r))
		return nil
	}}}
}

func (t *tx) loadRetries(of []rota.ID, u *rules.UnitOfWork) []statement {
	if len(of) == 0 {
		return nil
	}
	return []statement{{sql: sqlRetries, params: []param{idsParam(of)}, eachRow: func(r row) error {
		rules.Retries.Put(u, r.ID(0), r.ID(1))
		return nil
	}}}
}

func (t *tx) loadChains(ids []rota.ID, u *rules.UnitOfWork) []statement {
	if len(ids) == 0 {
		return nil
	}
	return []statement{{sql: sqlChains, params: []param{idsParam(ids)}, eachRow: func(r row) error {
		rules.Chains.Put(u, r.ID(0), r.ID(1))
		return nil
	}}}
}
