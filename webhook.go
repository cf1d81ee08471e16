package rota

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Webhook is an address that is told of what happens. Each delivery is a job of
// TypeWebhook, made in the same step as what it tells of.
type Webhook struct {
	URL    string      `wire:"1" json:"url"`              // http or https; it names the webhook among its neighbours
	Events []EventKind `wire:"2" json:"events,omitempty"` // what it is told of; none: WebhookEvents
	Secret string      `wire:"3" json:"secret,omitempty"` // what its deliveries are signed with
}

// Webhooks are those that are told of everything, not of the jobs of one
// template alone. The zero value tells nobody.
type Webhooks struct {
	Spec      []Webhook
	Version   ID // the last command that changed them
	UpdatedBy string
	UpdatedAt time.Time
}

// Tells reports whether a webhook is told of an event.
func (h *Webhook) Tells(kind EventKind) bool {
	kinds := h.Events
	if len(kinds) == 0 {
		kinds = WebhookEvents
	}
	return slices.Contains(kinds, kind)
}

// WebhookEvents lists what webhooks are told of. Those of a template are told of
// jobs alone. The place of each is part of the ids of its deliveries, so others
// are added at the end.
var WebhookEvents = []EventKind{
	EventJobEnqueued, EventJobStarted, EventJobCompleted, EventJobFailed, EventJobDead, EventJobCancelled, EventJobSkipped,
	EventScheduleFired, EventScheduleMissed, EventScheduleDisabled, EventGroupFinished,
	EventReservationActive, EventReservationReleased, EventReservationExpired,
}

// CanonicalWebhooks is a list as it is stored; an empty one is nil.
func CanonicalWebhooks(hooks []Webhook) []Webhook {
	if len(hooks) == 0 {
		return nil
	}
	return canonical(hooks)
}

// EqualWebhooks reports whether two lists are stored alike.
func EqualWebhooks(a, b []Webhook) bool {
	return len(a) == len(b) && bytes.Equal(EncodeSpec(CanonicalWebhooks(a)), EncodeSpec(CanonicalWebhooks(b)))
}

// TypeWebhook is the type of the jobs that deliver to webhooks. Their params are
// a Delivery.
const TypeWebhook = internalPrefix + "webhook"

const internalPrefix = "rota."

// InternalType reports whether jobs of a type are Rota's own: they stand outside the
// default listings, nobody else may submit them, and no webhook is told of them.
func InternalType(typ string) bool { return strings.HasPrefix(typ, internalPrefix) }

// DeliveredBy is who makes deliveries: a store with each step that webhooks are
// told of, and an engine of what no store finds out.
const DeliveredBy = "rota"

// Delivery is what a job of TypeWebhook is to tell whom. The secret stands with
// the webhook alone, so that it can be changed while deliveries wait.
type Delivery struct {
	URL      string    `json:"url"`
	Template string    `json:"template,omitempty"` // whose webhook it is; empty: one of Webhooks
	Event    EventKind `json:"event"`
	Time     time.Time `json:"time"`

	JobID         *ID       `json:"job_id,omitempty"`
	Schedule      string    `json:"schedule,omitempty"`
	PlanTime      time.Time `json:"plan_time,omitzero"` // of a schedule that fired: the last time that it did
	GroupID       *ID       `json:"group_id,omitempty"`
	ReservationID *ID       `json:"reservation_id,omitempty"`
	Detail        string    `json:"detail,omitempty"`
}

// DeliveryPolicy is how often and how long a delivery is tried: for about a day.
var DeliveryPolicy = Policy{
	MaxAttempts: 21, Backoff: 10 * time.Second, BackoffMax: 2 * time.Hour, Jitter: 0.2, Timeout: time.Minute,
}

// ParseDelivery reads the params of a job of TypeWebhook.
func ParseDelivery(params json.RawMessage) (d Delivery, err error) {
	err = json.Unmarshal(params, &d)
	return d, err
}

// PutWebhooks sets the webhooks that are told of everything.
type PutWebhooks struct {
	Meta    `wire:"1"`
	Version *ID       `wire:"2"` // the version that was read; nil: whatever it is
	Spec    []Webhook `wire:"3"`
}

// Verb names the command.
func (*PutWebhooks) Verb() Verb { return VerbPutWebhooks }

// WebhooksPut answers PutWebhooks.
type WebhooksPut struct {
	Webhooks *Webhooks
	Changed  bool
}

func (*WebhooksPut) reply() {}

// Validate refuses an address that is none or stands twice, events that no
// webhook is told of, and a webhook without a secret.
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
