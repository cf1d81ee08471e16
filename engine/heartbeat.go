package engine

import (
	"context"
	"errors"
	"time"

	"github.com/rotajobs/rota"
)

// heartbeat extends all leases of the process in one command, every third of a
// lease, the reservation of a direct run that has yet to begin among them, and
// brings back who was asked to stop. It beats until the last run has
// ended, during a shutdown too. Between the beats it writes progress down.
type heartbeat struct {
	e        *Engine
	progress signal // some run has progress to tell

	extendOutage, noteOutage outageLog
}

const (
	noteEvery = 500 * time.Millisecond // progress is written down so often at most
	beatRetry = 100 * time.Millisecond // after a beat that failed
)

func newHeartbeat(e *Engine) *heartbeat { return &heartbeat{e: e, progress: newSignal()} }

// progressChanged says that there is progress to write down.
func (h *heartbeat) progressChanged() { h.progress.send() }

func (h *heartbeat) run(ctx context.Context) {
	every := h.e.config.Lease / 3
	beat := time.NewTimer(every)
	defer beat.Stop()
	var progress <-chan struct{} = h.progress
	note := time.NewTimer(time.Hour)
	note.Stop()
	for {
		select {
		case <-beat.C:
			next := every
			if !h.beat(ctx, every) {
				next = min(every, beatRetry)
			}
			beat.Reset(next)
		case <-progress:
			progress = nil // heard; the next one is heard when this is written down
			note.Reset(noteEvery)
		case <-note.C:
			h.writeProgress(ctx, every)
			progress = h.progress
		case <-ctx.Done():
			return
		}
	}
}

// beat extends every lease. It reports whether the store has answered.
func (h *heartbeat) beat(ctx context.Context, timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tasks, reserved := h.e.pool.liveTasks(), h.e.direct.reservationToExtend()
	for len(tasks) > 0 || !reserved.IsZero() {
		n := min(len(tasks), rota.ItemsMax)
		if !h.extend(ctx, tasks[:n], reserved) {
			return false
		}
		tasks, reserved = tasks[n:], rota.ID{}
	}
	return true
}

func (h *heartbeat) extend(ctx context.Context, tasks []*task, reserved rota.ID) bool {
	extend := &rota.Extend{
		Meta: rota.NewMeta(""), Lease: h.e.config.Lease, Items: make([]rota.ExtendItem, len(tasks)), ReservationID: reserved,
	}
	for i, t := range tasks {
		extend.Items[i] = rota.ExtendItem{LeaseRef: t.lease, Progress: t.takeProgress()}
	}
	sent := time.Now()
	extended, err := rota.Do[*rota.Extended](ctx, h.e.store, extend)
	h.e.endIfDenied(err)
	if err != nil {
		for i, t := range tasks {
			t.restoreProgress(extend.Items[i].Progress)
		}
		if errors.Is(err, context.Canceled) { // the last run has ended meanwhile
			return false
		}
		h.extendOutage.failed(h.e.config.Logger, "leases were not extended; trying until they are", "leases", len(tasks), "error", err)
		return false
	}
	h.extendOutage.recovered(h.e.config.Logger, "leases are extended again")
	for i, answer := range extended.Items {
		tasks[i].extendLease(sent, h.e.config.Lease, answer.StaleAfter)
		switch {
		case answer.Code == rota.LeaseLost:
			h.e.pool.leaseLost(tasks[i])
		case answer.Cancel:
			tasks[i].stop(errCancelled, h.e.config.CancelGrace)
		}
	}
	return true
}

// writeProgress writes down the progress of all runs that have some to tell. What is not
// written now is told with the next beat.
func (h *heartbeat) writeProgress(ctx context.Context, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	note := &rota.Note{Meta: rota.NewMeta("")}
	var tasks []*task
	for _, t := range h.e.pool.liveTasks() {
		if len(tasks) == rota.ItemsMax {
			break
		}
		if progress := t.takeProgress(); progress != nil {
			note.Items = append(note.Items, rota.NoteItem{LeaseRef: t.lease, Progress: progress})
			tasks = append(tasks, t)
		}
	}
	if len(tasks) == 0 {
		return
	}
	_, err := rota.Do[*rota.Noted](ctx, h.e.store, note)
	if err != nil {
		for i, t := range tasks {
			t.restoreProgress(note.Items[i].Progress)
		}
		if errors.Is(err, context.Canceled) {
			return
		}
		h.noteOutage.failed(h.e.config.Logger, "progress was not written down; trying until it is", "runs", len(tasks), "error", err)
		return
	}
	h.noteOutage.recovered(h.e.config.Logger, "progress is written down again")
}
