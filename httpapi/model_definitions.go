package httpapi

import (
	"bytes"
	"encoding/json"

	"github.com/rotajobs/rota"
)

// definitionsVersion is the form of the document below.
const definitionsVersion = 1

// Definitions is all that people declare, as one document: what it takes to make
// a server like another. What was run is not in it.
type Definitions struct {
	Version   int                           `json:"version,omitempty" example:"1" doc:"The form of this document, 1."`
	Types     map[string]TypeDefinition     `json:"types,omitempty" doc:"By name. Those that are built in are there only while they are paused."`
	Templates map[string]TemplateDefinition `json:"templates,omitempty" doc:"By name."`
	Schedules map[string]ScheduleDefinition `json:"schedules,omitempty" doc:"By name."`
	Limits    *ThrottleRequest              `json:"limits,omitempty" doc:"All limits. Left out: there are none, or they stay as they are."`
	Webhooks  []WebhookDefinition           `json:"webhooks,omitempty" doc:"Those that are told of everything. Left out: there are none, or they stay as they are."`
}

// PolicyDefinition is how failure and time are treated, as far as it is said.
type PolicyDefinition struct {
	MaxRetries *int      `json:"max_retries,omitempty" doc:"How often a failure is tried again, 0 to 1,000."`
	Backoff    *Duration `json:"backoff,omitempty" doc:"The wait before the first retry; it doubles with each."`
	BackoffMax *Duration `json:"backoff_max,omitempty" doc:"The longest that the wait becomes; 0s: there is no bound."`
	Jitter     *float64  `json:"jitter,omitempty" doc:"Which fraction of a wait is taken off at random, 0 to 1."`
	Timeout    *Duration `json:"timeout,omitempty" doc:"How long one run may take; 0s: as long as it likes."`
}

// TypeDefinition is what is declared of a type.
type TypeDefinition struct {
	Description string `json:"description,omitempty" doc:"What it is, for people."`
	Paused      *bool  `json:"paused,omitempty" doc:"Its jobs are kept and not started. Left out: as it is."`
	PolicyDefinition
	Schema Document `json:"schema,omitempty" doc:"The JSON Schema of its params. Left out: any object will do."`
}

// TemplateDefinition is what is declared of a template.
type TemplateDefinition struct {
	Type           string    `json:"type" doc:"What it runs: a type that is declared here, or was before."`
	Description    string    `json:"description,omitempty" doc:"What it is, for people."`
	State          string    `json:"state,omitempty" enum:"ACTIVE,ARCHIVED" doc:"An archived template makes no more jobs. Left out: as it is; a new one is ACTIVE."`
	DefaultParams  Document  `json:"default_params,omitempty" alias:"params" doc:"What a job's params are laid over, key by key."`
	Priority       *int      `json:"priority,omitempty" doc:"Of jobs that name none."`
	ConcurrencyKey string    `json:"concurrency_key,omitempty" doc:"Of jobs that name none."`
	UniqueFor      *Duration `json:"unique_for,omitempty" doc:"How long the key of a job is held at least, if the job does not say."`
	PolicyDefinition
	Webhooks []WebhookDefinition `json:"webhooks,omitempty" doc:"Those that are told of its jobs."`
}

// ScheduleDefinition is what is declared of a schedule. Exactly one of cron, at
// and every says when.
type ScheduleDefinition struct {
	Template       string         `json:"template" doc:"What it runs: a template that is declared here, or was before."`
	Description    string         `json:"description,omitempty" doc:"What it is, for people."`
	State          string         `json:"state,omitempty" enum:"ENABLED,DISABLED,PAUSED" doc:"Whether it fires. Left out: as it is; a new one is ENABLED."`
	Cron           string         `json:"cron,omitempty" doc:"Five fields, read in timezone."`
	Timezone       string         `json:"timezone,omitempty" doc:"The IANA zone that cron is read in; UTC if it is left out."`
	At             Time           `json:"at,omitzero" doc:"Once, then."`
	Every          *Duration      `json:"every,omitempty" doc:"At this interval, counted from starts_at, or from anchor."`
	Anchor         Time           `json:"anchor,omitzero" doc:"What every without starts_at counts from. Left out: from when it is made."`
	StartsAt       Time           `json:"starts_at,omitzero" doc:"It does not fire before."`
	EndsAt         Time           `json:"ends_at,omitzero" doc:"The last time it may fire."`
	DependsOn      []string       `json:"depends_on,omitempty" doc:"Schedules whose executions it waits for."`
	Scopes         []ScopeRequest `json:"scopes,omitempty" doc:"A fire makes one execution for each."`
	ParamOverrides Document       `json:"param_overrides,omitempty" alias:"params" doc:"Laid over the template's default_params, key by key."`
	Priority       *int           `json:"priority,omitempty" doc:"Of its jobs; left out: as the template says."`
	PolicyDefinition
	CatchUp      string `json:"catch_up,omitempty" enum:"none,last,all" doc:"What becomes of times that passed while nobody fired; last if it is left out."`
	Overlap      string `json:"overlap,omitempty" enum:"allow,skip,cancel" doc:"What a fire does while an earlier execution has not ended; allow if it is left out."`
	OnCompletion string `json:"on_completion,omitempty" enum:"preserve,drop" doc:"What becomes of an AT schedule when its executions ended; preserve if it is left out."`

	Class     string     `json:"class,omitempty" enum:"LOCAL_SAFE,LEADER_ONLY,QUORUM_REQUIRED" doc:"What its jobs need of the cluster while they run."`
	Partition *Partition `json:"partition,omitempty" doc:"How it is spread over shards."`
}

// WebhookDefinition is an address that is told of what happens.
type WebhookDefinition struct {
	URL    string   `json:"url" doc:"Where to. It names the webhook among its neighbours."`
	Events []string `json:"events,omitempty" doc:"What it is told of. Left out: everything."`
	Secret string   `json:"secret,omitempty" doc:"What deliveries are signed with. Left out: that of the webhook that stands there with this address."`
}

// DefinitionsPut is what became of a document.
type DefinitionsPut struct {
	DryRun    bool               `json:"dry_run" doc:"Nothing was written: this is what would become of it."`
	Created   int                `json:"created" doc:"How many are new."`
	Changed   int                `json:"changed" doc:"How many were changed."`
	Unchanged int                `json:"unchanged" doc:"How many stood so already."`
	LeftOut   int                `json:"left_out" doc:"How many could not be made, and why stands in their notes."`
	Steps     int                `json:"steps,omitempty" doc:"Of a dry run: in how many steps it would be written. Each is all or nothing; more than one is for documents that are too long for it."`
	Items     []DefinitionChange `json:"items" nullable:"false" doc:"Each of them, in the order of the document."`
}

// DefinitionChange is what became of one definition.
type DefinitionChange struct {
	Kind   string   `json:"kind" enum:"type,template,schedule,limits,webhooks" doc:"What it is."`
	Name   string   `json:"name,omitempty" doc:"Which of them; limits and webhooks have none."`
	Change string   `json:"change" enum:"created,changed,unchanged,left_out" doc:"What became of it."`
	Fields []string `json:"fields,omitempty" doc:"Of a dry run: which fields would change."`
	Notes  []string `json:"notes,omitempty" doc:"What a person should know."`
}

func newPolicyDefinition(p rota.PolicyPatch) PolicyDefinition { return PolicyDefinition(newPolicy(p)) }

func (d *PolicyDefinition) patch() rota.PolicyPatch {
	return rota.PolicyPatch{
		MaxRetries: d.MaxRetries, Backoff: spanOf(d.Backoff), BackoffMax: spanOf(d.BackoffMax), Jitter: d.Jitter, Timeout: spanOf(d.Timeout),
	}
}

func newTypeDefinition(t *rota.Type) TypeDefinition {
	return TypeDefinition{
		Description: t.Spec.Description, Paused: new(t.Paused), PolicyDefinition: newPolicyDefinition(t.Spec.Policy), Schema: sortKeys(t.Spec.Schema),
	}
}

func newTemplateDefinition(t *rota.Template, secrets bool) TemplateDefinition {
	s := &t.Spec
	return TemplateDefinition{
		Type: s.Type, Description: s.Description, State: string(t.State), DefaultParams: sortParams(s.Params), Priority: s.Priority,
		ConcurrencyKey: s.ConcurrencyKey, UniqueFor: bound(s.UniqueFor), PolicyDefinition: newPolicyDefinition(s.Policy),
		Webhooks: newWebhookDefinitions(s.Webhooks, secrets),
	}
}

// newScheduleDefinition leaves out what is as it would be if nobody said.
func newScheduleDefinition(s *rota.Schedule) ScheduleDefinition {
	p := &s.Spec
	d := ScheduleDefinition{
		Template: p.Template, Description: p.Description, State: string(s.State), Cron: p.Cron, At: Time{p.At}, Every: bound(p.Every),
		StartsAt: Time{p.StartsAt}, EndsAt: Time{p.EndsAt}, DependsOn: p.DependsOn, Scopes: groupScopes(p.Scopes),
		ParamOverrides: sortParams(p.Params), Priority: p.Priority, PolicyDefinition: newPolicyDefinition(p.Policy),
		CatchUp: omitDefault(p.CatchUp, rota.CatchUpLast), Overlap: omitDefault(p.Overlap, rota.OverlapAllow), OnCompletion: omitDefault(p.OnCompletion, rota.CompletionPreserve),
		Class: string(p.Class), Partition: newPartition(p.Partition),
	}
	if p.Cron != "" {
		d.Timezone = zoneOf(s)
	}
	if anchored(p) {
		d.Anchor = Time{s.Anchor}
	}
	return d
}

// anchored says whether a schedule counts from its anchor.
func anchored(s *rota.ScheduleSpec) bool { return s.Every != 0 && s.StartsAt.IsZero() }

func omitDefault[W ~string](word, fallback W) string {
	if word == fallback {
		return ""
	}
	return string(word)
}

// groupScopes puts the scopes of a kind together, which are sorted by kind.
func groupScopes(scopes []rota.Scope) (all []ScopeRequest) {
	for _, s := range scopes {
		last := len(all) - 1
		switch {
		case last < 0 || all[last].Kind != s.Kind:
			all = append(all, ScopeRequest{Kind: s.Kind, ID: s.ID})
		case all[last].ID != "":
			all[last].IDs, all[last].ID = []string{all[last].ID, s.ID}, ""
		default:
			all[last].IDs = append(all[last].IDs, s.ID)
		}
	}
	return all
}

func newWebhookDefinitions(hooks []rota.Webhook, secrets bool) (all []WebhookDefinition) {
	for _, h := range hooks {
		d := WebhookDefinition{URL: h.URL}
		for _, kind := range h.Events {
			d.Events = append(d.Events, string(kind))
		}
		if secrets {
			d.Secret = h.Secret
		}
		all = append(all, d)
	}
	return all
}

// webhooksOf are webhooks for the library.
func definedWebhooks(defs []WebhookDefinition) (hooks []rota.Webhook) {
	for _, d := range defs {
		h := rota.Webhook{URL: d.URL, Secret: d.Secret}
		for _, kind := range d.Events {
			h.Events = append(h.Events, rota.EventKind(kind))
		}
		hooks = append(hooks, h)
	}
	return hooks
}

// newLimitsDefinition is nil if nothing is limited.
func newLimitsDefinition(s *rota.ThrottleSpec) *ThrottleRequest {
	if s.Global == 0 && len(s.Types) == 0 && len(s.Keys) == 0 {
		return nil
	}
	d := &ThrottleRequest{Global: s.Global}
	for _, t := range s.Types {
		if d.Types == nil {
			d.Types = map[string]TypeLimitRequest{}
		}
		d.Types[t.Type] = TypeLimitRequest{Concurrency: t.Concurrency, Rate: rateText(t.Rate)}
	}
	for _, k := range s.Keys {
		if d.Keys == nil {
			d.Keys = map[string]int{}
		}
		d.Keys[k.Key] = k.Concurrency
	}
	return d
}

// sortParams is sorted for params, of which none and an empty object are one.
func sortParams(doc json.RawMessage) Document {
	if d := sortKeys(doc); string(d) != "{}" {
		return d
	}
	return nil
}

// sortKeys is an object with the keys of everything in it sorted, so that what
// means the same is written the same. Numbers stay as they were written.
func sortKeys(doc json.RawMessage) Document {
	if len(doc) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var value map[string]any
	if d.Decode(&value) != nil || value == nil { // a row holds JSON that is none, for verify to find
		return Document(doc)
	}
	return Document(rota.EncodeSpec(value))
}
