package sqlite

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// A replica with Track notes which executions have changed, in the transactions that change them, until
// someone settles them. The notes are no rows of the log: each process settles its own.

// ChangedExecution is an execution that has changed since it was settled.
type ChangedExecution struct {
	ID    rota.ID
	Entry uint64      // of its last change
	Moved []time.Time // for which times it was scheduled before an Edit, or before it was pruned
}

const (
	sqlCreateChanged = `
CREATE TABLE IF NOT EXISTS rota_changed (
  execution_id BLOB    NOT NULL PRIMARY KEY,
  entry        INTEGER NOT NULL
) STRICT, WITHOUT ROWID`
	sqlCreateChangedByEntry = `
CREATE INDEX IF NOT EXISTS rota_changed_by_entry ON rota_changed (entry)`
	// A job without run_at has the time of its creation here.
	sqlCreateMoved = `
CREATE TABLE IF NOT EXISTS rota_moved (
  execution_id BLOB    NOT NULL,
  run_at       INTEGER NOT NULL,
  PRIMARY KEY (execution_id, run_at)
) STRICT, WITHOUT ROWID`
	sqlDropChanged = `DROP TABLE IF EXISTS rota_changed`
	sqlDropMoved   = `DROP TABLE IF EXISTS rota_moved`
	sqlHasChanged  = `
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'rota_changed')`
	sqlTrackAll = `
INSERT OR IGNORE INTO rota_changed (execution_id, entry)
SELECT coalesce(execution_id, id), $1
FROM rota_jobs
WHERE finished_at IS NULL`
	sqlTrack = `
INSERT INTO rota_changed (execution_id, entry)
VALUES ($1, $2)
ON CONFLICT (execution_id) DO UPDATE
SET entry = excluded.entry`
	sqlTrackMoved = `
INSERT OR IGNORE INTO rota_moved (execution_id, run_at)
SELECT coalesce(execution_id, id), coalesce(run_at, created_at)
FROM rota_jobs
WHERE id = $1`
	// Of a job that is pruned, only if someone may see it as it was before.
	sqlTrackRemoved = sqlTrackMoved + ` AND EXISTS (SELECT 1 FROM rota_changed c WHERE c.execution_id = coalesce(rota_jobs.execution_id, rota_jobs.id))`
	sqlChanged      = `
SELECT c.execution_id, c.entry, (SELECT group_concat(m.run_at) FROM rota_moved m WHERE m.execution_id = c.execution_id)
FROM rota_changed c
ORDER BY c.entry
LIMIT $1`
	sqlChangedFirst = `
SELECT coalesce(min(entry), 0)
FROM rota_changed`
	sqlSettle = `
DELETE FROM rota_changed
WHERE execution_id = $1 AND entry = $2`
	sqlSettleMoved = `
DELETE FROM rota_moved
WHERE execution_id = $1 AND NOT EXISTS (SELECT 1 FROM rota_changed c WHERE c.execution_id = rota_moved.execution_id)`
	sqlSettleUpTo = `
DELETE FROM rota_changed
WHERE entry <= $1`
	sqlSettleAllMoved = `
DELETE FROM rota_moved
WHERE NOT EXISTS (SELECT 1 FROM rota_changed c WHERE c.execution_id = rota_moved.execution_id)`
)

// openTracking creates the tables of the notes. In a replica that was not tracked, all executions that have not
// ended count as changed. Without Track it drops the tables, because changes from now on are not in them.
func (w *writer) openTracking() error {
	if !w.track {
		return firstError(
			func() error { return w.change(sqlDropChanged) },
			func() error { return w.change(sqlDropMoved) },
		)
	}
	tracked := false
	err := w.Read(sqlHasChanged, func(r storekit.Row) error {
		tracked = r.Bool(0)
		return nil
	})
	if err != nil || tracked {
		return err
	}
	return w.inTransaction(context.Background(), func() error {
		return firstError(
			func() error { return w.change(sqlCreateChanged) },
			func() error { return w.change(sqlCreateChangedByEntry) },
			func() error { return w.change(sqlCreateMoved) },
			func() error { return w.change(sqlTrackAll, int64(w.replica.Index)) },
		)
	})
}

// trackedFields are the fields that programs outside see in an item.
const trackedFields = rules.JobStatus | rules.JobParams | rules.JobStartedAt | rules.JobFinishedAt | rules.JobSequel | rules.JobRun |
	rules.RunHeartbeat | rules.RunOutcome | rules.RunError | rules.JobRunAt

// trackChanges notes the executions of changes before they are written.
func (w *writer) trackChanges(c *rules.Changes) error {
	if !w.track || w.entry == nil {
		return nil
	}
	entry := int64(w.entry.entry.Index)
	note := func(j *rota.Job) error {
		if rota.InternalType(j.Type) {
			return nil
		}
		return w.change(sqlTrack, j.ExecutionID, entry)
	}
	for _, j := range c.NewJobs {
		if err := note(j); err != nil {
			return err
		}
	}
	for i := range c.Jobs {
		change := &c.Jobs[i]
		if change.Fields&trackedFields == 0 {
			continue
		}
		if change.Fields&rules.JobRunAt != 0 {
			if err := w.change(sqlTrackMoved, change.Job.ID); err != nil {
				return err
			}
		}
		if err := note(change.Job); err != nil {
			return err
		}
	}
	for _, j := range c.RemovedJobs {
		if err := w.change(sqlTrackRemoved, j.ID); err != nil {
			return err
		}
	}
	return nil
}

// Changed returns the executions that have changed and are not settled, those first whose last change is the
// oldest.
func (r *Replica) Changed(ctx context.Context, limit int) (changed []ChangedExecution, err error) {
	w, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer r.release(w)
	err = w.Read(sqlChanged, func(row storekit.Row) error {
		one := ChangedExecution{ID: row.ID(0), Entry: uint64(row.Int(1))}
		if moved := row.Text(2); moved != "" {
			one.Moved = movedFrom(moved)
		}
		changed = append(changed, one)
		return nil
	}, limit)
	return changed, fault("read changes", err)
}

// movedFrom reads what group_concat has written.
func movedFrom(list string) (moved []time.Time) {
	for part := range strings.SplitSeq(list, ",") {
		micros, _ := strconv.ParseInt(part, 10, 64) // SQLite has written a number
		moved = append(moved, time.UnixMicro(micros).UTC())
	}
	return moved
}

// SettledUpTo returns the entry up to which all changes are settled.
func (r *Replica) SettledUpTo(ctx context.Context) (entry uint64, err error) {
	w, err := r.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer r.release(w)
	err = w.Read(sqlChangedFirst, func(row storekit.Row) error {
		entry = uint64(row.Int(0))
		return nil
	})
	if entry == 0 {
		return w.replica.Index, fault("read changes", err)
	}
	return entry - 1, fault("read changes", err)
}

// Settle drops the notes of executions unless they have changed again.
func (r *Replica) Settle(ctx context.Context, changed []ChangedExecution) error {
	return r.writeNotes(ctx, func(w *writer) error {
		for i := range changed {
			err := w.change(sqlSettle, changed[i].ID, int64(changed[i].Entry))
			if err == nil && len(changed[i].Moved) > 0 {
				err = w.change(sqlSettleMoved, changed[i].ID)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// SettleUpTo drops the notes of all changes up to an entry.
func (r *Replica) SettleUpTo(ctx context.Context, entry uint64) error {
	return r.writeNotes(ctx, func(w *writer) error {
		return firstError(
			func() error { return w.change(sqlSettleUpTo, int64(entry)) },
			func() error { return w.change(sqlSettleAllMoved) },
		)
	})
}

func (r *Replica) writeNotes(ctx context.Context, write func(*writer) error) error {
	w, err := r.acquireToWrite(ctx, "settle changes")
	if err != nil {
		return err
	}
	defer r.release(w)
	return fault("settle changes", w.inTransaction(ctx, func() error { return write(w) }))
}
