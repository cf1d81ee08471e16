package action

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// WebhookConfig of the handler of deliveries.
type WebhookConfig struct {
	Store  rota.Store // that the webhooks stand in
	Sender *Sender    // nil: one that may reach the open internet
	// Compose writes what a webhook is told, under the id of the delivery. It is given
	// here since the forms in which jobs and the like are shown belong to the faces.
	Compose func(ctx context.Context, id string, delivery rota.Delivery) ([]byte, error)
}

// Deliveries registers the handler of rota.TypeWebhook. It belongs into a registry
// of its own, for an engine of its own: receivers that are slow then keep nobody
// waiting but each other.
func Deliveries(reg *engine.Registry, config WebhookConfig) {
	if config.Sender == nil {
		config.Sender = NewSender(SenderConfig{})
	}
	d := &deliverer{WebhookConfig: config}
	reg.Func(rota.TypeWebhook, rota.TypeSpec{}, d.run, engine.WithDescription("tells a webhook what happened"))
}

// deliverer carries deliveries out.
type deliverer struct {
	WebhookConfig
	breaker breaker
}

func (d *deliverer) run(ctx context.Context, job *rota.Job) error {
	delivery, err := rota.ParseDelivery(job.Params)
	if err != nil || delivery.URL == "" {
		return permanentFailure(codeParams, "the params are no delivery")
	}
	secret, err := d.secret(ctx, &delivery)
	if err != nil {
		return err
	}
	m := Message{URL: delivery.URL, Secret: secret, Event: string(delivery.Event), ID: job.IdempotencyKey()}
	if m.Body, err = d.Compose(ctx, m.ID, delivery); err != nil {
		return err
	}
	return d.send(ctx, m)
}

// secret is that of the webhook as it stands now: one that was taken away is not
// told any more, and one that was given another secret is told under that.
func (d *deliverer) secret(ctx context.Context, delivery *rota.Delivery) (string, error) {
	hooks, err := d.hooks(ctx, delivery.Template)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(hooks, func(h rota.Webhook) bool { return h.URL == delivery.URL })
	switch {
	case at < 0:
		return "", permanentFailure(codeGone, "the webhook was taken away before it could be told of %s", delivery.Event)
	case !hooks[at].Subscribes(delivery.Event):
		return "", permanentFailure(codeGone, "the webhook is not told of %s any more", delivery.Event)
	}
	return hooks[at].Secret, nil
}

// hooks are those of a template, or for all if there is none.
func (d *deliverer) hooks(ctx context.Context, template string) ([]rota.Webhook, error) {
	if template == "" {
		all, err := d.Store.Webhooks(ctx)
		if err != nil {
			return nil, err
		}
		return all.Spec, nil
	}
	t, err := d.Store.Template(ctx, template)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return t.Spec.Webhooks, nil
}

// send sends a message and judges what came of it. Everything but a success is
// tried again, as long as the policy lasts: a receiver that is being repaired may
// answer anything. Its result and its error say it all: a line in a log would cost
// a file for each delivery.
func (d *deliverer) send(ctx context.Context, m Message) error {
	receipt, err := d.trySend(ctx, m)
	if err != nil {
		return err
	}
	if err := engine.Result(ctx, receipt); err != nil {
		return err
	}
	switch {
	case receipt.Delivered():
		return nil
	case receipt.Status == http.StatusGone:
		return permanentFailure(codeGone, "%s was answered %s: it wants to hear of nothing any more; take the webhook away", hostOf(m.URL), statusText(receipt.Status))
	}
	return failed(statusCode(receipt.Status), "%s was answered %s; a 2xx says that it was delivered", hostOf(m.URL), statusText(receipt.Status))
}

// trySend sends a message unless its receiver is down, as far as is known.
func (d *deliverer) trySend(ctx context.Context, m Message) (receipt *Receipt, err error) {
	leave, may := d.breaker.acquire(m.URL)
	if !may {
		return nil, failed(codeDown, "%s did not answer lately, so this was not sent; other webhooks would have waited for it", hostOf(m.URL))
	}
	defer func() { leave(err) }()
	return d.Sender.Send(ctx, m)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
