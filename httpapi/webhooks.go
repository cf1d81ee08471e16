package httpapi

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
)

// WebhookRequest declares a webhook.
type WebhookRequest struct {
	URL       string      `json:"url" alias:"address" doc:"Where it is told: http or https. It names the webhook among its neighbours."`
	Events    []string    `json:"events,omitempty" alias:"event" doc:"What it is told of. None: everything that it can be told of."`
	Secret    Opt[string] `json:"secret,omitzero" alias:"key" doc:"What its deliveries are signed with. Left out, the one that this address has stays."`
	HasSecret Opt[bool]   `json:"has_secret,omitzero" doc:"As it is shown; it changes nothing."`
}

// mergeWebhooks makes webhooks of what was asked for. One that is there already keeps
// its secret if no other is given: nobody can send back what is never shown.
func mergeWebhooks(given []WebhookRequest, stored []rota.Webhook) []rota.Webhook {
	hooks := make([]rota.Webhook, len(given))
	for i, g := range given {
		hooks[i] = rota.Webhook{URL: g.URL, Secret: secretOf(g.URL, stored)}
		if g.Secret.Value != nil {
			hooks[i].Secret = *g.Secret.Value
		}
		for _, kind := range g.Events {
			hooks[i].Events = append(hooks[i].Events, rota.EventKind(kind))
		}
	}
	return hooks
}

func secretOf(url string, stored []rota.Webhook) string {
	at := slices.IndexFunc(stored, func(h rota.Webhook) bool { return h.URL == url })
	if at < 0 {
		return ""
	}
	return stored[at].Secret
}

// WebhooksRequest sets the webhooks that are told of everything.
type WebhooksRequest struct {
	Webhooks []WebhookRequest `json:"webhooks" doc:"All of them: one that is not named is not told any more."`
	Version  ID               `json:"version,omitzero" doc:"The version that was read. They are then changed only if nobody else has changed them."`
}

// WebhookTestRequest asks for a test.
type WebhookTestRequest struct {
	URL      string `json:"url" doc:"Where to send it."`
	Secret   string `json:"secret,omitempty" doc:"What to sign it with. Left out, the one that this address has."`
	Template string `json:"template,omitempty" doc:"Whose webhook it is, if it is that of a template."`
}

func (a *api) webhookRoutes() {
	get(a, operation{
		method: "GET", path: "/webhooks", id: "get-webhooks", tag: "Webhooks", summary: "Show the webhooks that are told of everything",
		description: "Those of a template stand with the template. GET /jobs?type=rota.webhook lists the deliveries, GET /dead?type=rota.webhook those that were given up.",
		response:    Webhooks{},
	}, func(c *call) (reply, error) {
		h, err := c.Store.Webhooks(c.ctx)
		if err != nil {
			return reply{}, err
		}
		return ok(NewWebhooks(h))
	})
	route(a, operation{
		method: "PUT", path: "/webhooks", id: "put-webhooks", tag: "Webhooks", summary: "Set the webhooks that are told of everything",
		description: "It takes effect at once. Deliveries that wait for a webhook which is not named any more are given up.",
		example:     `{"webhooks": [{"url": "https://example.com/hooks/rota", "events": ["job.dead", "schedule.missed"], "secret": "a text that nobody guesses"}]}`,
		response:    Webhooks{}, errors: []int{409},
	}, putWebhooks)
	route(a, operation{
		method: "POST", path: "/webhooks/test", id: "test-webhook", tag: "Webhooks", summary: "Send a test to a webhook",
		description: "Sends one signed request with the event " + eventTest + " and says what came of it. It is not tried again.",
		example:     `{"url": "https://example.com/hooks/rota", "secret": "a text that nobody guesses"}`, response: WebhookTested{},
	}, testWebhook)
}

func putWebhooks(c *call, body *WebhooksRequest) (reply, error) {
	if body.Webhooks == nil {
		return reply{}, &rota.Error{Code: rota.Invalid, Field: "webhooks", Reason: "is missing", Hint: "[] takes all of them away"}
	}
	meta := c.meta()
	change := func() (reply, error) {
		stored, err := c.Store.Webhooks(c.ctx)
		if err != nil {
			return reply{}, err
		}
		command := &rota.PutWebhooks{Meta: meta, Version: &stored.Version, Spec: mergeWebhooks(body.Webhooks, stored.Spec)}
		if !body.Version.IsZero() {
			command.Version = &body.Version.ID
		}
		if err := command.Validate(); err != nil {
			return reply{}, err
		}
		put, err := do[*rota.WebhooksPut](c, command)
		if err != nil {
			return reply{}, err
		}
		return ok(NewWebhooks(put.Webhooks))
	}
	if !body.Version.IsZero() {
		return change()
	}
	return retryConflict(change)
}

// eventTest is what a test is called. Nothing else is.
const eventTest = "webhook.test"

func testWebhook(c *call, body *WebhookTestRequest) (reply, error) {
	if c.Webhooks == nil {
		return reply{}, &rota.Error{Code: rota.Unavailable, Reason: "this server tells no webhooks", Hint: "ask one that was started with rota serve"}
	}
	hook, err := c.webhookToTest(body)
	if err != nil {
		return reply{}, err
	}
	tested, started := WebhookTested{DeliveryID: rota.NewID().String()}, time.Now()
	message := WebhookPayload{ID: tested.DeliveryID, Event: eventTest, Time: Time{c.Clock()}, Detail: "this is a test; nothing happened"}
	text, err := message.encode()
	if err != nil {
		return reply{}, err
	}
	receipt, err := c.Webhooks.Send(c.ctx, action.Message{
		URL: hook.URL, Secret: hook.Secret, Event: eventTest, ID: tested.DeliveryID, Body: text,
	})
	tested.DurationMS = time.Since(started).Milliseconds()
	if err != nil {
		tested.Error = Text(err.Error())
		return ok(tested)
	}
	tested.Status, tested.Delivered, tested.Body = &receipt.Status, receipt.Delivered(), Text(receipt.Body)
	if !tested.Delivered {
		tested.Error = Text(fmt.Sprintf("it answered %d; a 2xx says that a delivery was taken", receipt.Status))
	}
	return ok(tested)
}

// webhookToTest is the webhook that a request names, which need not be there.
func (c *call) webhookToTest(body *WebhookTestRequest) (hook rota.Webhook, err error) {
	stored, err := c.storedWebhooks(body.Template)
	if err != nil {
		return hook, err
	}
	hook = rota.Webhook{URL: body.URL, Secret: cmp.Or(body.Secret, secretOf(body.URL, stored))}
	err = (&rota.PutWebhooks{Meta: rota.NewMeta(""), Spec: []rota.Webhook{hook}}).Validate()
	return hook, renameFields(err, "webhooks[0]", "")
}

// storedWebhooks are those of a template, or those that are told of everything.
func (c *call) storedWebhooks(template string) ([]rota.Webhook, error) {
	if template == "" {
		h, err := c.Store.Webhooks(c.ctx)
		if err != nil {
			return nil, err
		}
		return h.Spec, nil
	}
	t, err := c.Store.Template(c.ctx, template)
	if err != nil {
		return nil, recode(err, rota.NotFound, rota.Invalid, "template")
	}
	return t.Spec.Webhooks, nil
}
