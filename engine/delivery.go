package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// deliver enqueues the jobs that notify webhooks of an event of the engine. Their ids are
// derived from the event, its time and the URL. With a function that computes the time, it
// sets the time, so that each is created once, however many engines publish the event and
// however often.
func (n *notifier) deliver(ctx context.Context, event *rota.Event, at func(context.Context) (time.Time, error)) error {
	hooks, err := n.e.store.Webhooks(ctx)
	if err != nil {
		return err
	}
	var commands []rota.Command
	for i := range hooks.Spec {
		if !hooks.Spec[i].Subscribes(event.Kind) {
			continue
		}
		if len(commands) == 0 && at != nil {
			if event.At, err = at(ctx); err != nil {
				return err
			}
		}
		job := deliveryOf(event, hooks.Spec[i].URL)
		commands = append(commands, &rota.Enqueue{Meta: rota.NewMeta(rota.SystemActor), Jobs: []rota.NewJob{job}})
	}
	if len(commands) == 0 {
		return nil
	}
	results, err := n.e.apply(ctx, commands...)
	if err != nil {
		return err
	}
	for _, result := range results {
		if result.Err != nil { // a retry would be refused, too
			n.e.config.Logger.Error("the store refused the job that notifies a webhook", "event", string(event.Kind), "name", event.Name, "error", result.Err)
		}
	}
	return nil
}

// lastEnd is when the last member of a group ended. Every process computes the same.
func (n *notifier) lastEnd(ctx context.Context, group rota.ID) (last time.Time, err error) {
	for query := (rota.JobQuery{GroupID: group, Tails: true, Limit: rota.PageMax}); ; {
		page, err := n.e.store.Jobs(ctx, query)
		if err != nil {
			return last, err
		}
		for _, job := range page {
			if job.FinishedAt.After(last) {
				last = job.FinishedAt
			}
		}
		if len(page) < rota.PageMax {
			return last, nil
		}
		query.Before = page[len(page)-1].ID
	}
}

// deliveryOf returns the job that notifies one webhook of an event, equal to the jobs
// that stores create.
func deliveryOf(event *rota.Event, url string) rota.NewJob {
	delivery := rota.Delivery{URL: url, Event: event.Kind, Time: event.At, Detail: event.Detail}
	if event.GroupID.IsZero() {
		delivery.Name = event.Name
	} else {
		delivery.GroupID = &event.GroupID
	}
	params := rota.EncodeSpec(delivery)
	policy := rota.DeliveryPolicy
	return rota.NewJob{
		ID: rota.DeliveryID(params, event.Kind, event.At), Type: rota.TypeWebhook, Name: "webhook", Params: params,
		Priority: new(rota.PriorityMin), MaxRetries: new(policy.MaxAttempts - 1), Backoff: &policy.Backoff,
		BackoffMax: &policy.BackoffMax, Jitter: &policy.Jitter, Timeout: &policy.Timeout,
	}
}
