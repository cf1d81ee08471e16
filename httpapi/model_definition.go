package httpapi

import (
	"encoding/json"

	"github.com/rotajobs/rota"
)

// Policy is the retry and timeout policy. A null field is taken from the next level: request,
// schedule, template, type, defaults.
type Policy struct {
	MaxRetries *int      `json:"max_retries" doc:"Retries after a failure, 0 to 1,000."`
	Backoff    *Duration `json:"backoff" nullable:"true" doc:"Pause before the first retry. It doubles with each retry."`
	BackoffMax *Duration `json:"backoff_max" nullable:"true" doc:"Longest pause between retries; 0s means no limit."`
	Jitter     *float64  `json:"jitter" doc:"Fraction of each pause that is removed at random, 0 to 1."`
	Timeout    *Duration `json:"timeout" nullable:"true" doc:"Longest duration of one run; 0s means no limit."`
}

func newPolicy(p rota.PolicyPatch) Policy {
	return Policy{
		MaxRetries: p.MaxRetries, Backoff: span(p.Backoff), BackoffMax: span(p.BackoffMax), Jitter: p.Jitter, Timeout: span(p.Timeout),
	}
}

// Type is a job type with the schema of its params.
type Type struct {
	Name        string          `json:"name" doc:"Name of the type."`
	Description Text            `json:"description" doc:"Text for people."`
	Schema      json.RawMessage `json:"schema" doc:"JSON Schema of the params. Null: any object is accepted."`
	Policy
	Paused    bool `json:"paused" doc:"Whether dispatch is paused: jobs of the type are accepted but not started."`
	Handled   bool `json:"handled" doc:"Whether this server runs jobs of the type. If not, they wait for a remote worker."`
	Workers   int  `json:"workers" doc:"Number of remote workers, by name, that handle the type: they have claimed it, and sent a request within two minutes or hold a lease."`
	Version   ID   `json:"version" nullable:"false" doc:"Changes with every change."`
	CreatedBy Text `json:"created_by" doc:"Actor that declared it."`
	CreatedAt Time `json:"created_at" nullable:"false" doc:"Time of its creation."`
	UpdatedAt Time `json:"updated_at" nullable:"false" doc:"Time of its last change."`
}

// NewType converts a type. The caller sets Handled and Workers.
func NewType(t *rota.Type) Type {
	return Type{
		Name: t.Name, Description: Text(t.Spec.Description), Schema: t.Spec.Schema, Policy: newPolicy(t.Spec.Policy), Paused: t.Paused,
		Version: ID{t.Version}, CreatedBy: Text(t.CreatedBy), CreatedAt: Time{t.CreatedAt}, UpdatedAt: Time{t.UpdatedAt},
	}
}

// Template is a reusable job definition: a type, default params, a policy.
type Template struct {
	Name           string          `json:"name" doc:"Name of the template."`
	Type           string          `json:"type" doc:"Type of its jobs."`
	Description    Text            `json:"description" doc:"Text for people."`
	DefaultParams  json.RawMessage `json:"default_params" doc:"Default params. The params of a job replace them key by key."`
	Priority       *int            `json:"priority" doc:"Priority of jobs that set none."`
	ConcurrencyKey Text            `json:"concurrency_key" doc:"Concurrency key of jobs that set none."`
	Policy
	UniqueFor *Duration `json:"unique_for" nullable:"true" doc:"Shortest time a unique key is held, for jobs that set none."`
	Webhooks  []Webhook `json:"webhooks" nullable:"false" doc:"Webhooks that receive the events of its jobs."`
	State     string    `json:"state" enum:"ACTIVE,ARCHIVED" doc:"An archived template accepts no new jobs."`
	Version   ID        `json:"version" nullable:"false" doc:"Changes with every change."`
	CreatedBy Text      `json:"created_by" doc:"Actor that created it."`
	CreatedAt Time      `json:"created_at" nullable:"false" doc:"Time of its creation."`
	UpdatedAt Time      `json:"updated_at" nullable:"false" doc:"Time of its last change."`
}

// NewTemplate converts a template.
func NewTemplate(t *rota.Template) Template {
	s := &t.Spec
	return Template{
		Name: t.Name, Type: s.Type, Description: Text(s.Description), DefaultParams: object(s.Params), Priority: s.Priority,
		ConcurrencyKey: Text(s.ConcurrencyKey), Policy: newPolicy(s.Policy), UniqueFor: bound(s.UniqueFor), Webhooks: newWebhooks(s.Webhooks), State: string(t.State),
		Version: ID{t.Version}, CreatedBy: Text(t.CreatedBy), CreatedAt: Time{t.CreatedAt}, UpdatedAt: Time{t.UpdatedAt},
	}
}

// TemplateArchived is a template, and the number of schedules that were disabled immediately.
type TemplateArchived struct {
	Template
	SchedulesDisabled int `json:"schedules_disabled" doc:"Schedules disabled so far; the server disables the rest within moments."`
}
