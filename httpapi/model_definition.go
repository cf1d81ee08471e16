package httpapi

import (
	"encoding/json"

	"github.com/rotajobs/rota"
)

// Policy is how failure and time are treated. What is null is left to the next
// in this order: request, schedule, template, type, defaults.
type Policy struct {
	MaxRetries *int      `json:"max_retries" doc:"How often a failure is tried again, 0 to 1,000."`
	Backoff    *Duration `json:"backoff" nullable:"true" doc:"The wait before the first retry; it doubles with each."`
	BackoffMax *Duration `json:"backoff_max" nullable:"true" doc:"The longest that the wait becomes; 0s: there is no bound."`
	Jitter     *float64  `json:"jitter" doc:"Which fraction of a wait is taken off at random, 0 to 1."`
	Timeout    *Duration `json:"timeout" nullable:"true" doc:"How long one run may take; 0s: as long as it likes."`
}

func newPolicy(p rota.PolicyPatch) Policy {
	return Policy{
		MaxRetries: p.MaxRetries, Backoff: span(p.Backoff), BackoffMax: span(p.BackoffMax), Jitter: p.Jitter, Timeout: span(p.Timeout),
	}
}

// Type is a name with a payload schema and a handler somewhere.
type Type struct {
	Name        string          `json:"name" doc:"Its name."`
	Description Text            `json:"description" doc:"What it is, for people."`
	Schema      json.RawMessage `json:"schema" doc:"The JSON Schema of its params. Null: any object will do."`
	Policy
	Paused    bool `json:"paused" doc:"Its jobs are kept and not started."`
	Handled   bool `json:"handled" doc:"Whether this server runs jobs of it. If not, its jobs wait for a worker elsewhere."`
	Workers   int  `json:"workers" doc:"How many workers elsewhere handle it, by name: those that asked for jobs of it, and were heard of within two minutes or hold a lease."`
	Version   ID   `json:"version" nullable:"false" doc:"Changes with every change."`
	CreatedBy Text `json:"created_by" doc:"Who declared it."`
	CreatedAt Time `json:"created_at" nullable:"false" doc:"When it was declared."`
	UpdatedAt Time `json:"updated_at" nullable:"false" doc:"When it was last changed."`
}

// NewType shows a type. Whether anybody handles it is left to who knows.
func NewType(t *rota.Type) Type {
	return Type{
		Name: t.Name, Description: Text(t.Spec.Description), Schema: t.Spec.Schema, Policy: newPolicy(t.Spec.Policy), Paused: t.Paused,
		Version: ID{t.Version}, CreatedBy: Text(t.CreatedBy), CreatedAt: Time{t.CreatedAt}, UpdatedAt: Time{t.UpdatedAt},
	}
}

// Template is what to run: a type, default params, a policy.
type Template struct {
	Name           string          `json:"name" doc:"Its name."`
	Type           string          `json:"type" doc:"What it runs."`
	Description    Text            `json:"description" doc:"What it is, for people."`
	DefaultParams  json.RawMessage `json:"default_params" doc:"What a job's params are laid over, key by key."`
	Priority       *int            `json:"priority" doc:"Of jobs that name none."`
	ConcurrencyKey Text            `json:"concurrency_key" doc:"Of jobs that name none."`
	Policy
	UniqueFor *Duration `json:"unique_for" nullable:"true" doc:"How long the key of a job is held at least, if the job does not say."`
	Webhooks  []Webhook `json:"webhooks" nullable:"false" doc:"Told of the jobs that are made from it."`
	State     string    `json:"state" enum:"ACTIVE,ARCHIVED" doc:"An archived template makes no more jobs."`
	Version   ID        `json:"version" nullable:"false" doc:"Changes with every change."`
	CreatedBy Text      `json:"created_by" doc:"Who made it."`
	CreatedAt Time      `json:"created_at" nullable:"false" doc:"When it was made."`
	UpdatedAt Time      `json:"updated_at" nullable:"false" doc:"When it was last changed."`
}

// NewTemplate shows a template.
func NewTemplate(t *rota.Template) Template {
	s := &t.Spec
	return Template{
		Name: t.Name, Type: s.Type, Description: Text(s.Description), DefaultParams: object(s.Params), Priority: s.Priority,
		ConcurrencyKey: Text(s.ConcurrencyKey), Policy: newPolicy(s.Policy), UniqueFor: bound(s.UniqueFor), Webhooks: newWebhooks(s.Webhooks), State: string(t.State),
		Version: ID{t.Version}, CreatedBy: Text(t.CreatedBy), CreatedAt: Time{t.CreatedAt}, UpdatedAt: Time{t.UpdatedAt},
	}
}

// TemplateArchived is a template, and how many schedules that disabled at once.
type TemplateArchived struct {
	Template
	SchedulesDisabled int `json:"schedules_disabled" doc:"How many schedules were disabled at once; more may follow in a moment."`
}
