package postgres

import (
	"slices"

	"github.com/rotajobs/rota/internal/rules"
)

// A transaction of the caller may stay open for long, so its locks are as narrow as a row. It does
// not take the advisory locks of types, templates and schedules that it only reads, which other
// names share: it locks the rows of templates and schedules, since an archived template must not
// get a job. It locks no types, because a type may change at any time and never disappears. Unique
// keys need no lock, because the unique index lets only one transaction insert a key.

// locksRow reports whether the transaction locks the rows of a class in place of an advisory lock.
func (t *tx) locksRow(c rules.LockClass, predicateReads bool) bool {
	if t.caller == nil {
		return false
	}
	switch c {
	case rules.LockUniqueKey, rules.LockType:
		return true
	case rules.LockTemplate, rules.LockSchedule:
		return !predicateReads
	}
	return false
}

const (
	sqlLockTemplatesRead = `
SELECT 1
FROM rota_templates
WHERE name = ANY ($1)
ORDER BY name
FOR SHARE`
	sqlLockSchedulesRead = `
SELECT 1
FROM rota_schedules
WHERE name = ANY ($1)
ORDER BY name
FOR SHARE`
)

// lockRowsRead returns the statements that lock the rows of names that are only read.
func (t *tx) lockRowsRead(u *rules.UnitOfWork, l *rules.Locks) (statements []statement) {
	if t.caller == nil {
		return nil
	}
	changed := u.ChangedLocks()
	names := map[rules.LockClass][]string{}
	for _, k := range l.Names {
		if t.locksRow(k.Class, l.PredicateReads) && !slices.Contains(changed, k) && !slices.Contains(names[k.Class], k.Name) {
			names[k.Class] = append(names[k.Class], k.Name)
		}
	}
	for _, one := range []struct {
		class rules.LockClass
		sql   string
	}{{rules.LockTemplate, sqlLockTemplatesRead}, {rules.LockSchedule, sqlLockSchedulesRead}} {
		if read := names[one.class]; len(read) > 0 {
			statements = append(statements, statement{sql: one.sql, params: []param{textsParam(read)}})
		}
	}
	return statements
}
