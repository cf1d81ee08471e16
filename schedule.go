package rota

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/rotajobs/rota/cron"
)

// ScheduleState says whether a schedule fires.
type ScheduleState string

// The states of a schedule.
const (
	ScheduleEnabled  ScheduleState = "ENABLED"
	ScheduleDisabled ScheduleState = "DISABLED" // fires nothing and owes nothing: enabled again it starts from then
	SchedulePaused   ScheduleState = "PAUSED"   // fires nothing: enabled again it catches up
)

// CatchUp says what becomes of fire times that passed while nobody fired.
type CatchUp string

// The ways to catch up.
const (
	CatchUpLast CatchUp = "last" // one run, for the latest; the default
	CatchUpNone CatchUp = "none"
	CatchUpAll  CatchUp = "all" // every one of the newest CatchUpMax
)

// Overlap says what a fire does while an earlier execution of the schedule, for
// the same scope, has not ended.
type Overlap string

// The ways to meet an overlap.
const (
	OverlapAllow  Overlap = "allow" // nothing; the default
	OverlapSkip   Overlap = "skip"  // records a SKIPPED execution
	OverlapCancel Overlap = "cancel"
)

// OnCompletion says what becomes of an AT schedule when its executions ended.
type OnCompletion string

// The ends of an AT schedule.
const (
	CompletionPreserve OnCompletion = "preserve" // it is kept, DISABLED; the default
	CompletionDrop     OnCompletion = "drop"
)

// Scope is what an execution is for: a tenant, a user, a shard. A schedule
// fires one execution per scope.
type Scope struct {
	Kind string `wire:"1" json:"kind"`
	ID   string `wire:"2" json:"id"`
}

// Schedule says when a template is run.
type Schedule struct {
	Name      string
	Spec      ScheduleSpec
	State     ScheduleState
	Reason    string    // why Rota disabled it; empty if a person did
	Anchor    time.Time // what EVERY without STARTS counts from
	NextFire  time.Time // the oldest time not fired; zero: none is owed
	LastFire  time.Time // the newest time fired
	MovedAt   time.Time // when NextFire was set; in the future it was by a clock that has been set back since
	Version   ID        // the last command of a person that changed it; firing does not
	CreatedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ScheduleSpec is what is declared of a schedule. Exactly one of Cron, At and
// Every is set.
type ScheduleSpec struct {
	Template     string          `wire:"1" json:"template"`
	Description  string          `wire:"2" json:"description,omitempty"`
	Cron         string          `wire:"3" json:"cron,omitempty"`
	At           time.Time       `wire:"4" json:"at,omitzero"`
	Every        time.Duration   `wire:"5" json:"every,omitempty"`
	Zone         string          `wire:"6" json:"zone,omitempty"` // of Cron; empty: UTC
	StartsAt     time.Time       `wire:"7" json:"starts_at,omitzero"`
	EndsAt       time.Time       `wire:"8" json:"ends_at,omitzero"`
	Scopes       []Scope         `wire:"9" json:"scopes,omitempty"`  // none: one execution, global/global
	Params       json.RawMessage `wire:"10" json:"params,omitempty"` // overrides, over the template's defaults
	Priority     *int            `wire:"11" json:"priority,omitempty"`
	Policy       PolicyPatch     `wire:"12" json:"policy"`
	CatchUp      CatchUp         `wire:"13" json:"catch_up"`
	Overlap      Overlap         `wire:"14" json:"overlap"`
	OnCompletion OnCompletion    `wire:"15" json:"on_completion"`
	DependsOn    []string        `wire:"16" json:"depends_on,omitempty"` // schedules whose executions it waits for
	Class        Class           `wire:"17" json:"class,omitempty"`
	Partition    Partition       `wire:"18" json:"partition,omitzero"`
}

// Canonical is the specification as it is stored: defaults written out, times
// and intervals cut to what is kept, scopes, dependencies and shards sorted, each once.
func (s ScheduleSpec) Canonical() ScheduleSpec {
	s.CatchUp = cmp.Or(s.CatchUp, CatchUpLast)
	s.Overlap = cmp.Or(s.Overlap, OverlapAllow)
	s.OnCompletion = cmp.Or(s.OnCompletion, CompletionPreserve)
	if s.Zone == "UTC" {
		s.Zone = ""
	}
	s.At, s.StartsAt, s.EndsAt = cutTime(s.At), cutTime(s.StartsAt), cutTime(s.EndsAt)
	s.Every = s.Every.Truncate(time.Microsecond)
	s.Scopes = slices.Clone(s.Scopes)
	slices.SortFunc(s.Scopes, func(a, b Scope) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	s.Scopes = slices.Compact(s.Scopes)
	if len(s.Scopes) == 1 && s.Scopes[0] == (Scope{GlobalScopeKind, GlobalScopeID}) {
		s.Scopes = nil
	}
	s.DependsOn = slices.Clone(s.DependsOn)
	slices.Sort(s.DependsOn)
	s.DependsOn = slices.Compact(s.DependsOn)
	s.Partition = s.Partition.canonical()
	return canonical(s)
}

// Equal reports whether two specifications are stored alike.
func (s ScheduleSpec) Equal(other ScheduleSpec) bool {
	return bytes.Equal(EncodeSpec(s.Canonical()), EncodeSpec(other.Canonical()))
}

// SameTimes reports whether two specifications fire at the same times.
func (s ScheduleSpec) SameTimes(other ScheduleSpec) bool {
	a, b := s.Canonical(), other.Canonical()
	return a.Cron == b.Cron && a.At.Equal(b.At) && a.Every == b.Every && a.Zone == b.Zone &&
		a.StartsAt.Equal(b.StartsAt) && a.EndsAt.Equal(b.EndsAt)
}

// EachScope are the scopes that a fire is for. The global one is written empty,
// as on a job.
func (s ScheduleSpec) EachScope() []Scope {
	if len(s.Scopes) == 0 {
		return []Scope{{}}
	}
	scopes := slices.Clone(s.Scopes)
	for i, scope := range scopes {
		if scope == (Scope{GlobalScopeKind, GlobalScopeID}) {
			scopes[i] = Scope{}
		}
	}
	return scopes
}

// Timetable is when a schedule of this name fires. The anchor is what EVERY
// without STARTS counts from. An error is Invalid and names the field.
func (s ScheduleSpec) Timetable(name string, anchor time.Time) (cron.Timetable, error) {
	table, field, err := s.unbounded(name, anchor)
	if err != nil {
		return nil, asInvalid(field, err)
	}
	if s.StartsAt.IsZero() && s.EndsAt.IsZero() {
		return table, nil
	}
	bounded, err := cron.Within(table, s.StartsAt, s.EndsAt)
	if err != nil {
		return nil, asInvalid("ends_at", err)
	}
	return bounded, nil
}

func (s ScheduleSpec) unbounded(name string, anchor time.Time) (cron.Timetable, string, error) {
	switch {
	case s.Cron != "":
		table, err := cron.Parse(s.Cron, cron.Config{Zone: s.Zone, Name: name})
		return table, "cron", err
	case s.Every != 0 && !s.StartsAt.IsZero():
		table, err := cron.EveryFrom(s.StartsAt, s.Every)
		return table, "every", err
	case s.Every != 0:
		table, err := cron.EveryAfter(anchor, s.Every)
		return table, "every", err
	}
	table, err := cron.NewAt(s.At)
	return table, "at", err
}

// asInvalid is the error of package cron as everybody else's.
func asInvalid(field string, err error) *Error {
	var e *cron.Error
	if !errors.As(err, &e) {
		return &Error{Code: Invalid, Field: field, Err: err}
	}
	if e.Field == "zone" {
		field = "timezone"
	}
	plain := *e
	plain.Remedy = ""
	return &Error{Code: Invalid, Field: field, Err: &plain, Hint: e.Remedy}
}

// Timetable is when the schedule fires.
func (s *Schedule) Timetable() (cron.Timetable, error) { return s.Spec.Timetable(s.Name, s.Anchor) }

// timetableAt is when the schedule fires, by a clock that may have been set back
// since it was declared. EVERY without STARTS counts from its creation: where that
// lies more than an interval ahead, it counts as many intervals back from it, so
// that a clock which was wrong then does not silence it until it is right.
func (s *Schedule) timetableAt(now time.Time) (cron.Timetable, error) {
	anchor, every := s.Anchor, s.Spec.Every
	if ahead := anchor.Sub(now); every > 0 && s.Spec.StartsAt.IsZero() && ahead > every {
		anchor = anchor.Add(-(ahead/every + 1) * every)
	}
	return s.Spec.Timetable(s.Name, anchor)
}

// NextAfter is the first time after a given one that the schedule fires, zero if
// there is none.
func (s *Schedule) NextAfter(t time.Time) (time.Time, error) {
	table, err := s.timetableAt(t)
	if err != nil {
		return time.Time{}, err
	}
	return nextOf(table, t), nil
}

func nextOf(table cron.Timetable, after time.Time) time.Time {
	next, found := table.Next(after)
	if !found {
		return time.Time{}
	}
	return cutTime(next)
}

// cutTime cuts a time to what is stored. The zero time stays zero.
func cutTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
