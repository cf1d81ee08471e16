package storekit

import (
	"context"
	"strings"

	"github.com/rotajobs/rota"
)

// Path is how a list of jobs is read: by which index.
type Path int

// The paths. The paths of live jobs and of groups are not in the order of ids: all their jobs are
// read and sorted.
const (
	PathTable Path = iota
	PathUniqueKey
	PathGroup
	PathDead
	PathLiveOfSchedule
	PathRunning
	PathQueued
	PathHeld
	PathScope
	PathErrorCode
	PathName
	PathSchedule
)

// PathOf returns the most selective path of a query.
func PathOf(q *rota.JobQuery) Path {
	live := IsLive(q.State)
	switch {
	case q.UniqueKey != "":
		return PathUniqueKey
	case !q.GroupID.IsZero():
		return PathGroup
	case q.Dead:
		return PathDead
	case live && q.Schedule != "":
		return PathLiveOfSchedule
	case q.State == rota.StateRunning:
		return PathRunning
	case q.State == rota.StateQueued:
		return PathQueued
	case live:
		return PathHeld
	case q.ScopeID != "" && q.ScopeID != rota.GlobalScopeID:
		return PathScope
	case q.ErrorCode != "" && ownError(q):
		return PathErrorCode
	case q.Name != "":
		return PathName
	case q.Schedule != "":
		return PathSchedule
	}
	return PathTable
}

// ByID reports whether a path is in the order of ids.
func (p Path) ByID() bool { return p < PathLiveOfSchedule && p != PathGroup || p > PathHeld }

// filter returns the condition of all jobs on the path of a query.
func (p Path) filter(q *rota.JobQuery) *Filter {
	f := &Filter{}
	f.Add(`true`)
	f.between(q)
	switch p {
	case PathUniqueKey:
		f.Equal(`j.unique_key`, q.UniqueKey)
	case PathDead:
		f.Add(`j.sequel = 'dead'`)
	case PathScope:
		f.Equal(`j.scope_id`, q.ScopeID)
	case PathErrorCode:
		f.Equal(`j.error_code`, q.ErrorCode)
	case PathName:
		f.Equal(`j.name`, q.Name)
	case PathSchedule:
		f.Equal(`j.schedule`, q.Schedule)
	case PathQueued, PathHeld, PathRunning, PathLiveOfSchedule:
		f.Add(stateSQL[q.State])
		f.Equal(`j.schedule`, q.Schedule)
		if q.Schedule != "" {
			f.Add(`j.sequel IS NULL`)
		}
	}
	return f
}

const (
	// findRows is how many rows of its path a page of a search examines.
	findRows = 4 * rota.PageMax
	// liveRows is up to how many live jobs a search reads and sorts. If there are more, it examines
	// jobs by id.
	liveRows = 5 * rota.PageMax
)

// FindJobs lists jobs by id. If the query has a condition that no index answers, it examines at most
// findRows rows: those down to a bound, which it looks up first.
func (s *Reader) FindJobs(ctx context.Context, q rota.JobQuery) (page rota.JobPage, err error) {
	if err := q.Validate(); err != nil {
		return page, err
	}
	limit, err := PageLimit(q.Limit)
	if err != nil || matchesNothing(&q) {
		return page, err
	}
	by := q // the query that decides the path
	if path := PathOf(&q); !path.ByID() && path != PathGroup {
		many, err := s.nth(ctx, &q, "", liveRows)
		if err != nil {
			return page, err
		}
		if !many.IsZero() {
			by.State = ""
		}
	}
	var bound rota.ID
	if PathOf(&by).ByID() && examines(&q) {
		if bound, err = s.nth(ctx, &by, "\nORDER BY j.id"+direction(&q), findRows-1); err != nil {
			return page, err
		}
	}
	sql, args := s.on.Reads.findSQL(&q, &by, bound, limit)
	if page.Jobs, err = s.list(ctx, "list", sql, args...); err != nil {
		return page, err
	}
	switch n := len(page.Jobs); {
	case n == limit:
		page.Next, page.More = page.Jobs[n-1].ID, true
	case !bound.IsZero():
		page.Next, page.More = bound, true
	}
	return page, nil
}

// examines reports whether a query has a condition that a path does not answer alone.
func examines(q *rota.JobQuery) bool {
	path := *q
	path.Before, path.After, path.Oldest, path.Lean, path.Limit = rota.ID{}, rota.ID{}, false, false, 0
	if path == (rota.JobQuery{}) {
		return false
	}
	switch PathOf(&path) {
	case PathUniqueKey:
		path.UniqueKey = ""
	case PathScope:
		path.ScopeID = ""
	case PathErrorCode:
		path.ErrorCode = ""
	case PathName:
		path.Name = ""
	case PathSchedule:
		path.Schedule = ""
	}
	return path != rota.JobQuery{}
}

// nth returns the id of a job that comes after n others on the path of a query; zero: there is none.
func (s *Reader) nth(ctx context.Context, q *rota.JobQuery, order string, n int) (id rota.ID, err error) {
	sql, args := s.on.Reads.nthSQL(q, order, n)
	err = s.on.Query(ctx, "list", sql, func(r Row) error {
		id = r.ID(0)
		return nil
	}, args...)
	return id, err
}

func (l *Reads) nthSQL(q *rota.JobQuery, order string, n int) (sql string, args []any) {
	f := PathOf(q).filter(q)
	return `
SELECT j.id
FROM rota_jobs j` + l.Index(q) + `
WHERE ` + f.SQL() + order + `
LIMIT 1 OFFSET ` + f.Next(n), f.Args()
}

// BoundSQL returns the query of the bound of a search.
func (l *Reads) BoundSQL(q *rota.JobQuery) (sql string, args []any) {
	return l.nthSQL(q, "\nORDER BY j.id"+direction(q), findRows-1)
}

func direction(q *rota.JobQuery) string {
	if q.Oldest {
		return ""
	}
	return " DESC"
}

// findSQL returns the statement of a list on the path of another query, up to a bound.
func (l *Reads) findSQL(q, by *rota.JobQuery, bound rota.ID, limit int) (sql string, args []any) {
	f := FilterOf(q, l.IsDead)
	if !IsLive(q.State) {
		f.Add(NotDropped)
	}
	if !bound.IsZero() {
		f.Compare(map[bool]string{false: `j.id >=`, true: `j.id <=`}[q.Oldest], bound)
	}
	sql = l.List(by, f.SQL(), f.Limit(limit))
	if q.Oldest {
		sql = strings.ReplaceAll(sql, ".id DESC", ".id")
	}
	if q.Lean {
		sql = strings.Replace(sql, FullJob, ListedJob, 1)
	}
	return sql, f.Args()
}
