package postgres

// The joined notification is a fast path of a commit that makes jobs ready. The plain way asks the
// notify loop of the listener for a NOTIFY, which another connection sends after the commit. The
// fast path sends the NOTIFY in the round trip of the COMMIT, as a transaction of its own, unless
// the last notification was a moment ago. It assumes nothing: PostgreSQL skips the NOTIFY if the
// COMMIT fails.

// joinNotify returns the notification that goes with the COMMIT, if there is one.
func (t *tx) joinNotify() []statement {
	if !t.writer.wakeup.Needed() || !t.dialect.prepares || !t.store.uses(JoinedNotify) || !t.store.listener.beginNotify() {
		return nil
	}
	t.writer.notified = true
	return []statement{t.store.listener.notifyStatement()}
}
