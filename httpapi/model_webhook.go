package httpapi

import "github.com/rotajobs/rota"

// Webhook is an address that is told of what happens. Its secret is not shown.
type Webhook struct {
	URL       string   `json:"url" doc:"Where it is told." example:"https://example.com/hooks/rota"`
	Events    []string `json:"events" nullable:"false" doc:"What it is told of. Empty: everything that it can be told of."`
	HasSecret bool     `json:"has_secret" doc:"Whether its deliveries are signed. The secret itself is shown by GET /definitions?secrets=true alone."`
}

// NewWebhook shows a webhook.
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

// Webhooks are those that are told of everything.
type Webhooks struct {
	Webhooks []Webhook `json:"webhooks" nullable:"false" doc:"In the order in which they were given."`
	Version  ID        `json:"version" doc:"Changes with every change. Null: they were never set."`
}

// NewWebhooks shows the webhooks that are told of everything.
func NewWebhooks(h *rota.Webhooks) Webhooks {
	return Webhooks{Webhooks: newWebhooks(h.Spec), Version: ID{h.Version}}
}

// WebhookTested is what came of a test.
type WebhookTested struct {
	Delivered  bool   `json:"delivered" doc:"Whether the receiver answered with 2xx."`
	Status     *int   `json:"status" doc:"What it answered. Null: it did not."`
	DurationMS int64  `json:"duration_ms" doc:"How long that took, in milliseconds."`
	Body       Text   `json:"body" doc:"How an answer begins that is no success."`
	Error      Text   `json:"error" doc:"Why it could not be told."`
	DeliveryID string `json:"delivery_id" doc:"What its header Rota-Delivery said."`
}

// WebhookPayload is the body of a delivery. Jobs and the like are in it as they stand when
// it is sent, in the forms that they have here; of what is gone by then only the
// id or the name is told.
type WebhookPayload struct {
	ID    string `json:"id"` // of the delivery, the same whenever it is sent again
	Event string `json:"event"`
	Time  Time   `json:"time"`

	JobID     ID         `json:"job_id"`
	Job       *Job       `json:"job"`
	Run       *Run       `json:"run"`
	Execution *Execution `json:"execution"` // as of this job: later attempts are not in it

	// Of what the event is about beside jobs.
	ScheduleName  string       `json:"schedule_name,omitempty"`
	Schedule      *Schedule    `json:"schedule,omitempty"`
	PlanTime      Time         `json:"plan_time,omitzero"`
	GroupID       ID           `json:"group_id,omitzero"`
	Group         *Group       `json:"group,omitempty"`
	ReservationID ID           `json:"reservation_id,omitzero"`
	Reservation   *Reservation `json:"reservation,omitempty"`
	Detail        string       `json:"detail,omitempty"`
}
