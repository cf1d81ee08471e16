package engine

import (
	"context"
	"errors"
	"time"

	"github.com/rotajobs/rota"
)

// heartbeat extends all leases of the process in one command, every third of a lease,
// and the reservation of a direct run that has yet to begin. The answers name the
// runs that are to stop; a remote worker learns it from them alone, and asks more often,
// or lets the server answer when a run is to stop (see stopPoller). It continues until the
// last end is recorded, also during a shutdown. Between heartbeats it writes progress.
type heartbeat struct {
	e              *Engine
	progressSignal signal // a run has progress to write
	started        signal // a run has started

	extendOutage, noteOutage outageLog
}

const (
	noteEvery = 500 * time.Millisecond // shortest interval between two writes of progress
	beatRetry = 100 * time.Millisecond // pause after a heartbeat that failed
)

func newHeartbeat(e *Engine) *heartbeat {
	return &heartbeat{e: e, progressSignal: newSignal(), started: newSignal()}
}

// progressChanged signals that there is progress to write.
func (h *heartbeat) progressChanged() { h.progressSignal.send() }

func (h *heartbeat) run(ctx context.Context) {
	every := h.e.config.heartbeatEvery()
	beat := time.NewTimer(every)
	defer beat.Stop()
	if waiter, is := h.e.store.(StopWaiter); is && h.e.config.Remote {
		beat.Stop()
		poller := newStopPoller(h, waiter, every)
		defer poller.await()
		go poller.run(ctx)
	}
	var progress <-chan struct{} = h.progressSignal
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
			progress = nil // until this progress is written
			note.Reset(noteEvery)
		case <-note.C:
			h.writeProgress(ctx, every)
			progress = h.progressSignal
		case <-ctx.Done():
			return
		}
	}
}

// beat extends every lease, and reports whether the store answered.
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
	_, ok := h.extendBy(tasks, reserved, func(extend *rota.Extend) (*rota.Extended, error) {
		return rota.Do[*rota.Extended](ctx, h.e.store, extend)
	})
	return ok
}

// extendBy extends leases with a function that sends the command, and stops the runs that
// are to stop.
func (h *heartbeat) extendBy(tasks []*task, reserved rota.ID, send func(*rota.Extend) (*rota.Extended, error)) (*rota.Extended, bool) {
	extend := &rota.Extend{
		Meta: rota.NewMeta(""), Lease: h.e.config.Lease, Items: make([]rota.ExtendItem, len(tasks)), ReservationID: reserved,
	}
	for i, t := range tasks {
		extend.Items[i] = rota.ExtendItem{LeaseRef: t.lease, Progress: t.takeProgress()}
	}
	sent := time.Now()
	extended, err := send(extend)
	h.e.endIfDenied(err)
	if err != nil {
		for i, t := range tasks {
			t.restoreProgress(extend.Items[i].Progress)
		}
		if !errors.Is(err, context.Canceled) { // otherwise the last end was recorded meanwhile
			h.extendOutage.failed(h.e.config.Logger, "leases were not extended; retrying until they are", "leases", len(tasks), "error", err)
		}
		return nil, false
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
	return extended, true
}

// writeProgress writes the progress of all runs that have some. What it does not write
// goes with the next heartbeat.
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
		h.noteOutage.failed(h.e.config.Logger, "progress was not written; retrying until it is", "runs", len(tasks), "error", err)
		return
	}
	h.noteOutage.recovered(h.e.config.Logger, "progress is written again")
}
