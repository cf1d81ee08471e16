package rota

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Webhook is an address that receives events. Each delivery is a job of TypeWebhook,
// created in the transaction of its event.
type Webhook struct {
	URL    string      `wire:"1" json:"url"`              // http or https; identifies the webhook in its list
	Events []EventKind `wire:"2" json:"events,omitempty"` // subscribed events; empty: WebhookEvents
	Secret string      `wire:"3" json:"secret,omitempty"` // key that signs deliveries
}

// Webhooks are the global webhooks, which receive the events of everything, not only of
// one template. The zero value has none.
type Webhooks struct {
	Spec      []Webhook
	Version   ID // id of the last command that changed them
	UpdatedBy string
	UpdatedAt time.Time
}

// Subscribes reports whether the webhook receives events of a kind.
func (h *Webhook) Subscribes(kind EventKind) bool {
	kinds := h.Events
	if len(kinds) == 0 {
		kinds = WebhookEvents
	}
	return slices.Contains(kinds, kind)
}

// WebhookEvents lists the events that webhooks can receive. Webhooks of a template
// receive only job events. The index of an event is part of the ids of its deliveries,
// so new events go to the end.
var WebhookEvents = []EventKind{
	EventJobEnqueued, EventJobStarted, EventJobCompleted, EventJobFailed, EventJobDead, EventJobCancelled, EventJobSkipped,
	EventScheduleFired, EventScheduleMissed, EventScheduleDisabled, EventGroupFinished,
	EventReservationActive, EventReservationReleased, EventReservationExpired,
}

// CanonicalWebhooks returns a list as stored; an empty list is nil.
func CanonicalWebhooks(hooks []Webhook) []Webhook {
	if len(hooks) == 0 {
		return nil
	}
	return canonical(hooks)
}

// EqualWebhooks reports whether two lists have the same stored form.
func EqualWebhooks(a, b []Webhook) bool {
	return len(a) == len(b) && bytes.Equal(EncodeSpec(CanonicalWebhooks(a)), EncodeSpec(CanonicalWebhooks(b)))
}

// TypeWebhook is the type of the jobs that deliver events to webhooks. Their params are a
// Delivery.
const TypeWebhook = internalPrefix + "webhook"

const internalPrefix = "rota."

// InternalType reports whether a type belongs to Rota itself. Default listings omit jobs
// of internal types, users cannot submit them, and webhooks do not receive their events.
func InternalType(typ string) bool { return strings.HasPrefix(typ, internalPrefix) }

// DeliveredBy is the actor of deliveries. A store creates them with each event, and the
// engine creates those for events that no store publishes.
const DeliveredBy = "rota"

// Delivery is the params of a job of TypeWebhook: the event and its receiver. It does not
// contain the secret, so the secret can change while deliveries wait.
type Delivery struct {
	URL      string    `json:"url"`
	Template string    `json:"template,omitempty"` // template that has the webhook; empty: a global webhook
	Event    EventKind `json:"event"`
	Time     time.Time `json:"time"`

	JobID         *ID       `json:"job_id,omitempty"`
	Schedule      string    `json:"schedule,omitempty"`
	PlanTime      time.Time `json:"plan_time,omitzero"` // of schedule.fired: the last time that fired
	GroupID       *ID       `json:"group_id,omitempty"`
	ReservationID *ID       `json:"reservation_id,omitempty"`
	Detail        string    `json:"detail,omitempty"`
}

// DeliveryPolicy retries a delivery for about a day.
var DeliveryPolicy = Policy{
	MaxAttempts: 21, Backoff: 10 * time.Second, BackoffMax: 2 * time.Hour, Jitter: 0.2, Timeout: time.Minute,
}

// ParseDelivery parses the params of a job of TypeWebhook.
func ParseDelivery(params json.RawMessage) (d Delivery, err error) {
	err = json.Unmarshal(params, &d)
	return d, err
}

// PutWebhooks replaces the global webhooks.
type PutWebhooks struct {
	Meta    `wire:"1"`
	Version *ID       `wire:"2"` // version the caller has read; nil: any
	Spec    []Webhook `wire:"3"`
}

// Verb returns the kind of the command.
func (*PutWebhooks) Verb() Verb { return VerbPutWebhooks }

// WebhooksPut answers PutWebhooks.
type WebhooksPut struct {
	Webhooks *Webhooks
	Changed  bool
}

func (*WebhooksPut) reply() {}

// Validate checks addresses, secrets and events, and refuses duplicates.
func (c *PutWebhooks) Validate() error {
	return checkWebhooks("webhooks", c.Spec, WebhookEvents)
}

func (c *PutWebhooks) weigh() (entries, bytes int) { return weighWebhooks(c.Spec) }

func weighWebhooks(hooks []Webhook) (entries, bytes int) {
	for _, h := range hooks {
		bytes += len(h.URL) + len(h.Secret)
		for _, kind := range h.Events {
			bytes += 8 + len(kind)
		}
	}
	return 1 + len(hooks), bytes + (1+len(hooks))*entryBytes
}
