package postgres

import (
	"slices"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// commitOrder have what several transactions did to the same rows told in the order in
// which they sent their COMMIT: one that changes a row again sends its own only
// after the one before it was committed. Those that have no row in common do not
// wait for each other: one may stand at a lock for long.
type commitOrder struct {
	mu     sync.Mutex
	active []*orderedCommit
}

type orderedCommit struct {
	order        *commitOrder
	rows         touchedRows
	predecessors []*orderedCommit // those whose rows it has changed again
	done         chan struct{}
}

// touchedRows is what a transaction has changed: jobs, or anything else.
type touchedRows struct {
	jobs   map[rota.ID]bool
	others bool
}

// add notes what a step changes.
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
	s.others = s.others || len(c.Groups)+len(c.Types)+len(c.Templates)+len(c.Schedules)+len(c.Throttle)+len(c.Webhooks)+
		len(c.Reservations)+len(c.Intents) > 0
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

// enter takes the next turn, right before the COMMIT is sent.
func (t *commitOrder) enter(rows touchedRows) *orderedCommit {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := &orderedCommit{order: t, rows: rows, done: make(chan struct{})}
	for _, other := range t.active {
		if other.rows.overlaps(&mine.rows) {
			mine.predecessors = append(mine.predecessors, other)
		}
	}
	t.active = append(t.active, mine)
	return mine
}

// wait waits until it has come.
func (t *orderedCommit) wait() {
	for _, other := range t.predecessors {
		<-other.done
	}
	t.predecessors = nil
}

// leave lets those have theirs that wait for it, when those before have had theirs.
func (t *orderedCommit) leave() {
	t.wait()
	t.order.mu.Lock()
	t.order.active = slices.DeleteFunc(t.order.active, func(other *orderedCommit) bool { return other == t })
	t.order.mu.Unlock()
	close(t.done)
}
