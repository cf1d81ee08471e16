package model

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// Watch calls a function with the events of each batch.
func (m *Model) Watch(notify func([]rota.Event)) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &watcher{notify: notify}
	m.watchers = append(m.watchers, f)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.watchers = slices.DeleteFunc(m.watchers, func(other *watcher) bool { return other == f })
	}
}

type watcher struct{ notify func([]rota.Event) }

func (m *Model) publish(events []rota.Event) {
	if len(events) == 0 {
		return
	}
	for _, f := range m.watchers {
		f.notify(slices.Clone(events))
	}
}

// eventsBetween returns the events of a command, from the differences between the rows before
// and after it.
func eventsBetween(before, after *state, now time.Time) (events []rota.Event) {
	audit := newEntries(before, after)
	for _, j := range after.jobs {
		events = append(events, jobEvents(before.find(j.ID), j, audit)...)
	}
	for _, d := range after.schedules {
		if was := before.schedule(d.Name); was != nil && !d.LastFire.IsZero() && !d.LastFire.Equal(was.LastFire) {
			events = append(events, rota.Event{
				Kind: rota.EventScheduleFired, Name: d.Name, Schedule: d.Name, Template: d.Spec.Template, PlanTime: d.LastFire,
				Detail: firedDetail(before, after, d.Name),
			})
		}
	}
	for _, r := range after.reservations {
		events = append(events, reservationEvents(before.reservation(r.ID), r)...)
	}
	for _, e := range audit {
		kind := map[string]rota.EventKind{
			rota.AuditScheduleMissed: rota.EventScheduleMissed, rota.AuditScheduleDisabled: rota.EventScheduleDisabled,
		}[e.Act]
		if kind != "" {
			name := strings.TrimPrefix(e.Subject, "schedule ")
			events = append(events, rota.Event{Kind: kind, Name: name, Schedule: name, Detail: e.Detail})
		}
	}
	for _, e := range audit {
		events = append(events, definitionEvents(after, e)...)
	}
	events = append(events, pruneEvents(before, after)...)
	for i := range events {
		events[i].At = now
	}
	return events
}

// jobEvents returns the events of one job, in their order.
func jobEvents(was, is *rota.Job, audit []rota.AuditEntry) (events []rota.Event) {
	add := func(kind rota.EventKind) { events = append(events, jobEvent(kind, is)) }
	if was == nil {
		add(rota.EventJobEnqueued)
		was = &rota.Job{}
	}
	events = append(events, changeEvents(was, is, audit)...)
	if was.Run == nil && leased(is) {
		add(rota.EventJobStarted)
	}
	if leased(is) && !is.Run.CancelAt.IsZero() && (was.Run == nil || was.Run.CancelAt.IsZero()) {
		add(rota.EventJobStopping)
	}
	if is.Status == rota.StatusCancelled && was.Status != rota.StatusCancelled {
		add(rota.EventJobCancelled)
	}
	if is.Run != nil && !is.Run.Open() && (was.Run == nil || was.Run.Open()) {
		kind := map[rota.Outcome]rota.EventKind{
			rota.OutcomeCompleted: rota.EventJobCompleted, rota.OutcomeFailed: rota.EventJobFailed,
			rota.OutcomeSkipped: rota.EventJobSkipped, rota.OutcomeCancelled: rota.EventJobCancelled,
		}[is.Run.Outcome]
		if isFailure(is.Run) { // also one that timed out
			kind = rota.EventJobFailed
		}
		add(kind)
	}
	if is.Sequel == rota.SequelDead && was.Sequel != rota.SequelDead {
		add(rota.EventJobDead)
	}
	return events
}

func jobEvent(kind rota.EventKind, j *rota.Job) rota.Event {
	e := rota.Event{
		Kind: kind, JobID: j.ID, ExecutionID: j.ExecutionID, Type: j.Type, Name: j.DefinitionName(), Template: j.Template,
		Schedule: j.Schedule, GroupID: j.GroupID, Attempt: j.Attempt, PlanTime: j.PlanTime,
	}
	if kind == rota.EventJobEnqueued || kind == rota.EventJobChanged || j.Run == nil {
		return e
	}
	e.RunID, e.Runner = j.Run.ID, j.Run.Runner
	switch {
	case kind == rota.EventJobStarted:
		e.QueuedAt, e.DueAt = j.QueuedAt, dueAt(j)
	case kind == rota.EventJobStopping:
		e.Detail = j.Run.CancelReason
	default:
		e.Error, e.ErrorCode = eventError(j.Run.Error), j.Run.ErrorCode
		if j.Run.Runner != "" {
			e.StartedAt = j.StartedAt
		}
	}
	return e
}

// dueAt returns the run time of a job, if the job waited only for that. Otherwise it returns
// the time when the job became ready.
func dueAt(j *rota.Job) time.Time {
	first := j.RetryOf.IsZero()
	switch {
	case !j.RunAt.After(j.CreatedAt): // it was ready at once
	case j.ConcurrencyKey != "": // it may have waited for its key
	case first && !j.GroupID.IsZero(): // for its turn
	case first && j.Schedule != "": // for an earlier execution
	case j.Schedule != "" && !j.WaitUntil.IsZero(): // for dependencies
	default:
		return j.RunAt
	}
	return j.QueuedAt
}

// eventError cuts an error text to the length that an event holds, between two characters.
func eventError(text string) string {
	if len(text) <= rota.EventErrorMax {
		return text
	}
	text = text[:rota.EventErrorMax]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

func reservationEvents(was, is *rota.Reservation) (events []rota.Event) {
	add := func(kind rota.EventKind) {
		events = append(events, rota.Event{Kind: kind, ReservationID: is.ID, JobID: is.JobID, Runner: is.Node})
	}
	if was == nil {
		add(rota.EventReservationActive)
	}
	if was == nil || was.Status == rota.ReservationActive {
		switch is.Status {
		case rota.ReservationReleased:
			add(rota.EventReservationReleased)
		case rota.ReservationExpired:
			add(rota.EventReservationExpired)
		}
	}
	return events
}
