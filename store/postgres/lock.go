package postgres

import (
	"hash/fnv"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// A transaction protects the rows that a decision reads in one of two ways.
//
// Optimistic: most commands read rows only by their keys. They are decided on rows that were read
// without a lock. The writes then include a statement that takes the locks and one that checks that
// the rows read still have their versions, and a job is updated only in the version that was read.
// If a row has changed, PostgreSQL raises a serialization failure, and the batch is retried
// pessimistically.
//
// Pessimistic: a retry, and a command that reads sets of rows (the ready jobs of a type, the
// dependents of a schedule), takes the locks first and is decided again on the rows read under
// them.
//
// Locks are advisory, end with the transaction, and are taken in one order: by class, and within a
// class by number. The commands of a batch are decided one after the other, and only then is it
// known which locks they need. A transaction that holds rows, or a lock that comes later in the
// order, does not wait for a lock: if the lock is not free, the batch is retried with all the locks
// that it is now known to need. So there are no deadlocks. Names share a fixed number of locks in
// each class (lock stripes), because PostgreSQL's lock table holds some thousands in all. Rows are
// locked by updating them, by claiming them (SKIP LOCKED), and in a pessimistic transaction before
// they are read.

// lockStripes is the number of locks that the names of a class share.
const lockStripes = 128

// narrowLocks is the first number of the narrow locks of types that change. Few are held at once.
const narrowLocks = 64 << 16

// lockKey is the number of a lock: its class and its stripe.
type lockKey int32

func lockFor(c rules.LockClass, name string) lockKey {
	switch c {
	case rules.LockOrder, rules.LockGraph, rules.LockThrottle, rules.LockWebhooks, rules.LockActive, rules.LockAccess, rules.LockAccessState, rules.LockSecretKey: // there is one of the class
		return singleLock(c)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	stripes := uint32(lockStripes)
	if c == rules.LockCommand { // few are held at once, so each command gets a lock of its own
		stripes = 1 << 16
	}
	return lockKey(int32(c)<<16 | int32(h.Sum32()%stripes))
}

// lockForChange returns the lock of a type that changes, which no other type shares in practice.
func lockForChange(typ string) lockKey {
	h := fnv.New32a()
	_, _ = h.Write([]byte(typ))
	return lockKey(narrowLocks | int32(h.Sum32()&0xffff))
}

func singleLock(c rules.LockClass) lockKey { return lockKey(int32(c) << 16) }

// lockSet is what a transaction has locked.
type lockSet struct {
	held      locks            // advisory locks
	early     locks            // advisory locks that earlier attempts needed
	jobs      map[rota.ID]bool // jobs locked by lockJobs
	holdsRows bool             // has written or locked rows
}

// locks maps each lock to its mode.
type locks map[lockKey]mode

type mode uint8

const (
	shared mode = iota + 1
	exclusive
)

func (l locks) want(key lockKey, m mode) { l[key] = max(l[key], m) }

// missing returns the locks that are wanted and not held, in order.
func (l locks) missing(wanted locks) (keys []lockKey) {
	for key, m := range wanted {
		if l[key] < m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// last returns the highest lock in the order.
func (l locks) last() (last lockKey) {
	for key := range l {
		last = max(last, key)
	}
	return last
}

const (
	sqlLock = `
SELECT CASE WHEN v.alone
  THEN pg_advisory_xact_lock($1::int, v.key::int)
  ELSE pg_advisory_xact_lock_shared($1::int, v.key::int) END
FROM unnest($2, $3) AS v (key, alone)`
	// Fails unless all locks are free.
	sqlTryLock = `
SELECT rota_expect(count(*) FILTER (WHERE CASE WHEN v.alone
  THEN pg_try_advisory_xact_lock($1::int, v.key::int)
  ELSE pg_try_advisory_xact_lock_shared($1::int, v.key::int) END), $4, $4)
FROM unnest($2, $3) AS v (key, alone)`
)

// lock returns the statement that takes locks in order. It waits for them only if the transaction
// holds no rows and no later lock, or if it is in a transaction of the caller, where the wait is
// short.
func (t *tx) lock(keys []lockKey, wanted locks) statement {
	waits := t.caller != nil || !t.locks.holdsRows && keys[0] > t.locks.held.last()
	numbers, alone := newColumn(oidInts, len(keys)), newColumn(oidBools, len(keys))
	for _, key := range keys {
		numbers.Int(int64(key))
		alone.Bool(wanted[key] == exclusive)
		t.locks.held.want(key, wanted[key])
		t.locks.early.want(key, wanted[key])
	}
	params := []param{intParam(int64(t.store.lockSpace)), numbers.param(), alone.param()}
	if waits {
		return statement{sql: sqlLock, params: params}
	}
	return statement{sql: sqlTryLock, params: append(params, intParam(int64(len(keys))))}
}

// lockEarly takes the locks that the commands are certain to need, before the first read: the id of
// a claim, so that a repeated claim finds the jobs of the first, and the order, against
// transactions that move jobs. It takes no others, because all later transactions would wait behind
// one that has stopped.
func (t *tx) lockEarly() []statement {
	wanted := maps.Clone(t.locks.early)
	for _, c := range t.commands {
		if claim, ok := c.(*rota.Claim); ok && claim != nil {
			wanted.want(lockFor(rules.LockCommand, string(claim.ID[:])), exclusive)
			wanted.want(singleLock(rules.LockOrder), shared)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return []statement{t.lock(t.locks.held.missing(wanted), wanted)}
}

// Lock ensures that the rows that a unit of work has read stay unchanged until the commit, or
// reports that it must be decided again.
func (t *tx) Lock(u *rules.UnitOfWork) (decideAgain bool, err error) {
	t.setUnit(u)
	if t.store.onDecided != nil {
		t.store.onDecided(t.commands)
	}
	if t.hasUnreadJob(u) {
		t.readSet.readsNew = true
		return true, nil
	}
	if t.readSet.inconsistent && !t.pessimistic {
		return false, errReadSetChanged
	}
	l := u.Locks()
	if err := t.checkSnapshot(u, &l); err != nil {
		return false, err
	}
	wanted := t.wanted(u, &l)
	missing := t.locks.held.missing(wanted)
	if (l.PredicateReads || t.pessimistic) && (len(missing) > 0 || t.pessimistic && t.unlocked(&l)) || t.readSet.inconsistent {
		return true, t.lockNow(missing, wanted, &l)
	}
	t.checkAssumption()
	read := t.readSet.readUnderLock(t.locks.held) // before the new locks are added
	if len(missing) > 0 {
		t.write(t.lock(missing, wanted))
	}
	t.write(t.lockRowsRead(u, &l)...)
	t.write(t.validate(u, read, l.PredicateReads)...)
	t.readSet.accept()
	return false, nil
}

// lockNow takes locks, and in a pessimistic transaction also locks the jobs. The wait may be long,
// so it reads the clock again for the next decision.
func (t *tx) lockNow(missing []lockKey, wanted locks, l *rules.Locks) error {
	t.writer.unsent.nothing = false
	var statements []statement
	if len(missing) > 0 {
		statements = append(statements, t.lock(missing, wanted))
	}
	if t.pessimistic && len(l.Jobs) > 0 {
		statements = append(statements, t.lockJobs(l.Jobs))
	}
	return t.read(append(statements, statement{sql: sqlClockAndHooks, eachRow: t.setClock})...)
}

const sqlLockJobs = `
SELECT j.id
FROM rota_jobs j
WHERE j.id = ANY ($1)
ORDER BY j.id
FOR UPDATE`

func (t *tx) lockJobs(ids []rota.ID) statement {
	if t.locks.jobs == nil {
		t.locks.jobs = map[rota.ID]bool{}
	}
	for _, id := range ids {
		t.locks.jobs[id] = true
	}
	t.locks.holdsRows = true
	return statement{sql: sqlLockJobs, params: []param{idsParam(ids)}}
}

// unlocked reports whether a job was read that is not locked.
func (t *tx) unlocked(l *rules.Locks) bool {
	return slices.ContainsFunc(l.Jobs, func(id rota.ID) bool { return !t.locks.jobs[id] })
}

// wanted returns the locks of a unit of work: exclusive for rows that it changes and for sets of
// rows that it reads, shared for rows that it only reads.
func (t *tx) wanted(u *rules.UnitOfWork, l *rules.Locks) locks {
	all := locks{}
	for _, k := range l.Names {
		if t.locksRow(k.Class, l.PredicateReads) {
			continue
		}
		m := shared
		if k.Class.ReadsAlone(l.PredicateReads) {
			m = exclusive
		}
		all.want(lockFor(k.Class, k.Name), m)
	}
	for _, k := range u.ChangedLocks() {
		if k.Class == rules.LockType {
			all.want(lockForChange(k.Name), exclusive)
		}
		if t.locksRow(k.Class, l.PredicateReads) && k.Class != rules.LockTemplate && k.Class != rules.LockSchedule {
			continue
		}
		all.want(lockFor(k.Class, k.Name), exclusive)
	}
	if t.pessimistic && !l.Has(rules.LockCommand) && u.ReadsReadyJob() {
		all.want(singleLock(rules.LockOrder), exclusive)
	}
	return all
}
