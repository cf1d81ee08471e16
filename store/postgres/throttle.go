package postgres

import (
	"context"
	"encoding/json"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	sqlThrottle = `
SELECT version, updated_by, updated_at, spec, xmin
FROM rota_throttle`
	sqlPutThrottle = `
INSERT INTO rota_throttle (id, version, updated_by, updated_at, spec)
VALUES (1, $1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE
SET version = excluded.version, updated_by = excluded.updated_by, updated_at = excluded.updated_at, spec = excluded.spec`
	sqlDeleteThrottle = `
DELETE FROM rota_throttle`

	sqlBucket = `
SELECT type, slot, starts
FROM rota_buckets
WHERE type = ANY ($1)`
	sqlPutBucket = `
INSERT INTO rota_buckets (type, slot, starts)
VALUES ($1, $2, $3)
ON CONFLICT (type) DO UPDATE
SET slot = excluded.slot, starts = excluded.starts`
	sqlDeleteBucket = `
DELETE FROM rota_buckets
WHERE type = $1`
)

func scanThrottle(r row) (*rota.Throttle, error) {
	t := scanThrottleHead(r)
	return t, scanSpec(r, 3, &t.Spec, "the limits")
}

func scanThrottleHead(r row) *rota.Throttle {
	return &rota.Throttle{Version: r.ID(0), UpdatedBy: r.Text(1), UpdatedAt: r.Time(2)}
}

func (t *tx) loadThrottle(_ []struct{}, u *rules.UnitOfWork) []statement {
	if useCached(t, classThrottle, rowKey{}, rules.Throttle.Into(u)) {
		return nil
	}
	return []statement{cacheRows(t, classThrottle, singleKey, statement{sql: sqlThrottle}, keyOfSingle, scanThrottle, rules.Throttle.Into(u))}
}

func (t *tx) writeThrottle(c rules.Change[struct{}, rota.Throttle]) []statement {
	if c.Is == nil {
		return []statement{{sql: sqlDeleteThrottle}}
	}
	return []statement{{sql: sqlPutThrottle, params: []param{
		idParam(c.Is.Version), textParam(c.Is.UpdatedBy), timeParam(c.Is.UpdatedAt), specParam(c.Is.Spec),
	}}}
}

// Throttle returns the limits in force.
func (s *reader) Throttle(ctx context.Context) (*rota.Throttle, error) {
	all, err := readAll(ctx, s, "limits", scanThrottle, sqlThrottle)
	if err != nil || len(all) == 0 {
		return &rota.Throttle{}, err
	}
	return all[0], nil
}

func scanBucket(r row) (*rota.Bucket, error) {
	b := &rota.Bucket{Type: r.Text(0), Slot: r.Int(1)}
	return b, scanSpec(r, 2, &b.Starts, "the starts of type "+b.Type)
}

func (t *tx) loadBuckets(types []string, u *rules.UnitOfWork) []statement {
	if len(types) == 0 {
		return nil
	}
	return []statement{{sql: sqlBucket, params: []param{textsParam(types)}, eachRow: scanInto(scanBucket, rules.Buckets.Into(u))}}
}

func (t *tx) writeBucket(c rules.Change[string, rota.Bucket]) []statement {
	if c.Is == nil {
		return []statement{{sql: sqlDeleteBucket, params: []param{textNotNull(c.Key)}}}
	}
	starts, _ := json.Marshal(c.Is.Starts) // numbers always marshal
	return []statement{{sql: sqlPutBucket, params: []param{textNotNull(c.Key), intParam(c.Is.Slot), textNotNull(string(starts))}}}
}
