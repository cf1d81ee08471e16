package engine

import (
	"context"
	"errors"
	"time"

	"github.com/rotajobs/rota"
)

// heart extends all leases of the process in one command, every third of a
// lease, the reservation of a direct run that has yet to begin among them, and
// brings back who was asked to stop. It beats until the last run has
// ended, during a shutdown too. Between the beats it writes progress down.
type heart struct {
	e    *Engine
	news bell // some run has progress to tell

	beats, notes outage
}

const (
	noteEvery = 500 * time.Millisecond // progress is written down so often at most
	beatAgain = 100 * time.Millisecond // after a beat that failed
)

func newHeart(e *Engine) *heart { return &heart{e: e, news: newBell()} }

// hurry says that there is progress to write down.
func (h *heart) hurry() { h.news.ring() }

func (h *heart) run(ctx context.Context) {
	every := h.e.config.Lease / 3
	beat := time.NewTimer(every)
	defer beat.Stop()
	var news <-chan struct{} = h.news
	note := time.NewTimer(time.Hour)
	note.Stop()
	for {
		select {
		case <-beat.C:
			next := every
			if !h.beat(ctx, every) {
				next = min(every, beatAgain)
			}
			beat.Reset(next)
		case <-news:
			news = nil // heard; the next one is heard when this is written down
			note.Reset(noteEvery)
		case <-note.C:
			h.note(ctx, every)
			news = h.news
		case <-ctx.Done():
			return
		}
	}
}

// beat extends every lease. It reports whether the store has answered.
func (h *heart) beat(ctx context.Context, patience time.Duration) bool {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	tasks, reserved := h.e.pool.live(), h.e.direct.reserved()
	for len(tasks) > 0 || !reserved.IsZero() {
		n := min(len(tasks), rota.ItemsMax)
		if !h.extend(ctx, tasks[:n], reserved) {
			return false
		}
		tasks, reserved = tasks[n:], rota.ID{}
	}
	return true
}

func (h *heart) extend(ctx context.Context, tasks []*task, reserved rota.ID) bool {
	extend := &rota.Extend{
		Meta: rota.NewMeta(""), Lease: h.e.config.Lease, Items: make([]rota.ExtendItem, len(tasks)), ReservationID: reserved,
	}
	for i, t := range tasks {
		extend.Items[i] = rota.ExtendItem{LeaseRef: t.lease, Progress: t.takeProgress()}
	}
	sent := time.Now()
	extended, err := rota.Do[*rota.Extended](ctx, h.e.store, extend)
	h.e.deny(err)
	if err != nil {
		for i, t := range tasks {
			t.untakeProgress(extend.Items[i].Progress)
		}
		if errors.Is(err, context.Canceled) { // the last run has ended meanwhile
			return false
		}
		h.beats.failed(h.e.config.Logger, "leases were not extended; trying until they are", "leases", len(tasks), "error", err)
		return false
	}
	h.beats.passed(h.e.config.Logger, "leases are extended again")
	for i, answer := range extended.Items {
		tasks[i].lasts(sent, h.e.config.Lease, answer.StaleAfter)
		switch {
		case answer.Code == rota.LeaseLost:
			h.e.pool.leaseLost(tasks[i])
		case answer.Cancel:
			tasks[i].stop(errAsked, h.e.config.CancelGrace)
		}
	}
	return true
}

// note writes down the progress of all runs that have some to tell. What is not
// written now is told with the next beat.
func (h *heart) note(ctx context.Context, patience time.Duration) {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	note := &rota.Note{Meta: rota.NewMeta("")}
	var tasks []*task
	for _, t := range h.e.pool.live() {
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
			t.untakeProgress(note.Items[i].Progress)
		}
		if errors.Is(err, context.Canceled) {
			return
		}
		h.notes.failed(h.e.config.Logger, "progress was not written down; trying until it is", "runs", len(tasks), "error", err)
		return
	}
	h.notes.passed(h.e.config.Logger, "progress is written down again")
}
