package api

import (
	"encoding/json"
	"time"

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
		MaxRetries: p.MaxRetries, Backoff: (*Duration)(p.Backoff), BackoffMax: (*Duration)(p.BackoffMax), Jitter: p.Jitter, Timeout: (*Duration)(p.Timeout),
	}
}

// Type is a job type with the schema of its params.
type Type struct {
	Name        string          `json:"name" doc:"Name of the type."`
	Description Text            `json:"description" doc:"Text for people."`
	Schema      json.RawMessage `json:"schema" doc:"JSON Schema of the params. Null: any object is accepted."`
	Policy
	Paused    bool     `json:"paused" doc:"Whether dispatch is paused: jobs of the type are accepted but not started."`
	Handled   bool     `json:"handled" doc:"Whether this server runs jobs of the type. If not, they wait for a remote worker."`
	Workers   int      `json:"workers" doc:"Number of remote workers, by name, that handle the type: they have claimed it, and sent a request within two minutes or hold a lease."`
	Accounts  []string `json:"accounts,omitempty" doc:"Of the type exec, if this server runs programs: the accounts of the system that they can run as. The first is the default."`
	Allow     []string `json:"allow,omitempty" doc:"Of the type exec, if this server runs programs: the programs that jobs may name, and directories of such programs."`
	Env       []string `json:"env,omitempty" doc:"Of the type exec, if this server runs programs: the variables that jobs may set."`
	Remote    bool     `json:"remote,omitempty" doc:"Of the type exec: whether the configuration of this server leaves its jobs to remote workers."`
	Version   ID       `json:"version" nullable:"false" doc:"Changes with every change."`
	CreatedBy Text     `json:"created_by" doc:"Actor that declared it."`
	CreatedAt Time     `json:"created_at" nullable:"false" doc:"Time of its creation."`
	UpdatedAt Time     `json:"updated_at" nullable:"false" doc:"Time of its last change."`
}

// NewType converts a type. The caller sets Handled and Workers.
func NewType(t *rota.Type) Type {
	return Type{
		Name: t.Name, Description: Text(t.Spec.Description), Schema: t.Spec.Schema, Policy: newPolicy(t.Spec.Policy), Paused: t.Paused,
		Version: ID{t.Version}, CreatedBy: Text(t.CreatedBy), CreatedAt: Time{t.CreatedAt}, UpdatedAt: Time{t.UpdatedAt},
	}
}

// PolicyRequest sets the retry and timeout policy.
type PolicyRequest struct {
	MaxRetries Opt[int]      `json:"max_retries,omitzero" doc:"Retries after a failure, 0 to 1,000."`
	Backoff    Opt[Duration] `json:"backoff,omitzero" doc:"Pause before the first retry. It doubles with each retry."`
	BackoffMax Opt[Duration] `json:"backoff_max,omitzero" doc:"Longest pause between retries; 0s means no limit."`
	Jitter     Opt[float64]  `json:"jitter,omitzero" doc:"Fraction of each pause that is removed at random, 0 to 1."`
	Timeout    Opt[Duration] `json:"timeout,omitzero" doc:"Longest duration of one run; 0s means no limit."`
}

// Apply changes the fields that the request names.
func (r *PolicyRequest) Apply(p *rota.PolicyPatch) {
	r.MaxRetries.SetPointer(&p.MaxRetries)
	r.Jitter.SetPointer(&p.Jitter)
	setDuration(r.Backoff, &p.Backoff)
	setDuration(r.BackoffMax, &p.BackoffMax)
	setDuration(r.Timeout, &p.Timeout)
}

func setDuration(given Opt[Duration], field **time.Duration) {
	if given.Set {
		*field = (*time.Duration)(given.Value)
	}
}

// TypeRequest declares a whole type.
type TypeRequest struct {
	Description string   `json:"description,omitempty" doc:"Text for people."`
	Schema      Document `json:"schema,omitempty" doc:"JSON Schema of the params. Omitted: any object is accepted."`
	PolicyRequest
}

// Entity converts a type back.
func (v *Type) Entity() *rota.Type {
	policy := PolicyDefinition(v.Policy)
	return &rota.Type{
		Name: v.Name, Paused: v.Paused, Version: v.Version.ID, CreatedBy: string(v.CreatedBy), CreatedAt: v.CreatedAt.Time, UpdatedAt: v.UpdatedAt.Time,
		Spec: rota.TypeSpec{Description: string(v.Description), Schema: unlessNull(v.Schema), Policy: policy.Patch()},
	}
}

// NewTypeRequest declares a type.
func NewTypeRequest(spec rota.TypeSpec) TypeRequest {
	return TypeRequest{Description: spec.Description, Schema: Document(spec.Schema), PolicyRequest: newPolicyRequest(spec.Policy)}
}

func newPolicyRequest(p rota.PolicyPatch) PolicyRequest {
	return PolicyRequest{
		MaxRetries: ifSet(p.MaxRetries), Backoff: ifSet((*Duration)(p.Backoff)), BackoffMax: ifSet((*Duration)(p.BackoffMax)),
		Jitter: ifSet(p.Jitter), Timeout: ifSet((*Duration)(p.Timeout)),
	}
}
