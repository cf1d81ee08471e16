package api

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/rotajobs/rota"
)

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
	Owner     Text      `json:"owner" doc:"User with all rights on it. Null: its job was dropped."`
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
		Version: ID{t.Version}, Owner: Text(t.Owner), CreatedBy: Text(t.CreatedBy), CreatedAt: Time{t.CreatedAt}, UpdatedAt: Time{t.UpdatedAt},
	}
}

// TemplateArchived is a template, and the number of schedules that were disabled immediately.
type TemplateArchived struct {
	Template
	SchedulesDisabled int `json:"schedules_disabled" doc:"Schedules disabled so far; the server disables the rest within moments."`
}

// TemplateRequest creates a template, or changes the fields it names.
type TemplateRequest struct {
	Name           Opt[string]   `json:"name,omitzero" doc:"Name: letters, digits and . _ - : / @ #, but not . or .. alone. It cannot be changed."`
	Type           Opt[string]   `json:"type,omitzero" doc:"Type of its jobs; it must be declared."`
	Description    Opt[string]   `json:"description,omitzero" doc:"Text for people."`
	DefaultParams  Opt[Document] `json:"default_params,omitzero" alias:"params" doc:"Default params. The params of a job replace them key by key."`
	Priority       Opt[int]      `json:"priority,omitzero" doc:"Priority of jobs that set none."`
	ConcurrencyKey Opt[string]   `json:"concurrency_key,omitzero" doc:"Concurrency key of jobs that set none."`
	UniqueFor      Opt[Duration] `json:"unique_for,omitzero" doc:"Shortest time a unique key is held, for jobs that set none."`
	PolicyRequest
	Owner    Opt[string]           `json:"owner,omitzero" doc:"User that owns it, in a change without other fields, which needs ADMIN. Its jobs run with the rights of this user; existing jobs keep theirs."`
	Webhooks Opt[[]WebhookRequest] `json:"webhooks,omitzero" alias:"webhook" doc:"Webhooks that receive the events of its jobs. A change names all of them."`
}

// OnlyOwner reports whether the request changes nothing but the owner.
func (r *TemplateRequest) OnlyOwner() bool {
	return reflect.DeepEqual(*r, TemplateRequest{Name: r.Name, Owner: r.Owner})
}

// Apply changes the fields that the request names.
func (r *TemplateRequest) Apply(s *rota.TemplateSpec) {
	r.Type.SetValue(&s.Type)
	r.Description.SetValue(&s.Description)
	change(r.DefaultParams, &s.Params, Document.Raw)
	r.Priority.SetPointer(&s.Priority)
	r.ConcurrencyKey.SetValue(&s.ConcurrencyKey)
	change(r.UniqueFor, &s.UniqueFor, func(d Duration) time.Duration { return time.Duration(d) })
	r.PolicyRequest.Apply(&s.Policy)
	if r.Webhooks.Set {
		var given []WebhookRequest
		r.Webhooks.SetValue(&given)
		s.Webhooks = MergeWebhooks(given, s.Webhooks)
	}
}
