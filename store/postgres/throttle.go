package postgres

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	sqlThrottle = `
SELECT version, updated_by, updated_at, spec, xmin
FROM rota_throttle`
	// What is known already is not sent again.
	sqlLimits = `
SELECT version, updated_by, updated_at, CASE WHEN version = $1 AND xmin = $2 THEN NULL ELSE spec END, xmin
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
	return &rota.Throttle{Version: r.id(0), UpdatedBy: r.text(1), UpdatedAt: r.time(2)}
}

// limitsCache are the limits in force as they were read last. Every claim looks
// at them, and reading up to ThrottleMax entries anew would cost more than it
// does. They go by the transaction that wrote them as well: one that was taken
// back never wrote any.
type limitsCache struct {
	mu   sync.Mutex
	last readLimits
}

type readLimits struct {
	*rota.Throttle // nil: none were read
	xmin           uint32
}

func (c *limitsCache) get() readLimits {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *limitsCache) set(read readLimits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = read
}

func (t *tx) loadThrottle(w *rules.World) ask {
	t.seen.asked(classThrottle, seat{})
	last, version := t.store.limits.get(), rota.ID{}
	if last.Throttle != nil {
		version = last.Version
	}
	scan := func(r row) (*rota.Throttle, error) {
		if r.null(3) {
			return last.Throttle, nil
		}
		read, err := scanThrottle(r)
		if err == nil {
			t.store.limits.set(readLimits{read, r.xid(4)})
		}
		return read, err
	}
	return ask{
		sql: sqlLimits, params: []param{idParam(version), xidParam(last.xmin)},
		each: putSeen(t, classThrottle, ofNone, scan, w.PutThrottle),
	}
}

func (t *tx) writeThrottle(c rules.Change[struct{}, rota.Throttle]) []ask {
	if c.Is == nil {
		return []ask{{sql: sqlDeleteThrottle}}
	}
	return []ask{{sql: sqlPutThrottle, params: []param{
		idParam(c.Is.Version), textParam(c.Is.UpdatedBy), timeParam(c.Is.UpdatedAt), specParam(c.Is.Spec),
	}}}
}

// Throttle returns the limits in force.
func (s *Store) Throttle(ctx context.Context) (*rota.Throttle, error) {
	all, err := readAll(ctx, s, "limits", scanThrottle, sqlThrottle)
	if err != nil || len(all) == 0 {
		return &rota.Throttle{}, err
	}
	return all[0], nil
}

func scanBucket(r row) (*rota.Bucket, error) {
	b := &rota.Bucket{Type: r.text(0), Slot: r.int(1)}
	return b, scanSpec(r, 2, &b.Starts, "the starts of type "+b.Type)
}

func (t *tx) loadBuckets(types []string, w *rules.World) []ask {
	if len(types) == 0 {
		return nil
	}
	return []ask{{sql: sqlBucket, params: []param{textsParam(types)}, each: put(scanBucket, w.PutBucket)}}
}

func (t *tx) writeBucket(c rules.Change[string, rota.Bucket]) []ask {
	if c.Is == nil {
		return []ask{{sql: sqlDeleteBucket, params: []param{textAlways(c.Key)}}}
	}
	starts, _ := json.Marshal(c.Is.Starts) // numbers always marshal
	return []ask{{sql: sqlPutBucket, params: []param{textAlways(c.Key), intParam(c.Is.Slot), textAlways(string(starts))}}}
}
