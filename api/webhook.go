package api

import (
	"slices"

	"github.com/rotajobs/rota"
)

// Webhook is a receiver of events. Its secret is not shown.
type Webhook struct {
	URL       string   `json:"url" doc:"Address of the receiver." example:"https://example.com/hooks/rota"`
	Events    []string `json:"events" nullable:"false" doc:"Kinds of events delivered. Empty: all."`
	HasSecret bool     `json:"has_secret" doc:"Whether deliveries are signed. Only GET /definitions?secrets=true has the secret, sealed."`
}

// NewWebhook converts a webhook.
func NewWebhook(h *rota.Webhook) Webhook {
	v := Webhook{URL: h.URL, Events: []string{}, HasSecret: h.Secret != ""}
	for _, kind := range h.Events {
		v.Events = append(v.Events, string(kind))
	}
	return v
}

func newWebhooks(hooks []rota.Webhook) []Webhook {
	views := make([]Webhook, len(hooks))
	for i := range hooks {
		views[i] = NewWebhook(&hooks[i])
	}
	return views
}

// Webhooks holds the webhooks for all events.
type Webhooks struct {
	Webhooks []Webhook `json:"webhooks" nullable:"false" doc:"Webhooks, in the order in which they were set."`
	Version  ID        `json:"version" doc:"Changes with every change. Null: never set."`
}

// NewWebhooks converts the webhooks for all events.
func NewWebhooks(h *rota.Webhooks) Webhooks {
	return Webhooks{Webhooks: newWebhooks(h.Spec), Version: ID{h.Version}}
}

// WebhookTested is the result of a webhook test.
type WebhookTested struct {
	Delivered  bool   `json:"delivered" doc:"Whether the receiver answered with a 2xx status."`
	Status     *int   `json:"status" doc:"Status of the answer. Null: no answer."`
	DurationMS int64  `json:"duration_ms" doc:"Duration in milliseconds."`
	Body       Text   `json:"body" doc:"Start of the answer, if it is not a success."`
	Error      Text   `json:"error" doc:"Reason why the test failed."`
	DeliveryID string `json:"delivery_id" doc:"Value of the header Rota-Delivery."`
}

// WebhookPayload is the body of a delivery. It contains the job, schedule, group or reservation as of
// the time of sending, in the form of the API. If one no longer exists, only its id or name is
// included.
type WebhookPayload struct {
	ID    string `json:"id"` // id of the delivery, the same for each repetition
	Event string `json:"event"`
	Time  Time   `json:"time"`

	JobID     ID         `json:"job_id"`
	Job       *Job       `json:"job"`
	Run       *Run       `json:"run"`
	Execution *Execution `json:"execution"` // as of this job, without later attempts

	// Set for events that are not about jobs.
	ScheduleName  string       `json:"schedule_name,omitempty"`
	Schedule      *Schedule    `json:"schedule,omitempty"`
	PlanTime      Time         `json:"plan_time,omitzero"`
	GroupID       ID           `json:"group_id,omitzero"`
	Group         *Group       `json:"group,omitempty"`
	ReservationID ID           `json:"reservation_id,omitzero"`
	Reservation   *Reservation `json:"reservation,omitempty"`
	Name          string       `json:"name,omitempty"` // of a type, a template or a node
	Detail        string       `json:"detail,omitempty"`
}

// WebhookRequest declares a webhook.
type WebhookRequest struct {
	URL       string      `json:"url" alias:"address" doc:"Address of the receiver: http or https. It identifies the webhook in its list."`
	Events    []string    `json:"events,omitempty" alias:"event" doc:"Kinds of events to deliver. Empty: all."`
	Secret    Opt[string] `json:"secret,omitzero" alias:"key" doc:"Secret that signs deliveries. Omitted: the stored secret of this address."`
	HasSecret Opt[bool]   `json:"has_secret,omitzero" doc:"Accepted because responses contain it; it has no effect."`
}

// MergeWebhooks converts webhooks. A stored webhook keeps its secret if the request has none, because
// a client cannot send back a secret that is never shown.
func MergeWebhooks(given []WebhookRequest, stored []rota.Webhook) []rota.Webhook {
	hooks := make([]rota.Webhook, len(given))
	for i, g := range given {
		hooks[i] = rota.Webhook{URL: g.URL, Secret: WebhookSecret(g.URL, stored)}
		if g.Secret.Value != nil {
			hooks[i].Secret = *g.Secret.Value
		}
		for _, kind := range g.Events {
			hooks[i].Events = append(hooks[i].Events, rota.EventKind(kind))
		}
	}
	return hooks
}

// WebhookSecret is the secret of the stored webhook with an address; empty: there is none.
func WebhookSecret(url string, stored []rota.Webhook) string {
	at := slices.IndexFunc(stored, func(h rota.Webhook) bool { return h.URL == url })
	if at < 0 {
		return ""
	}
	return stored[at].Secret
}

// WebhooksRequest sets the webhooks for all events.
type WebhooksRequest struct {
	Webhooks []WebhookRequest `json:"webhooks" doc:"All webhooks: a webhook that is not listed is removed."`
	Version  ID               `json:"version,omitzero" doc:"Version that was read. The webhooks are set only if they have not changed since."`
}

// WebhookTestRequest requests a webhook test.
type WebhookTestRequest struct {
	URL      string `json:"url" doc:"Address to send the test to."`
	Secret   string `json:"secret,omitempty" doc:"Secret to sign it with. Omitted: the stored secret of this address."`
	Template string `json:"template,omitempty" doc:"Template of the webhook, if it belongs to one."`
}
