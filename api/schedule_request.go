package api

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

// ScheduleRequest creates a schedule, or changes the fields it names. Exactly one of cron, at and
// every is set. Defaults are only described in words: a generated client would otherwise send them
// with every change.
type ScheduleRequest struct {
	Name           Opt[string]         `json:"name,omitzero" doc:"Name: letters, digits and . _ - : / @ #, but not . or .. alone. It cannot be changed."`
	Template       Opt[string]         `json:"template,omitzero" doc:"Template of its jobs."`
	Type           Opt[string]         `json:"type,omitzero" doc:"Type of its jobs, instead of template, when the schedule is created: the request also creates a template of the same name, or changes it if no other schedule uses it."`
	DefaultParams  Opt[Document]       `json:"default_params,omitzero" doc:"With type: the default params of the template."`
	Description    Opt[string]         `json:"description,omitzero" doc:"Text for people."`
	Cron           Opt[string]         `json:"cron,omitzero" doc:"Cron expression with five fields, evaluated in timezone."`
	At             Opt[Time]           `json:"at,omitzero" doc:"Single fire time."`
	Every          Opt[Duration]       `json:"every,omitzero" doc:"Interval, counted from starts_at or from the creation."`
	Timezone       Opt[string]         `json:"timezone,omitzero" doc:"IANA time zone in which cron is evaluated; default UTC. With at and every it is kept and shown."`
	Scopes         Opt[[]ScopeRequest] `json:"scopes,omitzero" doc:"Scopes. Each fire creates one execution per scope."`
	StartsAt       Opt[Time]           `json:"starts_at,omitzero" doc:"Earliest fire time."`
	EndsAt         Opt[Time]           `json:"ends_at,omitzero" doc:"Latest fire time."`
	State          Opt[string]         `json:"state,omitzero" enum:"ENABLED,DISABLED,PAUSED" doc:"State; a new schedule is ENABLED."`
	ParamOverrides Opt[Document]       `json:"param_overrides,omitzero" alias:"params" doc:"Params that replace the template's default_params key by key."`
	Priority       Opt[int]            `json:"priority,omitzero" doc:"Priority of its jobs. Omitted: the priority of the template."`
	PolicyRequest
	CatchUp      Opt[string]    `json:"catch_up,omitzero" enum:"none,last,all" doc:"Handling of missed fire times; default last."`
	Overlap      Opt[string]    `json:"overlap,omitzero" enum:"allow,skip,cancel" doc:"Behavior of a fire while an earlier execution has not ended; default allow."`
	OnCompletion Opt[string]    `json:"on_completion,omitzero" enum:"preserve,drop" doc:"Whether an AT schedule is kept or deleted when its executions have ended; default preserve."`
	DependsOn    Opt[[]string]  `json:"depends_on,omitzero" doc:"Schedules whose executions must complete first."`
	Class        Opt[string]    `json:"class,omitzero" enum:"LOCAL_SAFE,LEADER_ONLY,QUORUM_REQUIRED" doc:"What its jobs require of the cluster while they run. A single node satisfies every class."`
	Partition    Opt[Partition] `json:"partition,omitzero" doc:"Distribution over shards. It has no effect on a single node."`
	Owner        Opt[string]    `json:"owner,omitzero" doc:"User that owns it, in a change without other fields, which needs ADMIN. Its jobs run with the rights of the owner of the template."`
	Webhooks     anyValue       `json:"webhooks,omitzero" doc:"Not supported yet."`
}

// ScopeRequest is one scope, or several of one kind.
type ScopeRequest struct {
	Kind string   `json:"kind" example:"user" doc:"Kind of the scope."`
	ID   string   `json:"id,omitempty" example:"7" doc:"Id within the kind."`
	IDs  []string `json:"ids,omitempty" doc:"Several ids of one kind, instead of id."`
}

// OnlyOwner reports whether the request changes nothing but the owner.
func (r *ScheduleRequest) OnlyOwner() bool {
	return reflect.DeepEqual(*r, ScheduleRequest{Name: r.Name, Owner: r.Owner})
}

// Apply changes the fields that the request names.
func (r *ScheduleRequest) Apply(s *rota.ScheduleSpec) (err error) {
	if err := refuseUnsupported("webhooks", r.Webhooks); err != nil {
		return err
	}
	if err := checkEvery(r.Every.Value); err != nil {
		return err
	}
	if r.DefaultParams.Set && r.Type.Value == nil {
		return rota.Invalidf("default_params", "is set, but only a new template, which type creates, takes it; use param_overrides")
	}
	r.Template.SetValue(&s.Template)
	r.Description.SetValue(&s.Description)
	r.applyTimes(s)
	if r.Scopes.Set {
		var given []ScopeRequest
		r.Scopes.SetValue(&given)
		if s.Scopes, err = expandScopes(given); err != nil {
			return err
		}
	}
	change(r.ParamOverrides, &s.Params, Document.Raw)
	r.Priority.SetPointer(&s.Priority)
	r.PolicyRequest.Apply(&s.Policy)
	change(r.CatchUp, &s.CatchUp, catchUpWord)
	change(r.Overlap, &s.Overlap, overlapWord)
	change(r.OnCompletion, &s.OnCompletion, completionWord)
	r.DependsOn.SetValue(&s.DependsOn)
	change(r.Class, &s.Class, classWord)
	change(r.Partition, &s.Partition, Partition.entity) // as a whole: its fields have no meaning without each other
	return nil
}

// applyTimes changes the fire times. Setting one of cron, at and every replaces the previous one.
func (r *ScheduleRequest) applyTimes(s *rota.ScheduleSpec) {
	if r.Cron.Value != nil || r.At.Value != nil || r.Every.Value != nil {
		s.At, s.Every = time.Time{}, 0
		if r.Cron.Value == nil {
			s.Cron = ""
		}
		if r.At.Value != nil {
			s.StartsAt, s.EndsAt = time.Time{}, time.Time{}
		}
	}
	r.Cron.SetValue(&s.Cron)
	r.Timezone.SetValue(&s.Zone)
	plainTime := func(t Time) time.Time { return t.Time }
	change(r.At, &s.At, plainTime)
	change(r.StartsAt, &s.StartsAt, plainTime)
	change(r.EndsAt, &s.EndsAt, plainTime)
	change(r.Every, &s.Every, func(d Duration) time.Duration { return time.Duration(d) })
}

// checkEvery refuses an interval of 0, which the rules would treat as not set.
func checkEvery(every *Duration) error {
	if every == nil || *every != 0 {
		return nil
	}
	return rota.Invalidf("every", "is 0s; allowed are %s to %s", rota.FormatDuration(cron.EveryMin), rota.FormatDuration(cron.EveryMax))
}

// The words of enums, in any letter case. An unknown word is left for the rules to refuse.
var (
	catchUpWord    = wordOf(rota.CatchUpNone, rota.CatchUpLast, rota.CatchUpAll)
	overlapWord    = wordOf(rota.OverlapAllow, rota.OverlapSkip, rota.OverlapCancel)
	completionWord = wordOf(rota.CompletionPreserve, rota.CompletionDrop)
	classWord      = wordOf(rota.ClassLocalSafe, rota.ClassLeaderOnly, rota.ClassQuorumRequired)
	strategyWord   = wordOf(rota.PartitionAll, rota.PartitionSingle, rota.PartitionSet, rota.PartitionDynamic)
)

func wordOf[W ~string](known ...W) func(string) W {
	return func(text string) W {
		for _, word := range known {
			if OneOf(text, []string{string(word)}) != "" {
				return word
			}
		}
		return W(text)
	}
}

// expandScopes expands entries with several ids of one kind.
func expandScopes(given []ScopeRequest) (scopes []rota.Scope, err error) {
	for i, scope := range given {
		ids := scope.IDs
		if scope.ID != "" {
			if len(ids) > 0 {
				return nil, rota.Invalidf(fmt.Sprintf("scopes[%d].ids", i), "is set together with id; set only one of them")
			}
			ids = []string{scope.ID}
		}
		if scope.Kind == "" || len(ids) == 0 || slices.Contains(ids, "") {
			return nil, rota.Invalidf(fmt.Sprintf("scopes[%d]", i), "has an empty kind or id; give both")
		}
		for _, id := range ids {
			scopes = append(scopes, rota.Scope{Kind: scope.Kind, ID: id})
		}
	}
	return scopes, nil
}

// ScheduleStates lists the states of a schedule.
var ScheduleStates = []string{string(rota.ScheduleEnabled), string(rota.ScheduleDisabled), string(rota.SchedulePaused)}

// ParseScheduleState reads a state in any letter case; nil is none.
func ParseScheduleState(text *string) (rota.ScheduleState, error) {
	if text == nil {
		return "", nil
	}
	state := OneOf(*text, ScheduleStates)
	if state == "" {
		return "", rota.Invalidf("state", "must be ENABLED, DISABLED or PAUSED")
	}
	return rota.ScheduleState(state), nil
}

// Partition is the distribution of a schedule over shards.
type Partition struct {
	Strategy   string   `json:"strategy" enum:"ALL_SHARDS,SINGLE_SHARD,SHARD_SET,DYNAMIC" doc:"Shards it fires for."`
	Shards     []string `json:"shards,omitempty" doc:"Shard ids: one for SINGLE_SHARD, several for SHARD_SET."`
	Expression string   `json:"expression,omitempty" doc:"Expression that selects the shards, for DYNAMIC."`
}

// newPartition converts a partition; nil if there is none.
func newPartition(p rota.Partition) *Partition {
	if p.IsZero() {
		return nil
	}
	return &Partition{Strategy: string(p.Strategy), Shards: p.Shards, Expression: p.Expression}
}

func (p Partition) entity() rota.Partition {
	return rota.Partition{Strategy: strategyWord(p.Strategy), Shards: p.Shards, Expression: p.Expression}
}
