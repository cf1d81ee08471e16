package postgres

import (
	"slices"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// commitOrder publishes the events of transactions that change the same rows in the order of their
// commits. A transaction that changes a row again sends its COMMIT after the first one has
// committed, so the order of entering is the order of the commits. Transactions without a common
// row do not wait for each other, because one may wait for a lock for long.
type commitOrder struct {
	mu     sync.Mutex
	active []*orderedCommit
}

type orderedCommit struct {
	order        *commitOrder
	rows         touchedRows
	predecessors []*orderedCommit // entered earlier and share a row
	done         chan struct{}
}

// touchedRows are the rows that a transaction has changed: jobs by id, all others as one.
type touchedRows struct {
	jobs   map[rota.ID]bool
	others bool
}

// add adds the rows of a change set.
func (s *touchedRows) add(c *rules.Changes) {
	if s.jobs == nil {
		s.jobs = make(map[rota.ID]bool, len(c.Jobs)+len(c.NewJobs)+len(c.RemovedJobs))
	}
	for _, j := range c.Jobs {
		s.jobs[j.Job.ID] = true
	}
	for _, j := range slices.Concat(c.NewJobs, c.RemovedJobs) {
		s.jobs[j.ID] = true
	}
	s.others = s.others || rules.ChangesAny(c, rules.Groups, rules.Types, rules.Templates, rules.Schedules, rules.Throttle, rules.Webhooks,
		rules.Reservations, rules.IntentRecords, rules.AccessState)
}

func (s *touchedRows) overlaps(other *touchedRows) bool {
	if s.others && other.others {
		return true
	}
	few, many := s.jobs, other.jobs
	if len(few) > len(many) {
		few, many = many, few
	}
	for id := range few {
		if many[id] {
			return true
		}
	}
	return false
}

// enter adds a transaction to the order, right before it sends its COMMIT.
func (t *commitOrder) enter(rows touchedRows) *orderedCommit {
	t.mu.Lock()
	defer t.mu.Unlock()
	commit := &orderedCommit{order: t, rows: rows, done: make(chan struct{})}
	for _, other := range t.active {
		if other.rows.overlaps(&commit.rows) {
			commit.predecessors = append(commit.predecessors, other)
		}
	}
	t.active = append(t.active, commit)
	return commit
}

// wait waits until all predecessors have published their events.
func (t *orderedCommit) wait() {
	for _, other := range t.predecessors {
		<-other.done
	}
	t.predecessors = nil
}

// leave removes a transaction from the order, after its predecessors, and releases those that wait
// for it.
func (t *orderedCommit) leave() {
	t.wait()
	t.order.mu.Lock()
	t.order.active = slices.DeleteFunc(t.order.active, func(other *orderedCommit) bool { return other == t })
	t.order.mu.Unlock()
	close(t.done)
}
