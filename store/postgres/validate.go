package postgres

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Statements that fail unless rows are unchanged: as many exist as before, each in its version.
const (
	sqlUnchangedNamed = `
SELECT rota_expect(count(t.name) FILTER (WHERE t.xmin = v.version), $3, count(t.name))
FROM unnest($1, $2) AS v (name, version)
LEFT JOIN `
	byName = ` t ON t.name = ANY (ARRAY[v.name])`

	sqlUnchangedTypes      = sqlUnchangedNamed + `rota_types` + byName
	sqlUnchangedTemplates  = sqlUnchangedNamed + `rota_templates` + byName
	sqlUnchangedSchedules  = sqlUnchangedNamed + `rota_schedules` + byName
	sqlUnchangedPrincipals = sqlUnchangedNamed + `rota_principals` + byName
	sqlUnchangedGroups     = `
SELECT rota_expect(count(t.id) FILTER (WHERE t.xmin = v.version), $3, count(t.id))
FROM unnest($1, $2) AS v (id, version)
LEFT JOIN rota_groups t ON t.id = ANY (ARRAY[v.id])`
	sqlUnchangedKeys = `
SELECT rota_expect(count(t.key) FILTER (WHERE t.xmin = v.version), $4, count(t.key))
FROM unnest($1, $3, $2) AS v (type, version, key)
LEFT JOIN rota_keys t ON t.type = ANY (ARRAY[v.type]) AND t.key = v.key`
	sqlUnchangedRequests = `
SELECT rota_expect(count(t.key) FILTER (WHERE t.xmin = v.version), $4, count(t.key))
FROM unnest($1, $3, $2) AS v (actor, version, key)
LEFT JOIN rota_requests t ON t.actor = ANY (ARRAY[v.actor]) AND t.key = v.key`
	sqlUnchangedThrottle = `
SELECT rota_expect(count(*) FILTER (WHERE t.xmin = $1), $2, count(*))
FROM rota_throttle t`
	sqlUnchangedWebhooks = `
SELECT rota_expect(count(*) FILTER (WHERE t.xmin = $1), $2, count(*))
FROM rota_webhooks t`
	sqlUnchangedAccessState = `
SELECT rota_expect(count(*) FILTER (WHERE t.xmin = $1), $2, count(*))
FROM rota_access_state t`
	sqlUnchangedActive = `
SELECT rota_expect(count(*) FILTER (WHERE t.xmin = $1), $2, count(*))
FROM rota_reservations t
WHERE t.status = 'ACTIVE'`
	sqlUnchangedJobs = `
SELECT rota_expect(count(*), $3, $3)
FROM unnest($1, $2) AS v (id, version)
JOIN rota_jobs j ON j.id = ANY (ARRAY[v.id]) AND j.xmin = v.version`
)

// validate returns the statements that check the rows read without a lock. Jobs that change are
// checked by their updates.
func (t *tx) validate(u *rules.UnitOfWork, underLock func(rules.LockClass, rowKey) bool, sets bool) (statements []statement) {
	unlocked := t.readSet.readWithoutLock(underLock)
	statements = t.joinLimitsCheck(unlocked)
	for _, one := range []struct {
		class rules.LockClass
		sql   string
		check func(sql string, of map[rowKey]uint32) statement
	}{
		{rules.LockUniqueKey, sqlUnchangedKeys, unchangedPairs},
		{rules.LockThrottle, sqlUnchangedThrottle, unchangedSingle},
		{rules.LockWebhooks, sqlUnchangedWebhooks, unchangedSingle},
		{rules.LockType, sqlUnchangedTypes, unchangedNamed},
		{rules.LockTemplate, sqlUnchangedTemplates, unchangedNamed},
		{rules.LockSchedule, sqlUnchangedSchedules, unchangedNamed},
		{rules.LockGroup, sqlUnchangedGroups, unchangedGroups},
		{rules.LockRequest, sqlUnchangedRequests, unchangedPairs},
		{rules.LockActive, sqlUnchangedActive, unchangedSingle},
		{rules.LockAccess, sqlUnchangedPrincipals, unchangedNamed},
		{rules.LockAccessState, sqlUnchangedAccessState, unchangedSingle},
	} {
		if len(unlocked[one.class]) > 0 {
			statements = append(statements, one.check(one.sql, unlocked[one.class]))
		}
	}
	return append(statements, t.unchangedJobs(u, sets)...)
}

// readWithoutLock returns the rows that were read without a lock.
func (s *readSet) readWithoutLock(underLock func(rules.LockClass, rowKey) bool) map[rules.LockClass]map[rowKey]uint32 {
	all := map[rules.LockClass]map[rowKey]uint32{}
	for c, names := range s.rows {
		for at, version := range names {
			if underLock(c, at) {
				continue
			}
			if all[c] == nil {
				all[c] = map[rowKey]uint32{}
			}
			all[c][at] = version
		}
	}
	return all
}

// unchangedJobs checks the jobs that were only read. If the command also reads sets of rows,
// running jobs are not checked: their relevant columns are under a lock, and each heartbeat changes
// their version.
func (t *tx) unchangedJobs(u *rules.UnitOfWork, sets bool) []statement {
	ids, versions, n := newColumn(oidIDs, 0), newColumn(oidXids, 0), 0
	u.EachJob(func(j *rota.Job, changes bool) {
		version, known := t.readSet.jobs[j.ID]
		if changes || !known || t.locks.jobs[j.ID] || sets && j.Run != nil && j.Run.Open() {
			return
		}
		ids.bytes(j.ID[:])
		versions.xid(version)
		n++
	})
	if n == 0 {
		return nil
	}
	return []statement{{sql: sqlUnchangedJobs, params: []param{ids.param(), versions.param(), intParam(int64(n))}}}
}

func unchangedNamed(sql string, of map[rowKey]uint32) statement {
	names, versions, n := newColumn(oidTexts, len(of)), newColumn(oidXids, len(of)), 0
	for _, at := range sortedKeys(of) {
		names.Text(at.name)
		versions.xid(of[at])
		n += present(of[at])
	}
	return statement{sql: sql, params: []param{names.param(), versions.param(), intParam(int64(n))}}
}

func unchangedGroups(sql string, of map[rowKey]uint32) statement {
	ids, versions, n := newColumn(oidIDs, len(of)), newColumn(oidXids, len(of)), 0
	for _, at := range sortedKeys(of) {
		ids.bytes([]byte(at.name))
		versions.xid(of[at])
		n += present(of[at])
	}
	return statement{sql: sql, params: []param{ids.param(), versions.param(), intParam(int64(n))}}
}

func unchangedPairs(sql string, of map[rowKey]uint32) statement {
	first, second, versions, n := newColumn(oidTexts, len(of)), newColumn(oidTexts, len(of)), newColumn(oidXids, len(of)), 0
	for _, at := range sortedKeys(of) {
		first.Text(at.name)
		second.Text(at.second)
		versions.xid(of[at])
		n += present(of[at])
	}
	return statement{sql: sql, params: []param{first.param(), second.param(), versions.param(), intParam(int64(n))}}
}

// unchangedSingle checks a table with at most one row.
func unchangedSingle(sql string, of map[rowKey]uint32) statement {
	version := of[rowKey{}]
	return statement{sql: sql, params: []param{xidParam(version), intParam(int64(present(version)))}}
}

func present(version uint32) int {
	if version == 0 {
		return 0
	}
	return 1
}

// sortedKeys returns the row keys in order.
func sortedKeys(of map[rowKey]uint32) []rowKey {
	return slices.SortedFunc(maps.Keys(of), func(a, b rowKey) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.second, b.second))
	})
}
