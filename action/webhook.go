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
	Store  rota.Store // store of the webhooks
	Sender *Sender    // nil: a sender that may reach the public internet
	// Compose encodes the body of a delivery with its id. The caller provides it,
	// because the JSON forms of jobs belong to the user-facing interfaces.
	Compose func(ctx context.Context, id string, delivery rota.Delivery) ([]byte, error)
	// Open returns the secret of a webhook of a template, or of a global one. Nil: only secrets that are not sealed are used.
	Open func(template string, h *rota.Webhook) (string, error)
}

// Deliveries registers the handler of rota.TypeWebhook. It needs its own
// registry and engine, so that slow receivers delay only other deliveries.
func Deliveries(reg *engine.Registry, config WebhookConfig) {
	if config.Sender == nil {
		config.Sender = NewSender(SenderConfig{})
	}
	d := &deliverer{WebhookConfig: config}
	reg.Func(rota.TypeWebhook, rota.TypeSpec{}, d.run, engine.WithDescription("delivers an event to a webhook"))
}

// deliverer executes deliveries.
type deliverer struct {
	WebhookConfig
	breaker breaker
}

func (d *deliverer) run(ctx context.Context, job *rota.Job) error {
	delivery, err := rota.ParseDelivery(job.Params)
	if err != nil || delivery.URL == "" {
		return permanentFailure(codeParams, "the params are not a delivery")
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

// secret is the current secret of the webhook. A webhook that was removed gets no
// delivery. A webhook with a new secret gets deliveries signed with the new one.
func (d *deliverer) secret(ctx context.Context, delivery *rota.Delivery) (string, error) {
	hooks, err := d.hooks(ctx, delivery.Template)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(hooks, func(h rota.Webhook) bool { return h.URL == delivery.URL })
	switch {
	case at < 0:
		return "", permanentFailure(codeGone, "the webhook was removed before %s was delivered", delivery.Event)
	case !hooks[at].Subscribes(delivery.Event):
		return "", permanentFailure(codeGone, "the webhook is no longer subscribed to %s", delivery.Event)
	}
	if d.Open != nil {
		return d.Open(delivery.Template, &hooks[at])
	}
	if rota.IsSealed(hooks[at].Secret) {
		return "", &rota.Error{Code: rota.Unavailable, Act: "webhook", Reason: "this process has no master key to open the secret of the webhook"}
	}
	return hooks[at].Secret, nil
}

// hooks are the webhooks of a template, or the global ones if there is no template.
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

// send sends a message and evaluates the answer. Every failure is retried as long as
// the policy allows, because a receiver under repair may answer anything. The result
// and the error contain everything, so there is no log line, which would cost a file
// for each delivery.
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
		return permanentFailure(codeGone, "%s returned %s: the receiver refuses further deliveries; remove the webhook", hostOf(m.URL), statusText(receipt.Status))
	}
	return failed(statusCode(receipt.Status), "%s returned %s; a delivery needs a 2xx status", hostOf(m.URL), statusText(receipt.Status))
}

// trySend sends a message unless the breaker refuses the receiver.
func (d *deliverer) trySend(ctx context.Context, m Message) (receipt *Receipt, err error) {
	record, may := d.breaker.acquire(m.URL)
	if !may {
		return nil, failed(codeDown, "%s did not answer recently, so this delivery was not sent; it is retried later", hostOf(m.URL))
	}
	defer func() { record(err) }()
	return d.Sender.Send(ctx, m)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
