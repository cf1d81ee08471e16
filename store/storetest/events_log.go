package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rotajobs/rota"
)

// eventLog records the events of a store.
type eventLog struct {
	stop func()

	mu     sync.Mutex
	events []rota.Event
	read   int
}

func watch(s rota.Store) *eventLog {
	e := &eventLog{}
	e.stop = s.Watch(func(events []rota.Event) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.events = append(e.events, events...)
	})
	return e
}

// take returns the events since the last take.
func (e *eventLog) take() []rota.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	events := slices.Clone(e.events[e.read:])
	e.read = len(e.events)
	return events
}

// contains reports whether there is an event of a kind about a job.
func (e *eventLog) contains(kind rota.EventKind, job rota.ID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.events, func(one rota.Event) bool { return one.Kind == kind && one.JobID == job })
}

// eventsText is the form in which events are compared. Each store words the detail of a fire
// and the error of a lost lease itself, so the text omits them.
func eventsText(events []rota.Event) string {
	var b text
	for _, e := range events {
		b.line("", "event", string(e.Kind))
		for _, f := range []struct{ name, value string }{
			{"at", timeText(e.At)},
			{"job", e.JobID.String()},
			{"execution", e.ExecutionID.String()},
			{"run", e.RunID.String()},
			{"type", e.Type},
			{"name", e.Name},
			{"template", e.Template},
			{"schedule", e.Schedule},
			{"group", e.GroupID.String()},
			{"attempt", nonZero(int64(e.Attempt))},
			{"plan time", timeText(e.PlanTime)},
			{"queued at", timeText(e.QueuedAt)},
			{"due at", timeText(e.DueAt)},
			{"started at", timeText(e.StartedAt)},
			{"runner", e.Runner},
			{"error code", e.ErrorCode},
			{"reservation", e.ReservationID.String()},
		} {
			b.line("  ", f.name, f.value)
		}
		if e.ErrorCode != rota.CodeLeaseExpired {
			b.line("  ", "error", brief(e.Error))
		}
		if e.Kind != rota.EventScheduleFired {
			b.line("  ", "detail", brief(e.Detail))
		}
	}
	return b.String()
}

// groupBySubject groups the events of a batch by subject and keeps their order. A store may
// publish one event for a schedule that is fired twice in one batch.
func groupBySubject(events []rota.Event) []rota.Event {
	subject := func(e rota.Event) string {
		if strings.HasPrefix(string(e.Kind), "job.") {
			return "job " + e.JobID.String()
		}
		return fmt.Sprintf("%s %s %s", e.Kind, e.Name, e.ReservationID)
	}
	slices.SortStableFunc(events, func(a, b rota.Event) int { return strings.Compare(subject(a), subject(b)) })
	var kept []rota.Event
	for i, e := range events {
		if e.Kind == rota.EventScheduleFired && i+1 < len(events) && subject(e) == subject(events[i+1]) {
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// stateAfter is the state of a job after an event. All queued states are one here, because
// events do not show holds.
var stateAfter = map[rota.EventKind]rota.State{
	rota.EventJobEnqueued: rota.StateQueued, rota.EventJobStarted: rota.StateRunning, rota.EventJobStopping: rota.StateRunning,
	rota.EventJobCompleted: rota.StateCompleted, rota.EventJobFailed: rota.StateFailed,
	rota.EventJobCancelled: rota.StateCancelled, rota.EventJobSkipped: rota.StateSkipped,
}

// mayFollow reports whether an event can be the next one of a job. A pruned job may be enqueued
// again, and pruning publishes no event.
func mayFollow(before rota.State, kind rota.EventKind) bool {
	live := before == rota.StateQueued || before == rota.StateRunning
	switch kind {
	case rota.EventJobEnqueued:
		return !live
	case rota.EventJobDead:
		return before == rota.StateFailed
	case rota.EventJobStarted, rota.EventJobChanged:
		return before == rota.StateQueued
	}
	return live
}

// checkEventHistory wants each event to follow from those before it, and the events together to
// give the state of each job.
func checkEventHistory(ctx context.Context, s rota.Store, events []rota.Event) error {
	states, dead := map[rota.ID]rota.State{}, map[rota.ID]bool{}
	for i, e := range events {
		if !strings.HasPrefix(string(e.Kind), "job.") {
			continue
		}
		before := states[e.JobID]
		if !mayFollow(before, e.Kind) {
			return fmt.Errorf("event %d: %s of job %s, which was %q", i, e.Kind, e.JobID, before)
		}
		dead[e.JobID] = e.Kind == rota.EventJobDead // no event follows it
		if e.Kind != rota.EventJobDead && e.Kind != rota.EventJobChanged {
			states[e.JobID] = stateAfter[e.Kind]
		}
	}
	jobs, err := allJobs(ctx, s, rota.JobQuery{Limit: dumpPage})
	for _, j := range jobs {
		state := j.State()
		if j.Status == rota.StatusQueued {
			state = rota.StateQueued
		}
		if states[j.ID] != state || dead[j.ID] != (j.Sequel == rota.SequelDead) {
			return fmt.Errorf("job %s is %s, dead %v, but its events say %q, dead %v", j.ID, state, j.Sequel == rota.SequelDead, states[j.ID], dead[j.ID])
		}
	}
	return err
}
