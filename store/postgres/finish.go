package postgres

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	sqlLeases = `
SELECT ` + leaseColumns + rowVersion + `
FROM rota_jobs j
WHERE j.id = ANY ($1)`
	// Whom others have locked is passed over.
	sqlLeasesFree = sqlLeases + `
FOR UPDATE SKIP LOCKED`
	sqlWhole = `
SELECT ` + wholeColumns + rowVersion + `
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

// loadLeases reads what it takes to beat for jobs or to end them. Those that are
// to be passed over when somebody has locked them are locked as they are read, and
// what is left is looked at behind them.
func (t *tx) loadLeases(ids []rota.ID, pass bool, w *rules.UnitOfWork) []ask {
	if len(ids) == 0 {
		return nil
	}
	if !pass || t.careful {
		ids = t.store.fresh.put(t, ids, w)
		if len(ids) == 0 {
			return nil
		}
		return []ask{{sql: sqlLeases, params: []param{idsParam(ids)}, each: func(r row) error {
			w.PutJob(t.lease(r))
			return nil
		}}}
	}
	t.busy = true
	free := make(map[rota.ID]bool, len(ids))
	return []ask{
		{sql: sqlLeasesFree, params: []param{idsParam(ids)}, each: func(r row) error {
			j := t.lease(r)
			free[j.ID] = true
			w.PutJob(j)
			return nil
		}},
		{sql: sqlLeases, params: []param{idsParam(ids)}, each: func(r row) error {
			if id := r.id(0); !free[id] {
				w.PutLocked(scanLease(r))
			}
			return nil
		}},
	}
}

// loadWhole reads jobs with their params.
func (t *tx) loadWhole(ids []rota.ID, w *rules.UnitOfWork) []ask {
	if len(ids) == 0 {
		return nil
	}
	return []ask{{sql: sqlWhole, params: []param{idsParam(ids)}, each: func(r row) error {
		w.PutJob(t.job(r))
		return nil
	}}}
}

// loadNew does not look for jobs that are to be made: if one of them is there its
// key says so, and then they are looked for.
func (t *tx) loadNew(ids []rota.ID, w *rules.UnitOfWork) []ask {
	if t.careful || t.looks {
		return t.loadWhole(ids, w)
	}
	t.unlooked = append(t.unlooked, ids...)
	return nil
}

// guessed says whether a job was not looked for and is not made: that nobody has
// made it before was only a guess, which nothing will prove wrong.
func (t *tx) guessed(w *rules.UnitOfWork) bool {
	return slices.ContainsFunc(t.unlooked, func(id rota.ID) bool { return !w.Creates(id) })
}

func (t *tx) loadRetries(of []rota.ID, w *rules.UnitOfWork) []ask {
	if len(of) == 0 {
		return nil
	}
	return []ask{{sql: sqlRetries, params: []param{idsParam(of)}, each: func(r row) error {
		w.PutRetry(r.id(0), r.id(1))
		return nil
	}}}
}

func (t *tx) loadChains(ids []rota.ID, w *rules.UnitOfWork) []ask {
	if len(ids) == 0 {
		return nil
	}
	return []ask{{sql: sqlChains, params: []param{idsParam(ids)}, each: func(r row) error {
		w.PutChain(r.id(0), r.id(1))
		return nil
	}}}
}
