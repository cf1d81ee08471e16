package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// ComposeWebhook returns a function that composes the bodies of deliveries: the event, and the current
// job, schedule, group or reservation. An entity that no longer exists is omitted.
func ComposeWebhook(store rota.Store) func(ctx context.Context, id string, d rota.Delivery) ([]byte, error) {
	return func(ctx context.Context, id string, d rota.Delivery) ([]byte, error) {
		n := api.WebhookPayload{ID: id, Event: string(d.Event), Time: api.Time{Time: d.Time}, PlanTime: api.Time{Time: d.PlanTime}, Name: d.Name, Detail: d.Detail}
		for _, add := range []func(context.Context, rota.Store, *rota.Delivery, *api.WebhookPayload) error{addJob, addSubject, addReservation} {
			if err := add(ctx, store, &d, &n); err != nil && rota.CodeOf(err) != rota.NotFound {
				return nil, err
			}
		}
		return encodePayload(&n)
	}
}

func encodePayload(n *api.WebhookPayload) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(n)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func addJob(ctx context.Context, store rota.Store, d *rota.Delivery, n *api.WebhookPayload) error {
	if d.JobID == nil {
		return nil
	}
	n.JobID = api.ID{ID: *d.JobID}
	job, err := store.Job(ctx, *d.JobID)
	if err != nil {
		return err
	}
	n.Job = new(api.NewJob(job))
	n.Run = n.Job.Run
	execution, err := executionOf(ctx, store, job)
	if execution.State == api.ExecutionFailed && job.Run != nil { // the retry is another job and not part of this event
		execution.NextRetryAt = api.Time{}
	}
	n.Execution = &execution
	return err
}

// addSubject adds the entity that an event is about, if it is not about a job.
func addSubject(ctx context.Context, store rota.Store, d *rota.Delivery, n *api.WebhookPayload) (err error) {
	switch kind, _, _ := strings.Cut(string(d.Event), "."); {
	case kind == "schedule" && d.Schedule != "":
		n.ScheduleName = d.Schedule
		n.Schedule, err = converted(api.NewSchedule)(store.Schedule(ctx, d.Schedule))
	case kind == "group" && d.GroupID != nil:
		n.GroupID = api.ID{ID: *d.GroupID}
		n.Group, err = converted(api.NewGroup)(store.Group(ctx, *d.GroupID))
	}
	return err
}

// converted returns a function that converts a row that was read.
func converted[T, V any](convert func(T) V) func(T, error) (*V, error) {
	return func(row T, err error) (*V, error) {
		if err != nil {
			return nil, err
		}
		return new(convert(row)), nil
	}
}

func addReservation(ctx context.Context, store rota.Store, d *rota.Delivery, n *api.WebhookPayload) error {
	if d.ReservationID == nil {
		return nil
	}
	n.ReservationID = api.ID{ID: *d.ReservationID}
	found, err := store.Reservations(ctx, after(*d.ReservationID), 1)
	if err != nil || len(found) == 0 || found[0].ID != *d.ReservationID {
		return err
	}
	n.Reservation = new(api.NewReservation(found[0]))
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
