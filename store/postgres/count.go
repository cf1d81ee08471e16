package postgres

import (
	"context"
	"strings"

	"github.com/rotajobs/rota"
)

const (
	sqlCount = `
SELECT count(*)
FROM rota_jobs j
WHERE `
	sqlCountHidden = `
SELECT count(*)` + countHidden
)

// CountJobs counts what Jobs would list over all pages.
func (s *reader) CountJobs(ctx context.Context, q rota.JobQuery) (n int64, err error) {
	q.Limit = 0
	if err := q.Validate(); err != nil {
		return 0, err
	}
	if one := liveStatusOf[q.State]; one != "" && q.Status != "" && q.Status != one {
		return 0, nil
	}
	l := &listing{params: []param{beforeParam(q.Before)}}
	l.addFilters(&q)
	conditions := strings.Join(l.conditions, ` AND `)
	sql := `
SELECT (` + sqlCount + conditions + `) - (` + sqlCountHidden + conditions + `)`
	err = s.query(ctx, "count", withoutJIT, statement{sql: sql, params: l.params, eachRow: func(r row) error {
		n = r.Int(0)
		return nil
	}})
	return n, err
}
