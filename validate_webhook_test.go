package rota_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

func putWebhooksRefusals() []refusal {
	hook := func(name string, change func(*rota.Webhook), field, reason string) refusal {
		return breaks(name, func(c *rota.PutWebhooks) { change(&c.Spec[0]) }, "webhooks[0]."+field, reason)
	}
	address := func(name, url, reason string) refusal {
		return hook(name, func(h *rota.Webhook) { h.URL = url }, "url", reason)
	}
	return []refusal{
		address("no address", "", `"" is not an address; write http:// or https://`),
		address("no scheme", "example.org/hook", "is not an address"),
		address("another scheme", "ftp://example.org/", "is not an address"),
		address("no host", "https:///hook", "is not an address"),
		address("a port alone", "https://:80/hook", "is not an address"),
		address("a port that is none", "https://example.org:http/", "is not an address"),
		address("a port too high", "https://example.org:65536/", "has an invalid port; use a port from 1 to 65535"),
		address("port 0", "https://example.org:0/", "has an invalid port"),
		address("a fragment", "https://example.org/hook#part", "contains a #; remove the # and the text after it"),
		address("an empty fragment", "https://example.org/hook#", "contains a #"),
		address("a password", "https://ada:shh@example.org/", "contains a user or a password"),
		address("a password in what is none", "https//ada:shh@example.org/", "the value is not an address"),
		address("a password before a bad port", "https://ada:shh@example.org:x/", "the value is not an address"),
		address("a user", "https://ada@example.org/", "contains a user or a password"),
		address("a long one", "https://example.org/"+strings.Repeat("x", rota.URLMax), "has 2068 bytes; at most 2048"),
		address("not UTF-8", "https://example.org/\xff", "is not UTF-8"),
		hook("no secret", func(h *rota.Webhook) { h.Secret = "" }, "secret", "is missing; it signs deliveries"),
		hook("a malformed sealed secret", func(h *rota.Webhook) { h.Secret = "sealed:v1:x" }, "secret", "begins like a sealed value"),
		hook("a long secret", func(h *rota.Webhook) { h.Secret = strings.Repeat("s", rota.KeyMax+1) }, "secret", "has 513 bytes"),
		hook("an event that is none", func(h *rota.Webhook) { h.Events[1] = "job.born" }, "events[1]", `"job.born" is not an event of this webhook; use one of job.enqueued, `),
		hook("an event for watchers only", func(h *rota.Webhook) { h.Events[1] = rota.EventJobStopping }, "events[1]", "is not an event of this webhook"),
		hook("an event twice", func(h *rota.Webhook) { h.Events[1] = h.Events[0] }, "events[1]", `"job.failed" is listed twice`),
		breaks("an address twice", func(c *rota.PutWebhooks) { c.Spec[1].URL = c.Spec[0].URL }, "webhooks[1].url", "is listed twice"),
		breaks("many", func(c *rota.PutWebhooks) { c.Spec = make([]rota.Webhook, rota.WebhooksMax+1) }, "webhooks", "there are 11; at most 10"),
	}
}

// The engine enqueues deliveries of events that no store publishes, in the form that a
// store gives them.
func TestEnqueueAcceptsDeliveriesFromRotaOnly(t *testing.T) {
	group := samples.ID(7)
	params := json.RawMessage(rota.EncodeSpec(rota.Delivery{URL: "https://example.org/", Event: rota.EventGroupFinished, Time: samples.Time, GroupID: &group}))
	delivery := func() *rota.Enqueue {
		return &rota.Enqueue{Meta: rota.Meta{ID: samples.ID(1), Actor: rota.SystemActor}, Jobs: []rota.NewJob{{
			ID: rota.DeliveryID(params, rota.EventGroupFinished, samples.Time), Type: rota.TypeWebhook, Name: "webhook", Params: params, Priority: new(rota.PriorityMin),
		}}}
	}
	if err := rota.CheckCommand(delivery()); err != nil {
		t.Errorf("an internal type of Rota: %v", err)
	}
	for name, change := range map[string]func(*rota.Enqueue){
		"another actor":     func(c *rota.Enqueue) { c.Actor = "ada" },
		"another type":      func(c *rota.Enqueue) { c.Jobs[0].Type = "rota.other" },
		"another id":        func(c *rota.Enqueue) { c.Jobs[0].ID = samples.ID(9) },
		"no id":             func(c *rota.Enqueue) { c.Jobs[0].ID = rota.ID{} },
		"another event":     func(c *rota.Enqueue) { c.Jobs[0].Params = []byte(strings.Replace(string(params), "group.", "job.", 1)) },
		"no params":         func(c *rota.Enqueue) { c.Jobs[0].Params = nil },
		"another priority":  func(c *rota.Enqueue) { c.Jobs[0].Priority = new(0) },
		"no priority":       func(c *rota.Enqueue) { c.Jobs[0].Priority = nil },
		"a unique key":      func(c *rota.Enqueue) { c.Jobs[0].UniqueKey = "k" },
		"a template":        func(c *rota.Enqueue) { c.Jobs[0].Template = "mail" },
		"a concurrency key": func(c *rota.Enqueue) { c.Jobs[0].ConcurrencyKey = new("k") },
		"a delay":           func(c *rota.Enqueue) { c.Jobs[0].Delay = time.Second },
	} {
		c := delivery()
		change(c)
		if e, is := rota.CheckCommand(c).(*rota.Error); !is || e.Code != rota.Invalid || e.Field != "jobs[0].type" {
			t.Errorf("%s: %v", name, e)
		}
	}
	members := &rota.EnqueueGroup{Meta: delivery().Meta, Jobs: delivery().Jobs}
	if e, is := rota.CheckCommand(members).(*rota.Error); !is || e.Field != "jobs[0].type" {
		t.Errorf("in a group: %v", e)
	}
	direct := sampleOf(rota.VerbDirect).(*rota.Direct)
	direct.Actor, direct.Job = rota.SystemActor, delivery().Jobs[0]
	if e, is := rota.CheckCommand(direct).(*rota.Error); !is || e.Field != "job.type" {
		t.Errorf("as a direct run: %v", e)
	}
}
