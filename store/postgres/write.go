package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
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
	stopping []rota.ID      // jobs whose runs are asked to stop
}

// Write adds the changes that the rules decided to the pending writes.
func (t *tx) Write(c *rules.Changes) error {
	if t.caller != nil {
		t.caller.noteProof(c)
	}
	t.writer.wakeup.Add(c)
	t.writer.claimID = c.Claim
	t.writer.changesCachedRows = t.writer.changesCachedRows || rules.ChangesAny(c, rules.Types, rules.Throttle, rules.Reservations)
	if t.writer.watched {
		t.writer.events = append(t.writer.events, rules.Events(c)) // published after the commit
		t.writer.touched.add(c)
	}
	t.writer.stopping = rules.AppendStopping(t.writer.stopping, c)
	if storekit.ChangesHooks(c) {
		t.readSet.hooks.forget()
	}
	t.writeAll(storekit.BeforeJobs(c))
	t.updateJobs(t.startUnsent(c))
	if !t.holdBack(c) {
		remaining, err := t.insertJobs(c.NewJobs, c.NewJobChanges)
		if err != nil {
			return err
		}
		t.updateJobs(remaining)
	}
	t.deleteJobs(c.RemovedJobs)
	t.writeKeys(rules.UniqueKeys.Changes(c))
	t.writeAll(storekit.AfterJobs(c))
	t.fireSchedules(rules.Schedules.Changes(c))
	t.writeAudit(c.Audit)
	return nil
}

func (t *tx) writeAll(statements []storekit.Statement) {
	for _, one := range statements {
		t.write(statementOf(one.SQL, nil, one.Args))
	}
}
