package rota

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checkWebhooks checks addresses, secrets and events, and refuses duplicates.
func checkWebhooks(field string, hooks []Webhook, events []EventKind) error {
	if len(hooks) > WebhooksMax {
		return Invalidf(field, "there are %d; at most %d are allowed", len(hooks), WebhooksMax)
	}
	seen := map[string]bool{}
	for i := range hooks {
		at := fmt.Sprintf("%s[%d]", field, i)
		if err := hooks[i].check(events); err != nil {
			return within(at, err)
		}
		if seen[hooks[i].URL] {
			return Invalidf(at+".url", "%s is listed twice; list each address once, with all its events", quote(hooks[i].URL))
		}
		seen[hooks[i].URL] = true
	}
	return nil
}

// checkURL requires an HTTP address.
func checkURL(field, text string) *Error {
	if err := checkText(field, text, URLMax); err != nil {
		return err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return &Error{Code: Invalid, Field: field, Reason: shownURL(text) + " is not an address", Hint: "write http:// or https://, a host and a path"}
	case u.User != nil:
		return &Error{Code: Invalid, Field: field, Reason: "contains a user or a password", Hint: "remove it: addresses are shown and logged; the signature proves the sender"}
	case u.Port() != "" && !isPort(u.Port()):
		return &Error{Code: Invalid, Field: field, Reason: shownURL(text) + " has an invalid port", Hint: "use a port from 1 to 65535, or none"}
	case strings.Contains(text, "#"):
		return &Error{Code: Invalid, Field: field, Reason: shownURL(text) + " contains a #", Hint: "remove the # and the text after it, which is never sent"}
	}
	return nil
}

// shownURL quotes an address, unless it may contain a password.
func shownURL(text string) string {
	if strings.Contains(text, "@") {
		return "the value"
	}
	return quote(text)
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// checkNotInternal refuses an internal type.
func checkNotInternal(field, typ string) *Error {
	if !InternalType(typ) {
		return nil
	}
	return &Error{
		Code: Invalid, Field: field, Reason: quote(typ) + " is an internal type of Rota",
		Hint: "use a type that does not start with " + internalPrefix,
	}
}

func kindNames(kinds []EventKind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// jobEvents are the events that the webhooks of a template can subscribe to.
var jobEvents = slices.DeleteFunc(slices.Clone(WebhookEvents), func(kind EventKind) bool {
	return !strings.HasPrefix(string(kind), "job.")
})

// Webhook is an address that receives events. Each delivery is a job of TypeWebhook,
// created in the transaction of its event.
type Webhook struct {
	URL    string      `wire:"1" json:"url"`              // http or https; identifies the webhook in its list
	Events []EventKind `wire:"2" json:"events,omitempty"` // subscribed events; empty: DefaultWebhookEvents
	// Secret is the key that signs deliveries: sealed, see ParseSealed, or as it is where no master key seals it.
	Secret string `wire:"3" json:"secret,omitempty"`
}

func (h *Webhook) check(events []EventKind) *Error {
	if err := first(checkURL("url", h.URL), h.checkSecret()); err != nil {
		return err
	}
	if h.Secret == "" {
		return &Error{Code: Invalid, Field: "secret", Reason: "is missing", Hint: "it signs deliveries; choose a long random text and give it to the receiver"}
	}
	for i, kind := range h.Events {
		field := fmt.Sprintf("events[%d]", i)
		if !slices.Contains(events, kind) {
			return &Error{Code: Invalid, Field: field, Reason: quote(string(kind)) + whyRefused(kind), Hint: "use one of " + kindNames(events)}
		}
		if slices.Contains(h.Events[:i], kind) {
			return Invalidf(field, "%s is listed twice", quote(string(kind)))
		}
	}
	return nil
}

func (h *Webhook) checkSecret() *Error {
	if !IsSealed(h.Secret) {
		return checkText("secret", h.Secret, KeyMax)
	}
	if _, _, err := ParseSealed(h.Secret); err != nil {
		return &Error{Code: Invalid, Field: "secret", Reason: "begins like a sealed value, but is none", Hint: "send the secret itself, or a sealed value as this server has shown it"}
	}
	return nil
}

// Fingerprint returns the fingerprint of the key that seals the secret, "" if none does.
func (h *Webhook) Fingerprint() string {
	fingerprint, _, _ := ParseSealed(h.Secret)
	return fingerprint
}

// whyRefused is the reason why a webhook cannot receive events of a kind.
func whyRefused(kind EventKind) string {
	switch {
	case kind == EventJobStopping:
		return " is not an event of this webhook: it is on the event stream only, and another event follows when the run ends"
	case slices.Contains(WebhookEvents, kind):
		return " is not an event of this webhook: a template has webhooks for the events of its jobs; a global webhook can receive it"
	}
	return " is not an event of this webhook"
}

// Subscribes reports whether the webhook receives events of a kind.
func (h *Webhook) Subscribes(kind EventKind) bool {
	kinds := h.Events
	if len(kinds) == 0 {
		kinds = DefaultWebhookEvents
	}
	return slices.Contains(kinds, kind)
}

// Webhooks are the global webhooks, which receive the events of everything, not only of
// one template. The zero value has none.
type Webhooks struct {
	Spec      []Webhook `wire:"1"`
	Version   ID        `wire:"2"` // id of the last command that changed them
	UpdatedBy string    `wire:"3"`
	UpdatedAt time.Time `wire:"4"`
}

// WebhookEvents lists the events that webhooks can receive. Webhooks of a template
// receive only job events. The index of an event is part of the ids of its deliveries,
// so new events go to the end.
var WebhookEvents = []EventKind{
	EventJobEnqueued, EventJobStarted, EventJobCompleted, EventJobFailed, EventJobDead, EventJobCancelled, EventJobSkipped,
	EventScheduleFired, EventScheduleMissed, EventScheduleDisabled, EventGroupFinished,
	EventReservationActive, EventReservationReleased, EventReservationExpired,
	EventJobChanged, EventScheduleChanged, EventScheduleDeleted, EventTypeChanged, EventTemplateChanged, EventLimitsChanged,
	EventWebhooksChanged, EventHistoryPruned, EventNodeJoined, EventNodeLeft, EventNodeLeader,
}

// DefaultWebhookEvents lists the events of a webhook that names none: what happens to jobs,
// schedules, groups and reservations. Changes that people make, and events of nodes, are
// delivered to webhooks that name them.
var DefaultWebhookEvents = WebhookEvents[:14:14]

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
	Name          string    `json:"name,omitempty"` // of an event that none of the above identifies: type, template or node
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

// Validate checks addresses, secrets and events, and refuses duplicates.
func (c *PutWebhooks) Validate() error {
	return checkWebhooks("webhooks", c.Spec, WebhookEvents)
}

func (c *PutWebhooks) weigh() (entries, bytes int) { return weighWebhooks(c.Spec) }

// WebhooksPut answers PutWebhooks.
type WebhooksPut struct {
	Webhooks *Webhooks `wire:"1"`
	Changed  bool      `wire:"2"`
}

func (*WebhooksPut) reply() {}

func weighWebhooks(hooks []Webhook) (entries, bytes int) {
	for _, h := range hooks {
		bytes += len(h.URL) + len(h.Secret)
		for _, kind := range h.Events {
			bytes += 8 + len(kind)
		}
	}
	return 1 + len(hooks), bytes + (1+len(hooks))*entryBytes
}
