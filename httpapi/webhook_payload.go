package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/rotajobs/rota"
)

// ComposeWebhook returns a function that composes the bodies of deliveries: the event, and the current
// job, schedule, group or reservation. An entity that no longer exists is omitted.
func ComposeWebhook(store rota.Store) func(ctx context.Context, id string, d rota.Delivery) ([]byte, error) {
	return func(ctx context.Context, id string, d rota.Delivery) ([]byte, error) {
		n := WebhookPayload{ID: id, Event: string(d.Event), Time: Time{d.Time}, PlanTime: Time{d.PlanTime}, Detail: d.Detail}
		for _, add := range []func(context.Context, rota.Store, *rota.Delivery) error{n.addJob, n.addSchedule, n.addGroup, n.addReservation} {
			if err := add(ctx, store, &d); err != nil && rota.CodeOf(err) != rota.NotFound {
				return nil, err
			}
		}
		return n.encode()
	}
}

func (n *WebhookPayload) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(n)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func (n *WebhookPayload) addJob(ctx context.Context, store rota.Store, d *rota.Delivery) error {
	if d.JobID == nil {
		return nil
	}
	n.JobID = ID{*d.JobID}
	job, err := store.Job(ctx, *d.JobID)
	if err != nil {
		return err
	}
	n.Job = new(NewJob(job))
	n.Run = n.Job.Run
	execution, err := executionOf(ctx, store, job)
	if execution.State == ExecutionFailed && job.Run != nil { // the retry is another job and not part of this event
		execution.NextRetryAt = Time{}
	}
	n.Execution = &execution
	return err
}

// about reports whether an event is about a kind of entity, and not only about a job that belongs to
// one.
func about(kind rota.EventKind, thing string) bool { return strings.HasPrefix(string(kind), thing+".") }

func (n *WebhookPayload) addSchedule(ctx context.Context, store rota.Store, d *rota.Delivery) error {
	if d.Schedule == "" || !about(d.Event, "schedule") {
		return nil
	}
	n.ScheduleName = d.Schedule
	s, err := store.Schedule(ctx, d.Schedule)
	if err != nil {
		return err
	}
	n.Schedule = new(NewSchedule(s))
	return nil
}

func (n *WebhookPayload) addGroup(ctx context.Context, store rota.Store, d *rota.Delivery) error {
	if d.GroupID == nil || !about(d.Event, "group") {
		return nil
	}
	n.GroupID = ID{*d.GroupID}
	g, err := store.Group(ctx, *d.GroupID)
	if err != nil {
		return err
	}
	n.Group = new(NewGroup(g))
	return nil
}

func (n *WebhookPayload) addReservation(ctx context.Context, store rota.Store, d *rota.Delivery) error {
	if d.ReservationID == nil {
		return nil
	}
	n.ReservationID = ID{*d.ReservationID}
	found, err := store.Reservations(ctx, after(*d.ReservationID), 1)
	if err != nil || len(found) == 0 || found[0].ID != *d.ReservationID {
		return err
	}
	n.Reservation = new(NewReservation(found[0]))
	return nil
}

// after returns the next id.
func after(id rota.ID) rota.ID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			break
		}
	}
	return id
}
