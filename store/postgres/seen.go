package postgres

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// seen is what a world has looked at, in the version that it has seen: xmin, the
// number of the transaction that wrote the row.
type seen struct {
	jobs  map[rota.ID]uint32
	names map[class]map[seat]uint32 // 0: it was not there
	known map[class]map[seat]bool   // those of them that were not looked at, but recalled
	torn  bool                      // a row was read twice, and was another the second time
}

// seat is what has a name of one part or two.
type seat struct{ name, more string }

// job notes a job that was read.
func (s *seen) job(id rota.ID, version uint32) {
	if s.jobs == nil {
		s.jobs = map[rota.ID]uint32{}
	}
	if was, known := s.jobs[id]; known && was != version {
		s.torn = true
	}
	s.jobs[id] = version
}

// asked notes that something is about to be looked for, and may not be there.
func (s *seen) asked(c class, at seat) {
	if all := s.of(c); all[at] == 0 {
		all[at] = 0
	}
}

// named notes something that was found.
func (s *seen) named(c class, at seat, version uint32) {
	all := s.of(c)
	if was := all[at]; (was != 0 || s.known[c][at]) && was != version {
		s.torn = true
	}
	all[at] = version
}

// recalled notes something that is known from before.
func (s *seen) recalled(c class, at seat, version uint32) {
	s.asked(c, at)
	s.named(c, at, version)
	if s.known == nil {
		s.known = map[class]map[seat]bool{}
	}
	if s.known[c] == nil {
		s.known[c] = map[seat]bool{}
	}
	s.known[c][at] = true
}

func (s *seen) of(c class) map[seat]uint32 {
	if s.names == nil {
		s.names = map[class]map[seat]uint32{}
	}
	if s.names[c] == nil {
		s.names[c] = map[seat]uint32{}
	}
	return s.names[c]
}

// under says of a class and a name whether it was read under a lock.
func (s *seen) under(held locks) func(class, seat) bool {
	copied := make(locks, len(held))
	for key, m := range held {
		copied[key] = m
	}
	known := s.known
	return func(c class, at seat) bool {
		if known[c][at] {
			return false
		}
		return copied[at.lock(c)] != 0
	}
}

// lock is the lock of a name.
func (at seat) lock(c class) lockKey {
	switch c {
	case classThrottle, classWebhooks, classActive:
		return theSeat(c)
	case classKey, classRequest:
		return seatOf(c, at.name+"\x00"+at.more)
	}
	return seatOf(c, at.name)
}

// How to see whether rows are still what they were: as many of them are there as
// were, each in the version that was seen.
const (
	sqlStillNamed = `
SELECT rota_expect(count(t.name) FILTER (WHERE t.xmin = v.version), $3, count(t.name))
FROM unnest($1, $2) AS v (name, version)
LEFT JOIN `
	byName = ` t ON t.name = v.name`

	sqlStillTypes     = sqlStillNamed + `rota_types` + byName
	sqlStillTemplates = sqlStillNamed + `rota_templates` + byName
	sqlStillSchedules = sqlStillNamed + `rota_schedules` + byName
	sqlStillGroups    = `
SELECT rota_expect(count(t.id) FILTER (WHERE t.xmin = v.version), $3, count(t.id))
FROM unnest($1, $2) AS v (id, version)
LEFT JOIN rota_groups t ON t.id = v.id`
	sqlStillKeys = `
SELECT rota_expect(count(t.key) FILTER (WHERE t.xmin = v.version), $4, count(t.key))
FROM unnest($1, $3, $2) AS v (type, version, key)
LEFT JOIN rota_keys t ON t.type = v.type AND t.key = v.key`
	sqlStillRequests = `
SELECT rota_expect(count(t.key) FILTER (WHERE t.xmin = v.version), $4, count(t.key))
FROM unnest($1, $3, $2) AS v (actor, version, key)
LEFT JOIN rota_requests t ON t.actor = v.actor AND t.key = v.key`
	sqlStillThrottle = `
SELECT rota_expect(count(*) FILTER (WHERE t.xmin = $1), $2, count(*))
FROM rota_throttle t`
	sqlStillWebhooks = `
SELECT rota_expect(count(*) FILTER (WHERE t.xmin = $1), $2, count(*))
FROM rota_webhooks t`
	sqlStillActive = `
SELECT rota_expect(count(*) FILTER (WHERE t.xmin = $1), $2, count(*))
FROM rota_reservations t
WHERE t.status = 'ACTIVE'`
	// All that bounds a claim, at once. Of each no more can match than should, so
	// that the sums agree only where each does.
	sqlStillBounds = `
SELECT rota_expect(t.matched + l.matched + a.matched, $3::bigint + $5 + $7, t.present + l.present + a.present)
FROM (
  SELECT count(t.name) FILTER (WHERE t.xmin = v.version) AS matched, count(t.name) AS present
  FROM unnest($1, $2) AS v (name, version)
  LEFT JOIN rota_types t ON t.name = v.name) t
CROSS JOIN (
  SELECT count(*) FILTER (WHERE t.xmin = $4) AS matched, count(*) AS present
  FROM rota_throttle t) l
CROSS JOIN (
  SELECT count(*) FILTER (WHERE t.xmin = $6) AS matched, count(*) AS present
  FROM rota_reservations t
  WHERE t.status = 'ACTIVE') a`
	sqlStillJobs = `
SELECT rota_expect(count(*), $3, $3)
FROM unnest($1, $2) AS v (id, version)
JOIN rota_jobs j ON j.id = v.id AND j.xmin = v.version`
)

// validate sees that what was read without a lock is still so. Jobs that change
// are seen to where they are changed.
func (t *tx) validate(w *rules.UnitOfWork, underLock func(class, seat) bool, sets bool) (asks []ask) {
	loose := t.seen.loose(underLock)
	t.sure.pass(loose, t.held)
	if types, limits, active := loose[classType], loose[classThrottle], loose[classActive]; len(limits) > 0 && len(active) > 0 {
		asks = append(asks, stillBounds(types, limits, active))
		delete(loose, classType)
		delete(loose, classThrottle)
		delete(loose, classActive)
	}
	for _, one := range []struct {
		class class
		sql   string
		ask   func(sql string, of map[seat]uint32) ask
	}{
		{classKey, sqlStillKeys, stillPairs},
		{classThrottle, sqlStillThrottle, stillOne},
		{classWebhooks, sqlStillWebhooks, stillOne},
		{classType, sqlStillTypes, stillNamed},
		{classTemplate, sqlStillTemplates, stillNamed},
		{classSchedule, sqlStillSchedules, stillNamed},
		{classGroup, sqlStillGroups, stillGroups},
		{classRequest, sqlStillRequests, stillPairs},
		{classActive, sqlStillActive, stillOne},
	} {
		if len(loose[one.class]) > 0 {
			asks = append(asks, one.ask(one.sql, loose[one.class]))
		}
	}
	return append(asks, t.stillJobs(w, sets)...)
}

// loose is what was read without a lock.
func (s *seen) loose(underLock func(class, seat) bool) map[class]map[seat]uint32 {
	all := map[class]map[seat]uint32{}
	for c, names := range s.names {
		for at, version := range names {
			if underLock(c, at) {
				continue
			}
			if all[c] == nil {
				all[c] = map[seat]uint32{}
			}
			all[c][at] = version
		}
	}
	return all
}

// sure is what was seen to be as it is known, under a lock that is held until the
// end of the transaction: it need not be seen twice.
type sure map[class]map[seat]uint32

// pass takes out of what is to be seen what was, and remembers the rest.
func (s *sure) pass(loose map[class]map[seat]uint32, held locks) {
	for c, names := range loose {
		for at, version := range names {
			if was, is := (*s)[c][at]; is && was == version {
				delete(names, at)
				continue
			}
			if held[at.lock(c)] == 0 {
				continue
			}
			if *s == nil {
				*s = sure{}
			}
			if (*s)[c] == nil {
				(*s)[c] = map[seat]uint32{}
			}
			(*s)[c][at] = version
		}
	}
}

// stillJobs looks after jobs that only were looked at. Where sets were looked at
// too, a job that runs is passed over: what matters of it is under a lock, and it
// is written at each heartbeat.
func (t *tx) stillJobs(w *rules.UnitOfWork, sets bool) []ask {
	ids, versions, n := newColumn(oidIDs, 0), newColumn(oidXids, 0), 0
	w.EachJob(func(j *rota.Job, changes bool) {
		version, known := t.seen.jobs[j.ID]
		if changes || !known || t.locked[j.ID] || sets && j.Run != nil && j.Run.Open() {
			return
		}
		ids.bytes(j.ID[:])
		versions.xid(version)
		n++
	})
	if n == 0 {
		return nil
	}
	return []ask{{sql: sqlStillJobs, params: []param{ids.param(), versions.param(), intParam(int64(n))}}}
}

func stillNamed(sql string, of map[seat]uint32) ask {
	names, versions, n := newColumn(oidTexts, len(of)), newColumn(oidXids, len(of)), 0
	for _, at := range sortedSeats(of) {
		names.textAlways(at.name)
		versions.xid(of[at])
		n += present(of[at])
	}
	return ask{sql: sql, params: []param{names.param(), versions.param(), intParam(int64(n))}}
}

func stillBounds(types, limits, active map[seat]uint32) ask {
	a := stillNamed(sqlStillBounds, types)
	for _, one := range []map[seat]uint32{limits, active} {
		a.params = append(a.params, stillOne("", one).params...)
	}
	return a
}

func stillGroups(sql string, of map[seat]uint32) ask {
	ids, versions, n := newColumn(oidIDs, len(of)), newColumn(oidXids, len(of)), 0
	for _, at := range sortedSeats(of) {
		ids.bytes([]byte(at.name))
		versions.xid(of[at])
		n += present(of[at])
	}
	return ask{sql: sql, params: []param{ids.param(), versions.param(), intParam(int64(n))}}
}

func stillPairs(sql string, of map[seat]uint32) ask {
	first, second, versions, n := newColumn(oidTexts, len(of)), newColumn(oidTexts, len(of)), newColumn(oidXids, len(of)), 0
	for _, at := range sortedSeats(of) {
		first.textAlways(at.name)
		second.textAlways(at.more)
		versions.xid(of[at])
		n += present(of[at])
	}
	return ask{sql: sql, params: []param{first.param(), second.param(), versions.param(), intParam(int64(n))}}
}

// stillOne is for what there is one of, or none.
func stillOne(sql string, of map[seat]uint32) ask {
	version := of[seat{}]
	return ask{sql: sql, params: []param{xidParam(version), intParam(int64(present(version)))}}
}

func present(version uint32) int {
	if version == 0 {
		return 0
	}
	return 1
}

// sortedSeats are the names of a class that were looked at, in order.
func sortedSeats(of map[seat]uint32) []seat {
	return slices.SortedFunc(maps.Keys(of), func(a, b seat) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.more, b.more))
	})
}
