package access

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// EventFilter decides which events an identity may see. One goroutine uses it. It remembers definitions for a short
// time, so that a burst of events costs few reads.
type EventFilter struct {
	guard   *Guard
	reader  *reader
	renewed time.Time
	changes uint64 // changes of access data of this process that the reader knows
}

// eventMemory is how long an EventFilter remembers rights and definitions. Together with freshFor it bounds how long a
// stream delivers events of a revoked right.
const eventMemory = 500 * time.Millisecond

// Events returns a filter of events.
func (g *Guard) Events() *EventFilter { return &EventFilter{guard: g} }

// Valid reports whether the identity may read events. An error of which Ended is true ends the stream.
func (f *EventFilter) Valid(ctx context.Context) error {
	changes := f.guard.directory.changes.Load()
	if f.reader != nil && changes == f.changes && time.Since(f.renewed) <= eventMemory {
		return nil
	}
	r, err := f.guard.reader(ctx)
	if err != nil {
		return err
	}
	if err := r.allow("Jobs"); err != nil {
		return err
	}
	f.reader, f.renewed, f.changes = r, time.Now(), changes
	return nil
}

// Sees reports whether the identity may see an event.
func (f *EventFilter) Sees(ctx context.Context, e *rota.Event) (bool, error) {
	if err := f.Valid(ctx); err != nil {
		return false, err
	}
	r := f.reader
	if r.seesEverything() {
		return true, nil
	}
	noun, _, _ := strings.Cut(string(e.Kind), ".")
	switch noun {
	case "job":
		return r.seesEventOfJob(ctx, e)
	case "schedule":
		return r.seesEventOf(ctx, kindSchedule, e.Name)
	case "template":
		return r.seesEventOf(ctx, kindTemplate, e.Name)
	case "type":
		return r.reaches(""), nil
	case "group":
		return r.seesGroup(ctx, e.GroupID)
	case "limits", "reservation", "history", "node":
		return r.viewsAll(), nil
	}
	return false, nil // about access, webhooks
}

func (r *reader) seesEventOf(ctx context.Context, kind, name string) (bool, error) {
	if r.seesAll() && r.reaches(name) {
		return true, nil
	}
	o, err := r.objects.get(ctx, kind, name)
	return err == nil && r.seesObject(o), err
}

func (r *reader) seesGroup(ctx context.Context, id rota.ID) (bool, error) {
	_, err := r.Group(ctx, id)
	if rota.CodeOf(err) == rota.NotFound {
		return false, nil
	}
	return err == nil, err
}

// seesEventOfJob reads the job, which says whose it is. An event of a job that was pruned meanwhile is not shown.
func (r *reader) seesEventOfJob(ctx context.Context, e *rota.Event) (bool, error) {
	if r.viewsAll() {
		return true, nil
	}
	if !r.reaches(cmp.Or(e.Schedule, e.Template)) {
		return false, nil
	}
	j, err := r.from.Job(ctx, e.JobID)
	if rota.CodeOf(err) == rota.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.seesJob(ctx, j)
}
