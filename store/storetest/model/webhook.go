package model

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

const webhooksSubject = "webhooks"

// Webhooks returns the global webhooks.
func (m *Model) Webhooks(context.Context) (*rota.Webhooks, error) {
	return read(m, func(s *state) (*rota.Webhooks, error) { return copyWebhooks(&s.webhooks), nil })
}

func copyWebhooks(h *rota.Webhooks) *rota.Webhooks {
	c := copyOf(h)
	c.Spec = rota.CanonicalWebhooks(h.Spec)
	return c
}

func (s *step) putWebhooks(c *rota.PutWebhooks) (rota.Reply, *rota.Error) {
	switch {
	case s.auditedSubject(webhooksSubject):
		return &rota.WebhooksPut{Webhooks: &s.webhooks}, nil
	case c.Version != nil && *c.Version != s.webhooks.Version:
		return nil, s.refuse(rota.Conflict, "version", "the webhooks were changed meanwhile")
	case rota.EqualWebhooks(s.webhooks.Spec, c.Spec):
		return &rota.WebhooksPut{Webhooks: &s.webhooks}, nil
	}
	if refusal := s.useKeys(s.webhooks.Spec, c.Spec); refusal != nil {
		return nil, refusal
	}
	old := s.webhooks.Spec
	s.webhooks = rota.Webhooks{Spec: rota.CanonicalWebhooks(c.Spec), Version: c.ID, UpdatedBy: c.Actor, UpdatedAt: s.now}
	s.auditSubject(rota.AuditWebhooksModified, webhooksSubject, "", diff.Documents(webhooksDocument(old), webhooksDocument(s.webhooks.Spec)))
	return &rota.WebhooksPut{Webhooks: &s.webhooks, Changed: true}, nil
}

func webhooksDocument(hooks []rota.Webhook) []byte {
	return rota.EncodeSpec(map[string]any{"webhooks": hooks})
}

// createDeliveries adds a delivery for each webhook that subscribes to an event of a command.
// It uses the webhooks after the command.
func createDeliveries(before, after *state, now time.Time) {
	for _, e := range eventsBetween(before, after, now) {
		if rota.InternalType(e.Type) {
			continue
		}
		d := rota.Delivery{
			Event: e.Kind, Time: now, JobID: idOf(e.JobID), Schedule: e.Schedule, GroupID: idOf(e.GroupID),
			ReservationID: idOf(e.ReservationID),
		}
		if !aboutJob(e.Kind) {
			d.Detail, d.PlanTime = e.Detail, e.PlanTime
			if e.Schedule == "" {
				d.Name = e.Name
			}
		}
		after.addDeliveries(after.webhooks.Spec, d)
		if t := after.template(e.Template); t != nil && aboutJob(e.Kind) {
			d.Template = t.Name
			after.addDeliveries(t.Spec.Webhooks, d)
		}
	}
}

func (s *state) addDeliveries(hooks []rota.Webhook, d rota.Delivery) {
	for _, h := range hooks {
		if !h.Subscribes(d.Event) {
			continue
		}
		d.URL = h.URL
		params := rota.EncodeSpec(d)
		id := rota.DeliveryID(params, d.Event, d.Time)
		if s.find(id) != nil {
			continue
		}
		s.jobs = append(s.jobs, &rota.Job{
			ID: id, ExecutionID: id, Attempt: 1, Type: rota.TypeWebhook, Name: "webhook", Params: params,
			Status: rota.StatusQueued, Priority: rota.PriorityMin, Policy: rota.DeliveryPolicy,
			CreatedBy: "rota", CreatedAt: d.Time, QueuedAt: d.Time,
		})
	}
}

func aboutJob(kind rota.EventKind) bool { return strings.HasPrefix(string(kind), "job.") }

func idOf(id rota.ID) *rota.ID {
	if id.IsZero() {
		return nil
	}
	return &id
}

// firedDetail returns how many jobs a fire created.
func firedDetail(before, after *state, schedule string) string {
	created := after.pick(func(j *rota.Job) bool {
		return j.Schedule == schedule && j.Attempt == 1 && before.find(j.ID) == nil
	})
	if len(created) == 1 {
		return "1 job"
	}
	return fmt.Sprintf("%d jobs", len(created))
}
