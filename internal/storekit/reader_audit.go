package storekit

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// The audit has three sources, each in the order of its entries, newest first: the stored entries,
// the jobs that a caller enqueued, and the jobs that ended. An entry derived from a job has an id
// that sorts as that of the job. $1 and $2 are the time and the id of the place where a page starts,
// $3 is the earliest time, $4 the limit, and $5 what the entries are about.
var (
	auditPage = `(at, id) < ($1, $2) AND at >= $3
ORDER BY at DESC, id DESC
LIMIT $4`
	sqlAudit = Audit.Select() + `
WHERE ` + auditPage
	sqlAuditOfSubject = Audit.Select() + `
WHERE subject = $5 AND ` + auditPage
	sqlAuditOfSchedule = Audit.Select() + `
WHERE schedule = $5 AND ` + auditPage
	sqlAuditOfExecution = Audit.Select() + `
WHERE execution_id = $5 AND ` + auditPage

	sqlCreatedJobs = `
SELECT ` + ListedJob + `
FROM rota_jobs j
WHERE j.created_by IS NOT NULL AND j.schedule IS NULL AND j.retry_of IS NULL AND j.redrive_of IS NULL
  AND (j.created_at, j.id) < ($1, $2) AND j.created_at >= $3
ORDER BY j.created_at DESC, j.id DESC
LIMIT $4`
	sqlFinishedJobs = `
SELECT ` + ListedJob + `
FROM rota_jobs j
WHERE j.finished_at IS NOT NULL AND (j.finished_at, j.id) < ($1, $2) AND j.finished_at >= $3
ORDER BY j.finished_at DESC, j.id DESC
LIMIT $4`
	sqlFinishedJobsOf = `
SELECT ` + ListedJob + `
FROM rota_jobs j
WHERE j.schedule = $5 AND j.finished_at IS NOT NULL AND (j.finished_at, j.id) < ($1, $2) AND j.finished_at >= $3
ORDER BY j.finished_at DESC, j.id DESC
LIMIT $4`
	sqlJob = `
SELECT ` + ListedJob + `
FROM rota_jobs j
WHERE j.id = $1`
	sqlChainOf = `
WITH RECURSIVE chain (id, n) AS (
  SELECT j.id, 1
  FROM rota_jobs j
  WHERE j.id = $1
  UNION ALL
  SELECT j.id, chain.n + 1
  FROM chain
  JOIN rota_jobs j ON j.retry_of = chain.id
)
SELECT ` + ListedJob + `
FROM chain
JOIN rota_jobs j ON j.id = chain.id
ORDER BY chain.n`
)

// auditRows is how many rows of each source a page with a filter examines. A page without one
// examines no more than it returns.
const auditRows = rota.PageMax

// Audit lists the audit, newest first.
func (s *Reader) Audit(ctx context.Context, q rota.AuditQuery) (page rota.AuditPage, err error) {
	if err := q.Validate(); err != nil {
		return page, err
	}
	limit, err := PageLimit(q.Limit)
	if err != nil {
		return page, err
	}
	if !q.ExecutionID.IsZero() {
		if q.ExecutionID, err = s.executionOf(ctx, q.ExecutionID); err != nil {
			return page, err
		}
	}
	m := newAuditMerge(&q, limit)
	err = s.on.Snapshot(ctx, "audit", func(on Querier) error {
		*m = *newAuditMerge(&q, limit) // a snapshot may be taken again
		return on.Query(m.queries()...)
	})
	if err != nil {
		return page, err
	}
	return m.page(), nil
}

// auditMerge merges the sources of one page.
type auditMerge struct {
	q       *rota.AuditQuery
	limit   int // entries of the page
	rows    int // rows of each source
	before  rota.AuditCursor
	since   time.Time
	entries []rota.AuditEntry
	// end is the newest of the places at which a source was cut off. Older entries of the other
	// sources are left to the next page.
	end rota.AuditCursor
}

func newAuditMerge(q *rota.AuditQuery, limit int) *auditMerge {
	m := &auditMerge{q: q, limit: limit, rows: limit + 1, before: q.Before, since: q.Since}
	if q.Filters() {
		m.rows = auditRows
	}
	if m.since.IsZero() {
		m.since = earliest
	}
	if m.before == (rota.AuditCursor{}) {
		m.before = rota.AuditCursor{At: latest, ID: Before(rota.ID{})}
	}
	if until := roundUp(q.Until); !q.Until.IsZero() && !until.After(m.before.At) {
		m.before = rota.AuditCursor{At: until} // no id is below the zero id
	}
	return m
}

// earliest and latest are before and after all times of entries.
var (
	earliest = time.UnixMicro(-1 << 62)
	latest   = time.UnixMicro(1<<62 - 1)
)

// queries returns the queries of the sources that can have entries.
func (m *auditMerge) queries() []Query {
	job, ofJob := subjectJob(m.q.Subject)
	switch {
	case m.q.Derived:
		return []Query{m.created(), m.ended(sqlFinishedJobs)}
	case !m.q.ExecutionID.IsZero():
		return []Query{
			m.stored(sqlAuditOfExecution, m.q.ExecutionID),
			{SQL: sqlChainOf, Each: m.whole, Args: []any{m.q.ExecutionID}},
		}
	case ofJob:
		return []Query{m.stored(sqlAuditOfSubject, m.q.Subject), {SQL: sqlJob, Each: m.whole, Args: []any{job}}}
	case m.q.Subject != "":
		return []Query{m.stored(sqlAuditOfSubject, m.q.Subject)}
	case m.q.Schedule != "":
		return []Query{m.stored(sqlAuditOfSchedule, m.q.Schedule), m.ended(sqlFinishedJobsOf, m.q.Schedule)}
	}
	return []Query{m.stored(sqlAudit), m.created(), m.ended(sqlFinishedJobs)}
}

// subjectJob returns the job that a subject names.
func subjectJob(subject string) (rota.ID, bool) {
	text, is := strings.CutPrefix(subject, rota.JobSubject(rota.ID{}))
	id, err := rota.ParseID(text)
	return id, is && err == nil && rota.JobSubject(id) == subject
}

// args returns the arguments of a source, which starts below an id at the time of the page's start.
func (m *auditMerge) args(below rota.ID, about []any) []any {
	return append([]any{m.before.At, below, m.since, m.rows}, about...)
}

// endsBelow returns the id such that a job is below it if the entry about the end of the job is below
// another id. Ids of jobs have version 7, ids of these entries version 8.
func endsBelow(id rota.ID) rota.ID {
	job := id
	switch version := id[6] >> 4; {
	case version == 8:
		job[6] = job[6]&0x0f | 0x70
	case version < 8:
		clear(job[6:])
	default:
		for i := range job[6:] {
			job[6+i] = 0xff
		}
	}
	return job
}

// stored returns the query of stored entries.
func (m *auditMerge) stored(sql string, about ...any) Query {
	count := 0
	if m.q.OfJob() {
		sql = `
SELECT page.*, ` + AuditedJob + `
FROM (` + sql + `
) page
LEFT JOIN rota_jobs j ON j.id = page.job_id
ORDER BY page.at DESC, page.id DESC`
	}
	return Query{SQL: sql, Args: m.args(m.before.ID, about), Each: func(r Row) error {
		e, err := Audit.Scan(r)
		if err != nil {
			return err
		}
		m.examine(e.WithDefaults(), auditedJob(r))
		if count++; count == m.rows {
			m.cutOff(rota.AuditCursor{At: e.At, ID: e.ID})
		}
		return nil
	}}
}

// created returns the query of the jobs that a caller enqueued.
func (m *auditMerge) created() Query {
	return m.jobs(sqlCreatedJobs, m.args(m.before.ID, nil), func(j *rota.Job) rota.AuditCursor {
		return rota.AuditCursor{At: j.CreatedAt, ID: j.ID}
	})
}

// ended returns a query of the jobs that ended.
func (m *auditMerge) ended(sql string, about ...any) Query {
	return m.jobs(sql, m.args(endsBelow(m.before.ID), about), func(j *rota.Job) rota.AuditCursor {
		return rota.AuditCursor{At: j.FinishedAt, ID: rota.AuditEndID(j.ID)}
	})
}

// jobs returns a query of jobs in the order of one of their entries, whose place is given.
func (m *auditMerge) jobs(sql string, args []any, place func(*rota.Job) rota.AuditCursor) Query {
	count := 0
	return Query{SQL: sql, Args: args, Each: func(r Row) error {
		j := ScanListed(r)
		at := place(j)
		for _, e := range j.AuditEntries() {
			if e.ID == at.ID {
				m.examine(e, j)
			}
		}
		if count++; count == m.rows {
			m.cutOff(at)
		}
		return nil
	}}
}

// whole takes all entries of a job.
func (m *auditMerge) whole(r Row) error {
	j := ScanListed(r)
	for _, e := range j.AuditEntries() {
		m.examine(e, j)
	}
	return nil
}

// examine takes an entry about a job if the query selects it and it is before the start of the page.
func (m *auditMerge) examine(e rota.AuditEntry, j *rota.Job) {
	if m.q.Matches(&e, j) && older(rota.AuditCursor{At: e.At, ID: e.ID}, m.before) {
		m.entries = append(m.entries, e)
	}
}

// cutOff notes that a source may have further entries after a place.
func (m *auditMerge) cutOff(at rota.AuditCursor) {
	if m.end == (rota.AuditCursor{}) || older(m.end, at) {
		m.end = at
	}
}

// older reports whether a place comes after another in the order newest first.
func older(a, b rota.AuditCursor) bool {
	return a.At.Before(b.At) || a.At.Equal(b.At) && a.ID.Compare(b.ID) < 0
}

// page returns the newest entries, as far as all sources have been read.
func (m *auditMerge) page() rota.AuditPage {
	slices.SortFunc(m.entries, func(a, b rota.AuditEntry) int { return b.Compare(&a) })
	if m.end != (rota.AuditCursor{}) {
		m.entries = slices.DeleteFunc(m.entries, func(e rota.AuditEntry) bool {
			return older(rota.AuditCursor{At: e.At, ID: e.ID}, m.end)
		})
	}
	if len(m.entries) > m.limit {
		m.entries = m.entries[:m.limit]
		last := m.entries[m.limit-1]
		return rota.AuditPage{Entries: m.entries, Next: rota.AuditCursor{At: last.At, ID: last.ID}, More: true}
	}
	return rota.AuditPage{Entries: m.entries, Next: m.end, More: m.end != rota.AuditCursor{}}
}
