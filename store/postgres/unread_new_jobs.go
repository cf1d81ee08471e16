package postgres

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Unread new jobs are a fast path of an enqueue. The plain way looks for the jobs of an enqueue,
// which exist only if it was sent before. The fast path assumes that they do not exist. The primary
// key checks it: the insert of a job that exists fails, and the retry reads the jobs. A new job that
// the step does not insert has no such check, so the step is decided again on jobs that are read.

// loadNew reads the jobs that an earlier sending of a command may have created, or assumes that
// there are none.
func (t *tx) loadNew(ids []rota.ID, u *rules.UnitOfWork) []statement {
	if t.pessimistic || t.readSet.readsNew || !t.store.uses(UnreadNewJobs) {
		return t.loadFullJobs(ids, u)
	}
	t.readSet.unread = append(t.readSet.unread, ids...)
	return nil
}

// hasUnreadJob reports whether a new job was neither read nor created. That it does not exist was
// only an assumption, which no insert would check.
func (t *tx) hasUnreadJob(u *rules.UnitOfWork) bool {
	return slices.ContainsFunc(t.readSet.unread, func(id rota.ID) bool { return !u.Creates(id) })
}
