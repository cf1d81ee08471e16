package postgres

import (
	"hash/fnv"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Two ways lead to rows that nobody moves before the commit.
//
// Most steps look at rows by their keys alone. They are decided on what was read
// without a lock; with the writes goes a statement that locks what they looked
// at and one that sees whether it is still so, and each job is changed only if it
// is still the version that was read. If something has moved PostgreSQL answers
// with a serialization failure, and the batch is done anew, carefully.
//
// A careful step, and one that has looked at sets (who is ready in a lane, who
// depends on a schedule), locks first and is decided again on what it reads
// then.
//
// Locks are advisory, end with the transaction, and are waited for in one order:
// class by class, within a class by number. A batch is several steps, and each
// shows only when it is decided what it locks: whoever holds rows, or a lock that
// comes later, does not wait for more, but gives up if they are not free, and begins
// anew with all that it now knows it needs. So no two wait for each other. Names share a fixed number of locks
// in each class, since PostgreSQL has room for some thousands in all. Rows are
// locked by changing them, by claiming them (SKIP LOCKED), and, in a careful
// step, before they are looked at.

// class is what a lock is for. Their order is that in which they are taken, and
// their numbers are the same in all versions: several may be at work at once.
type class int32

const (
	classCommand class = iota + 1
	classOrder
	classKey
	classGraph
	classThrottle
	classWebhooks
	classType
	classTemplate
	classSchedule
	classGroup
	classRedriven
	classRequest
	classActive
	classKeyQueue
	classOpen
)

// lockStripes is how many locks the names of a class share.
const lockStripes = 128

// lockKey is the number of a lock: its class, and its seat within it.
type lockKey int32

func lockFor(c class, name string) lockKey {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	seats := uint32(lockStripes)
	if c == classCommand { // few are locked at once, and each for itself
		seats = 1 << 16
	}
	return lockKey(int32(c)<<16 | int32(h.Sum32()%seats))
}

func singleLock(c class) lockKey { return lockKey(int32(c) << 16) }

// locks says of each lock whether others may hold it too.
type locks map[lockKey]mode

type mode uint8

const (
	shared mode = iota + 1
	exclusive
)

func (l locks) want(key lockKey, m mode) { l[key] = max(l[key], m) }

// missing are the locks that are wanted and not held, in order.
func (l locks) missing(wanted locks) (keys []lockKey) {
	for key, m := range wanted {
		if l[key] < m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// last is the one that comes last.
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
	// Whether all of them were free.
	sqlTryLock = `
SELECT rota_expect(count(*) FILTER (WHERE CASE WHEN v.alone
  THEN pg_try_advisory_xact_lock($1::int, v.key::int)
  ELSE pg_try_advisory_xact_lock_shared($1::int, v.key::int) END), $4, $4)
FROM unnest($2, $3) AS v (key, alone)`
)

// lock asks for locks in their order, and holds them from then on. Who holds
// nothing that comes later waits for them.
func (t *tx) lock(keys []lockKey, wanted locks) statement {
	waits := !t.holdsRows && keys[0] > t.held.last()
	numbers, alone := newColumn(oidInts, len(keys)), newColumn(oidBools, len(keys))
	for _, key := range keys {
		numbers.int(int64(key))
		alone.bool(wanted[key] == exclusive)
		t.held.want(key, wanted[key])
		t.earlyLocks.want(key, wanted[key])
	}
	params := []param{intParam(int64(t.store.lockSpace)), numbers.param(), alone.param()}
	if waits {
		return statement{sql: sqlLock, params: params}
	}
	return statement{sql: sqlTryLock, params: append(params, intParam(int64(len(keys))))}
}

// lockEarly locks what the commands are sure to need: a claim its own id, so that
// of two sendings the second finds what the first took, and the order against
// those who move jobs in it. Nothing else: who waits for a step that has stopped is
// itself waited for by all who come later.
func (t *tx) lockEarly() []statement {
	wanted := maps.Clone(t.earlyLocks)
	for _, c := range t.commands {
		if claim, ok := c.(*rota.Claim); ok && claim != nil {
			wanted.want(lockFor(classCommand, string(claim.ID[:])), exclusive)
			wanted.want(singleLock(classOrder), shared)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return []statement{t.lock(t.held.missing(wanted), wanted)}
}

// Lock sees to it that what a world has looked at stays so until the commit, or
// reports that it is to be decided again.
func (t *tx) Lock(u *rules.UnitOfWork) (moved bool, err error) {
	t.setUnit(u)
	if t.store.onDecided != nil {
		t.store.onDecided(t.commands)
	}
	if t.hasUnreadJob(u) {
		t.readsNew = true
		return true, nil
	}
	if t.readSet.inconsistent && !t.pessimistic {
		return false, errReadSetChanged
	}
	l := u.Locks()
	wanted := t.wanted(u, &l)
	missing := t.held.missing(wanted)
	if (l.PredicateReads || t.pessimistic) && (len(missing) > 0 || t.pessimistic && t.unlocked(&l)) || t.readSet.inconsistent {
		return true, t.lockNow(missing, wanted, &l)
	}
	t.checkAssumption()
	read := t.readSet.readUnderLock(t.held) // before the locks that are asked for only now
	if len(missing) > 0 {
		t.write(t.lock(missing, wanted))
	}
	t.write(t.validate(u, read, l.PredicateReads)...)
	t.passes, t.readsNew = 0, false
	return false, nil
}

// lockNow locks, and in a careful step the jobs as well. Whoever held them may have
// done so for long: what is decided under them is decided then.
func (t *tx) lockNow(missing []lockKey, wanted locks, l *rules.Locks) error {
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
	if t.lockedJobs == nil {
		t.lockedJobs = map[rota.ID]bool{}
	}
	for _, id := range ids {
		t.lockedJobs[id] = true
	}
	t.holdsRows = true
	return statement{sql: sqlLockJobs, params: []param{idsParam(ids)}}
}

// unlocked says whether a job was looked at that is not locked.
func (t *tx) unlocked(l *rules.Locks) bool {
	return slices.ContainsFunc(l.Jobs, func(id rota.ID) bool { return !t.lockedJobs[id] })
}

// wanted are the locks of a world: for itself where it changes what they stand
// for, or has looked at what belongs to it; with others where it only looked.
func (t *tx) wanted(u *rules.UnitOfWork, l *rules.Locks) locks {
	all := locks{}
	looked := shared
	if l.PredicateReads {
		looked = exclusive
	}
	all.wantNames(classKeyQueue, l.ConcurrencyKeys, exclusive)
	all.wantNames(classOpen, l.Open, exclusive)
	all.wantIDs(classCommand, l.Commands, exclusive)
	all.wantIDs(classRedriven, l.Redriven, exclusive)
	all.wantOne(classGraph, l.Graph, exclusive)
	all.wantOne(classOrder, l.Order || t.pessimistic && len(l.Commands) == 0 && u.ReadsReadyJob(), exclusive)
	all.wantRows(l, shared, looked)
	changed := u.Changed()
	all.wantRows(&changed, exclusive, exclusive)
	return all
}

// wantRows wants the locks of rows that have names. Those that sets belong to
// have a mode of their own.
func (l locks) wantRows(of *rules.Locks, m, sets mode) {
	for _, k := range of.Keys {
		l.want(lockFor(classKey, k.Type+"\x00"+k.Key), m)
	}
	for _, k := range of.Requests {
		l.want(lockFor(classRequest, k.Actor+"\x00"+k.Key), m)
	}
	l.wantOne(classThrottle, of.Throttle, m)
	l.wantOne(classWebhooks, of.Webhooks, m)
	l.wantOne(classActive, of.Active, m)
	l.wantNames(classType, of.Types, m)
	l.wantNames(classTemplate, of.Templates, sets)
	l.wantNames(classSchedule, of.Schedules, sets)
	l.wantIDs(classGroup, of.Groups, sets)
}

func (l locks) wantNames(c class, names []string, m mode) {
	for _, name := range names {
		l.want(lockFor(c, name), m)
	}
}

func (l locks) wantIDs(c class, ids []rota.ID, m mode) {
	for _, id := range ids {
		l.want(lockFor(c, string(id[:])), m)
	}
}

func (l locks) wantOne(c class, is bool, m mode) {
	if is {
		l.want(singleLock(c), m)
	}
}
