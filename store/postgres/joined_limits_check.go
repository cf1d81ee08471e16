package postgres

import "github.com/rotajobs/rota/internal/rules"

// The joined check of limits is a fast path of claims and finishes. The plain way checks with one
// statement each that limits, active reservation and types are unchanged. The fast path checks all
// of them with one statement. It assumes nothing.

// sqlUnchangedClaimLimits fails unless everything that limits a claim is unchanged. No count can
// exceed its expected value, so the sums are equal only if all counts are.
const sqlUnchangedClaimLimits = `
SELECT rota_expect(t.matched + l.matched + a.matched, $3::bigint + $5 + $7, t.present + l.present + a.present)
FROM (
  SELECT count(t.name) FILTER (WHERE t.xmin = v.version) AS matched, count(t.name) AS present
  FROM unnest($1, $2) AS v (name, version)
  LEFT JOIN rota_types t ON t.name = ANY (ARRAY[v.name])) t
CROSS JOIN (
  SELECT count(*) FILTER (WHERE t.xmin = $4) AS matched, count(*) AS present
  FROM rota_throttle t) l
CROSS JOIN (
  SELECT count(*) FILTER (WHERE t.xmin = $6) AS matched, count(*) AS present
  FROM rota_reservations t
  WHERE t.status = 'ACTIVE') a`

// joinLimitsCheck removes limits, reservation and types from the rows to check, and returns the
// statement that checks them together.
func (t *tx) joinLimitsCheck(rows map[rules.LockClass]map[rowKey]uint32) []statement {
	types, limits, active := rows[rules.LockType], rows[rules.LockThrottle], rows[rules.LockActive]
	if len(limits) == 0 || len(active) == 0 || !t.store.uses(JoinedLimitsCheck) {
		return nil
	}
	delete(rows, rules.LockType)
	delete(rows, rules.LockThrottle)
	delete(rows, rules.LockActive)
	check := unchangedNamed(sqlUnchangedClaimLimits, types)
	for _, one := range []map[rowKey]uint32{limits, active} {
		check.params = append(check.params, unchangedSingle("", one).params...)
	}
	return []statement{check}
}
