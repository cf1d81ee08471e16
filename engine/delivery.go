package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// deliver makes the jobs that tell webhooks that a group has finished, and says
// when it did. Their ids come from what they tell, whom, and of which time, so
// each is made once, however many engines find it out and however often.
func (n *notifier) deliver(ctx context.Context, event *rota.Event) error {
	hooks, err := n.e.store.Webhooks(ctx)
	if err != nil {
		return err
	}
	var commands []rota.Command
	for i := range hooks.Spec {
		if !hooks.Spec[i].Tells(event.Kind) {
			continue
		}
		if len(commands) == 0 {
			if event.At, err = n.lastEnd(ctx, event.GroupID); err != nil {
				return err
			}
		}
		job := deliveryOf(event, hooks.Spec[i].URL)
		commands = append(commands, &rota.Enqueue{Meta: rota.NewMeta(rota.DeliveredBy), Jobs: []rota.NewJob{job}})
	}
	if len(commands) == 0 {
		return nil
	}
	results, err := n.e.apply(ctx, commands...)
	if err != nil {
		return err
	}
	for _, result := range results {
		if result.Err != nil { // it would be refused the next time, too
			n.e.config.Logger.Error("a webhook is not told of a group that has finished", "group", event.GroupID, "error", result.Err)
		}
	}
	return nil
}

// lastEnd is when the last member of a group ended: the same for whoever asks.
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

// deliveryOf is the job that tells one webhook of an event, as a store would make
// it.
func deliveryOf(event *rota.Event, url string) rota.NewJob {
	params := rota.EncodeSpec(rota.Delivery{
		URL: url, Event: event.Kind, Time: event.At, GroupID: &event.GroupID, Detail: event.Detail,
	})
	policy := rota.DeliveryPolicy
	return rota.NewJob{
		ID: rota.DeliveryID(params, event.Kind, event.At), Type: rota.TypeWebhook, Name: "webhook", Params: params,
		Priority: new(rota.PriorityMin), MaxRetries: new(policy.MaxAttempts - 1), Backoff: &policy.Backoff,
		BackoffMax: &policy.BackoffMax, Jitter: &policy.Jitter, Timeout: &policy.Timeout,
	}
}
