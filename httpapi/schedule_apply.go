package httpapi

import (
	"fmt"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

// apply changes the fields that the request names.
func (r *ScheduleRequest) apply(s *rota.ScheduleSpec) error {
	r.Template.setValue(&s.Template)
	r.Description.setValue(&s.Description)
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
			s.Params = r.ParamOverrides.Value.raw()
		}
	}
	r.Priority.setPointer(&s.Priority)
	r.PolicyRequest.apply(&s.Policy)
	applyEnum(r.CatchUp, &s.CatchUp, rota.CatchUpNone, rota.CatchUpLast, rota.CatchUpAll)
	applyEnum(r.Overlap, &s.Overlap, rota.OverlapAllow, rota.OverlapSkip, rota.OverlapCancel)
	applyEnum(r.OnCompletion, &s.OnCompletion, rota.CompletionPreserve, rota.CompletionDrop)
	r.DependsOn.setValue(&s.DependsOn)
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
	r.Cron.setValue(&s.Cron)
	r.Timezone.setValue(&s.Zone)
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
		if oneOf(*given.Value, []string{string(word)}) != "" {
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
