package httpapi

import (
	"cmp"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (a *server) webhookRoutes() {
	get(a, operation{
		method: "GET", path: "/webhooks", id: "get-webhooks", scope: readScope, tag: "Webhooks", summary: "Show the webhooks for all events",
		description: "The webhooks of a template are part of the template. GET /jobs?type=rota.webhook lists deliveries, GET /dead?type=rota.webhook those that failed permanently.",
		response:    api.Webhooks{},
	}, func(c *call) (reply, error) {
		return show(api.NewWebhooks)(c.Store.Webhooks(c.ctx))
	})
	route(a, operation{
		method: "PUT", path: "/webhooks", version: webhooksVersion, id: "put-webhooks", scope: writeScope, tag: "Webhooks", summary: "Set the webhooks for all events",
		description: "Takes effect immediately. Pending deliveries to a removed webhook are dropped.",
		example:     `{"webhooks": [{"url": "https://example.com/hooks/rota", "events": ["job.dead", "schedule.missed"], "secret": "a text that nobody guesses"}]}`,
		secret:      true, response: api.Webhooks{}, errors: []int{409},
	}, putWebhooks)
	route(a, operation{
		method: "POST", path: "/webhooks/test", id: "test-webhook", scope: writeScope, tag: "Webhooks", summary: "Test a webhook",
		description: "Sends one signed request with the event " + eventTest + " and returns the result. It is not retried.",
		example:     `{"url": "https://example.com/hooks/rota", "secret": "a text that nobody guesses"}`, secret: true, response: api.WebhookTested{}, need: rota.Admin,
	}, testWebhook)
}

func putWebhooks(c *call, body *api.WebhooksRequest) (reply, error) {
	if body.Webhooks == nil {
		return reply{}, &rota.Error{Code: rota.Invalid, Field: "webhooks", Reason: "is missing", Hint: "send [] to remove all webhooks"}
	}
	meta := c.meta()
	change := func() (reply, error) {
		stored, err := c.Store.Webhooks(c.ctx)
		if err != nil {
			return reply{}, err
		}
		command := &rota.PutWebhooks{Meta: meta, Version: c.versionOr(&stored.Version), Spec: api.MergeWebhooks(body.Webhooks, stored.Spec)}
		if !body.Version.IsZero() {
			command.Version = &body.Version.ID
		}
		if err := command.Validate(); err != nil {
			return reply{}, err
		}
		if command.Spec, err = c.sealWebhooks(command, "", command.Spec, stored.Spec); err != nil {
			return reply{}, err
		}
		return show(func(put *rota.WebhooksPut) api.Webhooks { return api.NewWebhooks(put.Webhooks) })(do[*rota.WebhooksPut](c, command))
	}
	if !body.Version.IsZero() {
		return change()
	}
	return c.retryConflict(change)
}

// sealWebhooks returns the webhooks of a command with sealed secrets. Unchanged secrets keep their ciphertext; the others are
// sealed once the caller is known to have the right to set them, since the first one creates a keyset.
func (c *call) sealWebhooks(command rota.Command, template string, given, stored []rota.Webhook) ([]rota.Webhook, error) {
	if len(given) == 0 {
		return given, nil
	}
	matched, err := c.Vault.MatchWebhooks(template, given, stored)
	if err != nil {
		return nil, err
	}
	switch command := command.(type) {
	case *rota.PutWebhooks:
		command.Spec = matched
	case *rota.PutTemplate:
		command.Spec.Webhooks = matched
	}
	if !rota.EqualWebhooks(matched, stored) {
		if err := c.Store.Authorize(c.ctx, command); err != nil {
			return nil, err
		}
	}
	return c.Vault.SealWebhooks(c.ctx, template, matched, stored)
}

// eventTest is the event name of a test; no other delivery has it.
const eventTest = "webhook.test"

func testWebhook(c *call, body *api.WebhookTestRequest) (reply, error) {
	if c.Webhooks == nil {
		return reply{}, &rota.Error{Code: rota.Unavailable, Reason: "this server sends no webhooks", Hint: "use a server that was started with rota serve"}
	}
	hook, err := c.webhookToTest(body)
	if err != nil {
		return reply{}, err
	}
	tested, started := api.WebhookTested{DeliveryID: rota.NewID().String()}, time.Now()
	message := api.WebhookPayload{ID: tested.DeliveryID, Event: eventTest, Time: api.Time{Time: c.Clock()}, Detail: "this is a test; nothing happened"}
	text, err := encodePayload(&message)
	if err != nil {
		return reply{}, err
	}
	receipt, err := c.Webhooks.Send(c.ctx, action.Message{
		URL: hook.URL, Secret: hook.Secret, Event: eventTest, ID: tested.DeliveryID, Body: text,
	})
	tested.DurationMS = time.Since(started).Milliseconds()
	if err != nil {
		tested.Error = api.Text(err.Error())
		return ok(tested)
	}
	tested.Status, tested.Delivered, tested.Body = &receipt.Status, receipt.Delivered(), api.Text(receipt.Body)
	if !tested.Delivered {
		tested.Error = api.Text(fmt.Sprintf("the receiver answered %d; a 2xx status is required", receipt.Status))
	}
	return ok(tested)
}

// webhookToTest returns the webhook that a request names, which need not be stored.
func (c *call) webhookToTest(body *api.WebhookTestRequest) (hook rota.Webhook, err error) {
	stored, err := c.storedWebhooks(body.Template)
	if err != nil {
		return hook, err
	}
	hook = rota.Webhook{URL: body.URL, Secret: cmp.Or(body.Secret, api.WebhookSecret(body.URL, stored))}
	if err = (&rota.PutWebhooks{Meta: rota.NewMeta(""), Spec: []rota.Webhook{hook}}).Validate(); err == nil {
		hook.Secret, err = c.Vault.OpenWebhook(body.Template, &hook)
	}
	return hook, problem.Rename(err, "webhooks[0]", "")
}

// storedWebhooks returns the webhooks of a template, or those for all events.
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
		return nil, problem.Recode(err, rota.NotFound, rota.Invalid, "template")
	}
	return t.Spec.Webhooks, nil
}
