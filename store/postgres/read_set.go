package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// readSet records the rows that a unit of work has read and their versions: xmin, the id of the
// transaction that wrote the row. validate checks before the commit that rows read without a lock
// still have these versions.
type readSet struct {
	unit   *rules.UnitOfWork // current unit of work
	passes int               // how often the current step was decided
	hooks  hooksState        // webhooks in force, of the whole transaction

	jobs         map[rota.ID]uint32
	rows         map[rules.LockClass]map[rowKey]uint32 // 0: no such row
	cached       map[rules.LockClass]map[rowKey]bool   // rows taken from the row cache
	inconsistent bool                                  // a row was read twice with different versions
	unread       []rota.ID                             // ids of new jobs that were not read
	readsNew     bool                                  // read new jobs as well, in all passes of the step
}

// begin empties the read set for a new unit of work.
func (s *readSet) begin(u *rules.UnitOfWork) {
	*s = readSet{unit: u, passes: s.passes + 1, hooks: s.hooks, readsNew: s.readsNew}
}

// accept ends the passes of a step that is decided for good.
func (s *readSet) accept() { s.passes, s.readsNew = 0, false }

// rowKey identifies a row of a class by one or two names.
type rowKey struct{ name, second string }

// addJob adds a job that was read.
func (s *readSet) addJob(id rota.ID, version uint32) {
	if s.jobs == nil {
		s.jobs = map[rota.ID]uint32{}
	}
	if was, known := s.jobs[id]; known && was != version {
		s.inconsistent = true
	}
	s.jobs[id] = version
}

// addLookup adds a row that is about to be read and may not exist.
func (s *readSet) addLookup(c rules.LockClass, at rowKey) {
	if all := s.versionsOf(c); all[at] == 0 {
		all[at] = 0
	}
}

// addRow adds a row that was found.
func (s *readSet) addRow(c rules.LockClass, at rowKey, version uint32) {
	all := s.versionsOf(c)
	if was := all[at]; (was != 0 || s.cached[c][at]) && was != version {
		s.inconsistent = true
	}
	all[at] = version
}

// addCached adds a row from the row cache.
func (s *readSet) addCached(c rules.LockClass, at rowKey, version uint32) {
	s.addLookup(c, at)
	s.addRow(c, at, version)
	if s.cached == nil {
		s.cached = map[rules.LockClass]map[rowKey]bool{}
	}
	if s.cached[c] == nil {
		s.cached[c] = map[rowKey]bool{}
	}
	s.cached[c][at] = true
}

func (s *readSet) versionsOf(c rules.LockClass) map[rowKey]uint32 {
	if s.rows == nil {
		s.rows = map[rules.LockClass]map[rowKey]uint32{}
	}
	if s.rows[c] == nil {
		s.rows[c] = map[rowKey]uint32{}
	}
	return s.rows[c]
}

// readUnderLock returns a function that reports whether a row was read under a lock.
func (s *readSet) readUnderLock(held locks) func(rules.LockClass, rowKey) bool {
	copied := make(locks, len(held))
	for key, m := range held {
		copied[key] = m
	}
	known := s.cached
	return func(c rules.LockClass, at rowKey) bool {
		if known[c][at] {
			return false
		}
		return copied[at.lock(c)] != 0
	}
}

// lock returns the lock that protects a row.
func (at rowKey) lock(c rules.LockClass) lockKey {
	if c == rules.LockUniqueKey || c == rules.LockRequest {
		return lockFor(c, at.name+"\x00"+at.second)
	}
	return lockFor(c, at.name)
}
