package api

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
)

// DefinitionsVersion is the version of the document format.
const DefinitionsVersion = 1

// Definitions is a document with all definitions of a server, enough to set up another server like it.
// It contains no jobs.
type Definitions struct {
	Version   int                           `json:"version,omitempty" example:"1" doc:"Format of the document: 1."`
	Types     map[string]TypeDefinition     `json:"types,omitempty" doc:"Types by name. A built-in type appears only while it is paused."`
	Templates map[string]TemplateDefinition `json:"templates,omitempty" doc:"Templates by name."`
	Schedules map[string]ScheduleDefinition `json:"schedules,omitempty" doc:"Schedules by name."`
	Limits    *ThrottleRequest              `json:"limits,omitempty" doc:"All limits. Omitted in a response: none are set. Omitted in a request: unchanged."`
	Webhooks  []WebhookDefinition           `json:"webhooks,omitempty" doc:"Webhooks for all events. Omitted in a response: none are set. Omitted in a request: unchanged."`
}

// PolicyDefinition is a policy in a document; omitted fields are not set.
type PolicyDefinition struct {
	MaxRetries *int      `json:"max_retries,omitempty" doc:"Retries after a failure, 0 to 1,000."`
	Backoff    *Duration `json:"backoff,omitempty" doc:"Pause before the first retry. It doubles with each retry."`
	BackoffMax *Duration `json:"backoff_max,omitempty" doc:"Longest pause between retries; 0s means no limit."`
	Jitter     *float64  `json:"jitter,omitempty" doc:"Fraction of each pause that is removed at random, 0 to 1."`
	Timeout    *Duration `json:"timeout,omitempty" doc:"Longest duration of one run; 0s means no limit."`
}

// TypeDefinition is a type in a document.
type TypeDefinition struct {
	Description string `json:"description,omitempty" doc:"Text for people."`
	Paused      *bool  `json:"paused,omitempty" doc:"Whether dispatch is paused: jobs of the type are accepted but not started. Omitted: unchanged."`
	PolicyDefinition
	Schema Document `json:"schema,omitempty" doc:"JSON Schema of the params. Omitted: any object is accepted."`
}

// TemplateDefinition is a template in a document.
type TemplateDefinition struct {
	Type           string    `json:"type" doc:"Type of its jobs, declared in this document or in the store."`
	Description    string    `json:"description,omitempty" doc:"Text for people."`
	State          string    `json:"state,omitempty" enum:"ACTIVE,ARCHIVED" doc:"An archived template accepts no new jobs. Omitted: unchanged; a new template is ACTIVE."`
	Owner          string    `json:"owner,omitempty" doc:"User with all rights on it. Its jobs run with the rights of this user. Omitted: unchanged; a new template belongs to the user that imports it."`
	DefaultParams  Document  `json:"default_params,omitempty" alias:"params" doc:"Default params. The params of a job replace them key by key."`
	Priority       *int      `json:"priority,omitempty" doc:"Priority of jobs that set none."`
	ConcurrencyKey string    `json:"concurrency_key,omitempty" doc:"Concurrency key of jobs that set none."`
	UniqueFor      *Duration `json:"unique_for,omitempty" doc:"Shortest time a unique key is held, for jobs that set none."`
	PolicyDefinition
	Webhooks []WebhookDefinition `json:"webhooks,omitempty" doc:"Webhooks that receive the events of its jobs."`
	Secrets  map[string]string   `json:"secrets,omitempty" doc:"Sealed secrets of the template by key. Only servers with the same master key accept them. A secret that is omitted stays as it is."`
}

// ScheduleDefinition is a schedule in a document. Exactly one of cron, at and every is set.
type ScheduleDefinition struct {
	Template       string         `json:"template" doc:"Template of its jobs, declared in this document or in the store."`
	Description    string         `json:"description,omitempty" doc:"Text for people."`
	State          string         `json:"state,omitempty" enum:"ENABLED,DISABLED,PAUSED" doc:"Whether it fires. Omitted: unchanged; a new schedule is ENABLED."`
	Owner          string         `json:"owner,omitempty" doc:"User with all rights on it. Omitted: unchanged; a new schedule belongs to the user that imports it."`
	Cron           string         `json:"cron,omitempty" doc:"Cron expression with five fields, evaluated in timezone."`
	Timezone       string         `json:"timezone,omitempty" doc:"IANA time zone in which cron is evaluated; default UTC. With at and every it is kept and shown."`
	At             Time           `json:"at,omitzero" doc:"Single fire time."`
	Every          *Duration      `json:"every,omitempty" doc:"Interval, counted from starts_at or from anchor."`
	Anchor         Time           `json:"anchor,omitzero" doc:"Start of the interval when starts_at is not set. Omitted: the time of creation."`
	StartsAt       Time           `json:"starts_at,omitzero" doc:"Earliest fire time."`
	EndsAt         Time           `json:"ends_at,omitzero" doc:"Latest fire time."`
	DependsOn      []string       `json:"depends_on,omitempty" doc:"Schedules whose executions must complete first."`
	Scopes         []ScopeRequest `json:"scopes,omitempty" doc:"Scopes. Each fire creates one execution per scope."`
	ParamOverrides Document       `json:"param_overrides,omitempty" alias:"params" doc:"Params that replace the template's default_params key by key."`
	Priority       *int           `json:"priority,omitempty" doc:"Priority of its jobs. Omitted: the priority of the template."`
	PolicyDefinition
	CatchUp      string `json:"catch_up,omitempty" enum:"none,last,all" doc:"Handling of missed fire times; default last."`
	Overlap      string `json:"overlap,omitempty" enum:"allow,skip,cancel" doc:"Behavior of a fire while an earlier execution has not ended; default allow."`
	OnCompletion string `json:"on_completion,omitempty" enum:"preserve,drop" doc:"Whether an AT schedule is kept or deleted when its executions have ended; default preserve."`

	Class     string     `json:"class,omitempty" enum:"LOCAL_SAFE,LEADER_ONLY,QUORUM_REQUIRED" doc:"What its jobs require of the cluster while they run."`
	Partition *Partition `json:"partition,omitempty" doc:"Distribution over shards."`
}

// WebhookDefinition is a webhook in a document.
type WebhookDefinition struct {
	URL    string   `json:"url" doc:"Address of the receiver. It identifies the webhook in its list."`
	Events []string `json:"events,omitempty" doc:"Kinds of events to deliver. Omitted: all."`
	Secret string   `json:"secret,omitempty" doc:"Secret that signs deliveries. A response has it sealed, which only servers with the same master key accept. Omitted: the stored secret of the webhook with this address."`
}

// DefinitionsPut is the result of an import.
type DefinitionsPut struct {
	DryRun    bool               `json:"dry_run" doc:"Whether this was a dry run: nothing was written."`
	Created   int                `json:"created" doc:"Number of new definitions."`
	Changed   int                `json:"changed" doc:"Number of changed definitions."`
	Unchanged int                `json:"unchanged" doc:"Number of definitions that were already as declared."`
	LeftOut   int                `json:"left_out" doc:"Number of definitions that could not be created; their notes give the reason."`
	Steps     int                `json:"steps,omitempty" doc:"Number of steps that a write would take, in a dry run. Each step is atomic; a document with more than 500 changes takes several."`
	Items     []DefinitionChange `json:"items" nullable:"false" doc:"Result for each definition, in the order of the document."`
}

// DefinitionChange is the result for one definition.
type DefinitionChange struct {
	Kind   string   `json:"kind" enum:"type,template,schedule,limits,webhooks" doc:"Kind of the definition."`
	Name   string   `json:"name,omitempty" doc:"Name of the definition; limits and webhooks have none."`
	Change string   `json:"change" enum:"created,changed,unchanged,left_out" doc:"Result for the definition."`
	Fields []string `json:"fields,omitempty" doc:"Fields that a write would change, in a dry run."`
	Notes  []string `json:"notes,omitempty" doc:"Remarks for people."`
}

func newPolicyDefinition(p rota.PolicyPatch) PolicyDefinition { return PolicyDefinition(newPolicy(p)) }

// Patch converts the policy.
func (d *PolicyDefinition) Patch() rota.PolicyPatch {
	return rota.PolicyPatch{
		MaxRetries: d.MaxRetries, Backoff: (*time.Duration)(d.Backoff), BackoffMax: (*time.Duration)(d.BackoffMax), Jitter: d.Jitter, Timeout: (*time.Duration)(d.Timeout),
	}
}

// NewTypeDefinition converts a type.
func NewTypeDefinition(t *rota.Type) TypeDefinition {
	return TypeDefinition{
		Description: t.Spec.Description, Paused: new(t.Paused), PolicyDefinition: newPolicyDefinition(t.Spec.Policy), Schema: sortKeys(t.Spec.Schema),
	}
}

// NewTemplateDefinition converts a template, with or without the secrets of its webhooks.
func NewTemplateDefinition(t *rota.Template, secrets bool) TemplateDefinition {
	s := &t.Spec
	return TemplateDefinition{
		Type: s.Type, Description: s.Description, State: string(t.State), Owner: t.Owner, DefaultParams: sortParams(s.Params), Priority: s.Priority,
		ConcurrencyKey: s.ConcurrencyKey, UniqueFor: bound(s.UniqueFor), PolicyDefinition: newPolicyDefinition(s.Policy),
		Webhooks: NewWebhookDefinitions(s.Webhooks, secrets),
	}
}

// NewScheduleDefinition omits fields that have their default.
func NewScheduleDefinition(s *rota.Schedule) ScheduleDefinition {
	p := &s.Spec
	d := ScheduleDefinition{
		Template: p.Template, Description: p.Description, State: string(s.State), Owner: s.Owner, Cron: p.Cron, At: Time{p.At}, Every: bound(p.Every),
		StartsAt: Time{p.StartsAt}, EndsAt: Time{p.EndsAt}, DependsOn: p.DependsOn, Scopes: groupScopes(p.Scopes),
		ParamOverrides: sortParams(p.Params), Priority: p.Priority, PolicyDefinition: newPolicyDefinition(p.Policy),
		CatchUp: omitDefault(p.CatchUp, rota.CatchUpLast), Overlap: omitDefault(p.Overlap, rota.OverlapAllow), OnCompletion: omitDefault(p.OnCompletion, rota.CompletionPreserve),
		Class: string(p.Class), Partition: newPartition(p.Partition),
	}
	if p.Cron != "" || p.Zone != "" {
		d.Timezone = ScheduleZone(s)
	}
	if Anchored(p) {
		d.Anchor = Time{s.Anchor}
	}
	return d
}

// Anchored reports whether the interval of a schedule starts at its anchor.
func Anchored(s *rota.ScheduleSpec) bool { return s.Every != 0 && s.StartsAt.IsZero() }

func omitDefault[W ~string](word, fallback W) string {
	if word == fallback {
		return ""
	}
	return string(word)
}

// groupScopes combines the scopes of one kind; the input is sorted by kind.
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

// NewWebhookDefinitions converts webhooks, with or without their secrets.
func NewWebhookDefinitions(hooks []rota.Webhook, secrets bool) (all []WebhookDefinition) {
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

// DefinedWebhooks converts the webhooks of a document.
func DefinedWebhooks(defs []WebhookDefinition) (hooks []rota.Webhook) {
	for _, d := range defs {
		h := rota.Webhook{URL: d.URL, Secret: d.Secret}
		for _, kind := range d.Events {
			h.Events = append(h.Events, rota.EventKind(kind))
		}
		hooks = append(hooks, h)
	}
	return hooks
}

// NewLimitsDefinition returns nil if there are no limits.
func NewLimitsDefinition(s *rota.ThrottleSpec) *ThrottleRequest {
	if s.Global == 0 && len(s.Types) == 0 && !s.LimitsKeys() {
		return nil
	}
	d := &ThrottleRequest{Global: s.Global}
	for _, t := range s.Types {
		setEntry(&d.Types, t.Type, TypeLimitRequest{Concurrency: t.Concurrency, Rate: rateText(t.Rate)})
	}
	for _, k := range s.Keys {
		setEntry(&d.Keys, k.Key, k.Concurrency)
	}
	for _, k := range s.EachKey {
		setEntry(&d.EachKey, k.Pattern, k.Concurrency)
	}
	for _, k := range s.EachKeyOfType {
		setEntry(&d.EachKeyOfType, k.Type, k.Concurrency)
	}
	return d
}

// setEntry sets an entry of a map that may be nil.
func setEntry[V any](m *map[string]V, name string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = value
}

// sortParams is sortKeys for params, where nil and an empty object are equal.
func sortParams(doc json.RawMessage) Document {
	if d := sortKeys(doc); string(d) != "{}" {
		return d
	}
	return nil
}

// sortKeys sorts the keys of an object at every level, so that equal values have equal text. Numbers
// keep their text.
func sortKeys(doc json.RawMessage) Document {
	if len(doc) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var value map[string]any
	if d.Decode(&value) != nil || value == nil { // a stored row holds invalid JSON, which verify reports
		return Document(doc)
	}
	return Document(rota.EncodeSpec(value))
}

// Spec converts the template, without its webhooks.
func (d *TemplateDefinition) Spec() rota.TemplateSpec {
	return rota.TemplateSpec{
		Type: d.Type, Description: d.Description, Params: d.DefaultParams.Raw(), Priority: d.Priority, ConcurrencyKey: d.ConcurrencyKey,
		Policy: d.Patch(), UniqueFor: unbound(d.UniqueFor),
	}
}

// Spec converts the schedule. It expands scopes, and accepts words in any letter case.
func (d *ScheduleDefinition) Spec() (spec rota.ScheduleSpec, err error) {
	spec = rota.ScheduleSpec{
		Template: d.Template, Description: d.Description, Cron: d.Cron, Zone: d.Timezone, At: d.At.Time, Every: unbound(d.Every),
		StartsAt: d.StartsAt.Time, EndsAt: d.EndsAt.Time, DependsOn: d.DependsOn, Params: d.ParamOverrides.Raw(), Priority: d.Priority, Policy: d.Patch(),
		CatchUp: catchUpWord(d.CatchUp), Overlap: overlapWord(d.Overlap), OnCompletion: completionWord(d.OnCompletion), Class: classWord(d.Class),
	}
	if d.Partition != nil {
		spec.Partition = d.Partition.entity()
	}
	if spec.Scopes, err = expandScopes(d.Scopes); err != nil {
		return spec, err
	}
	switch {
	case d.Anchor.IsZero():
	case d.Every == nil:
		return spec, rota.Invalidf("anchor", "is set, but only every has an anchor; omit it")
	case !d.StartsAt.IsZero():
		return spec, rota.Invalidf("anchor", "is set, but the interval counts from starts_at; omit one of them")
	}
	return spec, checkEvery(d.Every)
}
