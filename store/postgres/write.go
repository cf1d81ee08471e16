package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// writer is what a transaction changes, and what follows from it after the commit.
type writer struct {
	unsent            unsentJobs            // jobs of an insert that is not sent yet
	claimID           rota.ID               // claim of the jobs that start
	changedJobs       map[rota.ID]*rota.Job // new states of changed jobs
	xid               uint32                // version of the changed jobs: the id of this transaction
	changesCachedRows bool                  // has changed types, limits or reservations

	wakeup   rules.Wakeup   // whether to wake claims after the commit
	notified bool           // a notification goes with the COMMIT
	watched  bool           // the store has watchers
	events   [][]rota.Event // published after the commit
	touched  touchedRows    // rows of the events
}

// Write adds the changes that the rules decided to the pending writes.
func (t *tx) Write(c *rules.Changes) error {
	t.writer.wakeup.Add(c)
	t.writer.claimID = c.Claim
	t.writer.changesCachedRows = t.writer.changesCachedRows || rules.ChangesAny(c, rules.Types, rules.Throttle, rules.Reservations)
	if t.writer.watched {
		t.writer.events = append(t.writer.events, rules.Events(c)) // published after the commit
		t.writer.touched.add(c)
	}
	writeEach(t, rules.Groups.Changes(c), t.writeGroup)
	t.updateJobs(t.startUnsent(c))
	if !t.holdBack(c) {
		remaining, err := t.insertJobs(c.NewJobs, c.NewJobChanges)
		if err != nil {
			return err
		}
		t.updateJobs(remaining)
	}
	t.deleteJobs(c.RemovedJobs)
	writeEach(t, rules.Groups.Changes(c), t.deleteGroup) // after its members
	t.writeKeys(rules.UniqueKeys.Changes(c))
	writeEach(t, rules.Types.Changes(c), t.writeType)
	writeEach(t, rules.Templates.Changes(c), t.writeTemplate)
	t.writeSchedules(rules.Schedules.Changes(c))
	writeEach(t, rules.Throttle.Changes(c), t.writeThrottle)
	writeEach(t, rules.Webhooks.Changes(c), t.writeWebhooks)
	writeEach(t, rules.Reservations.Changes(c), t.endReservation)
	writeEach(t, rules.Reservations.Changes(c), t.insertReservation) // after the update that ends the previous one
	writeEach(t, rules.Requests.Changes(c), t.writeRequest)
	writeEach(t, rules.Buckets.Changes(c), t.writeBucket)
	writeEach(t, rules.IntentRecords.Changes(c), t.writeIntent)
	writeEach(t, rules.DroppedSchedules.Changes(c), t.writeDropped)
	t.writeAudit(c.Audit)
	return nil
}

func writeEach[T any](t *tx, all []T, write func(T) []statement) {
	for _, one := range all {
		t.write(write(one)...)
	}
}
