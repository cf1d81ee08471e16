package api

import (
	"fmt"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

// Apply changes the fields that the request names.
func (r *ScheduleRequest) Apply(s *rota.ScheduleSpec) error {
	if err := refuseUnsupported("webhooks", r.Webhooks); err != nil {
		return err
	}
	r.Template.SetValue(&s.Template)
	r.Description.SetValue(&s.Description)
	if r.Every.Value != nil && *r.Every.Value == 0 { // the rules treat 0 as not set
		return rota.Invalidf("every", "is 0s; allowed are %s to %s", rota.FormatDuration(cron.EveryMin), rota.FormatDuration(cron.EveryMax))
	}
	r.applyTimes(s)
	if err := r.applyScopes(s); err != nil {
		return err
	}
	if r.ParamOverrides.Set {
		s.Params = nil
		if r.ParamOverrides.Value != nil {
			s.Params = r.ParamOverrides.Value.Raw()
		}
	}
	r.Priority.SetPointer(&s.Priority)
	r.PolicyRequest.Apply(&s.Policy)
	applyEnum(r.CatchUp, &s.CatchUp, rota.CatchUpNone, rota.CatchUpLast, rota.CatchUpAll)
	applyEnum(r.Overlap, &s.Overlap, rota.OverlapAllow, rota.OverlapSkip, rota.OverlapCancel)
	applyEnum(r.OnCompletion, &s.OnCompletion, rota.CompletionPreserve, rota.CompletionDrop)
	r.DependsOn.SetValue(&s.DependsOn)
	applyEnum(r.Class, &s.Class, rota.ClassLocalSafe, rota.ClassLeaderOnly, rota.ClassQuorumRequired)
	applyPartition(r.Partition, &s.Partition)
	return nil
}

// applyTimes changes the fire times. Setting one of cron, at and every replaces the previous one.
func (r *ScheduleRequest) applyTimes(s *rota.ScheduleSpec) {
	if r.Cron.Value != nil || r.At.Value != nil || r.Every.Value != nil {
		s.At, s.Every = time.Time{}, 0
		if r.Cron.Value == nil {
			s.Cron, s.Zone = "", ""
		}
		if r.At.Value != nil {
			s.StartsAt, s.EndsAt = time.Time{}, time.Time{}
		}
	}
	r.Cron.SetValue(&s.Cron)
	r.Timezone.SetValue(&s.Zone)
	applyTime(r.At, &s.At)
	applyTime(r.StartsAt, &s.StartsAt)
	applyTime(r.EndsAt, &s.EndsAt)
	if r.Every.Set {
		s.Every = 0
		if r.Every.Value != nil {
			s.Every = time.Duration(*r.Every.Value)
		}
	}
}

func applyTime(given Opt[Time], field *time.Time) {
	if given.Set {
		*field = time.Time{}
	}
	if given.Value != nil {
		*field = given.Value.Time
	}
}

// applyEnum sets an enum value in any letter case. An unknown value is left for the rules to refuse.
func applyEnum[W ~string](given Opt[string], field *W, known ...W) {
	if given.Set {
		*field = ""
	}
	if given.Value == nil {
		return
	}
	*field = W(*given.Value)
	for _, word := range known {
		if OneOf(*given.Value, []string{string(word)}) != "" {
			*field = word
		}
	}
}

// applyScopes expands entries with several ids of one kind.
func (r *ScheduleRequest) applyScopes(s *rota.ScheduleSpec) error {
	if !r.Scopes.Set {
		return nil
	}
	s.Scopes = nil
	if r.Scopes.Value == nil {
		return nil
	}
	for i, scope := range *r.Scopes.Value {
		ids := scope.IDs
		if scope.ID != "" {
			if len(ids) > 0 {
				return rota.Invalidf(fmt.Sprintf("scopes[%d].ids", i), "is set together with id; set only one of them")
			}
			ids = []string{scope.ID}
		}
		if scope.Kind == "" || len(ids) == 0 || slices.Contains(ids, "") {
			return rota.Invalidf(fmt.Sprintf("scopes[%d]", i), "has an empty kind or id; give both")
		}
		for _, id := range ids {
			s.Scopes = append(s.Scopes, rota.Scope{Kind: scope.Kind, ID: id})
		}
	}
	return nil
}

// ScheduleRequest creates a schedule, or changes the fields it names. Exactly one of cron, at and
// every is set. Defaults are only described in words: a generated client would otherwise send them
// with every change.
type ScheduleRequest struct {
	Name           Opt[string]         `json:"name,omitzero" doc:"Name: letters, digits and . _ - : / @ #. It cannot be changed."`
	Template       Opt[string]         `json:"template,omitzero" doc:"Template of its jobs."`
	Description    Opt[string]         `json:"description,omitzero" doc:"Text for people."`
	Cron           Opt[string]         `json:"cron,omitzero" doc:"Cron expression with five fields, evaluated in timezone."`
	At             Opt[Time]           `json:"at,omitzero" doc:"Single fire time."`
	Every          Opt[Duration]       `json:"every,omitzero" doc:"Interval, counted from starts_at or from the creation."`
	Timezone       Opt[string]         `json:"timezone,omitzero" doc:"IANA time zone of cron; default UTC."`
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
	Webhooks     anyValue       `json:"webhooks,omitzero" doc:"Not supported yet."`
}

// ScopeRequest is one scope, or several of one kind.
type ScopeRequest struct {
	Kind string   `json:"kind" example:"user" doc:"Kind of the scope."`
	ID   string   `json:"id,omitempty" example:"7" doc:"Id within the kind."`
	IDs  []string `json:"ids,omitempty" doc:"Several ids of one kind, instead of id."`
}

func (r *ScheduleRequest) WantedState() (rota.ScheduleState, error) {
	if r.State.Value == nil {
		return "", nil
	}
	state := OneOf(*r.State.Value, ScheduleStates)
	if state == "" {
		return "", rota.Invalidf("state", "must be ENABLED, DISABLED or PAUSED")
	}
	return rota.ScheduleState(state), nil
}

var ScheduleStates = []string{string(rota.ScheduleEnabled), string(rota.ScheduleDisabled), string(rota.SchedulePaused)}
