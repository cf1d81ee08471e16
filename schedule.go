package rota

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rotajobs/rota/cron"
)

// ScheduleState is whether a schedule fires.
type ScheduleState string

// The states of a schedule.
const (
	ScheduleEnabled  ScheduleState = "ENABLED"
	ScheduleDisabled ScheduleState = "DISABLED" // does not fire; when enabled again, it starts from now
	SchedulePaused   ScheduleState = "PAUSED"   // does not fire; when enabled again, it applies catch-up
)

// CatchUp is what happens to due times that were missed.
type CatchUp string

// The policies.
const (
	CatchUpLast CatchUp = "last" // one execution, for the latest time; default
	CatchUpNone CatchUp = "none"
	CatchUpAll  CatchUp = "all" // all times, at most the newest CatchUpMax
)

// Overlap is what a fire does while the previous execution of the schedule and scope
// has not ended.
type Overlap string

// The policies.
const (
	OverlapAllow  Overlap = "allow"  // run both; default
	OverlapSkip   Overlap = "skip"   // record a SKIPPED execution
	OverlapCancel Overlap = "cancel" // ask the previous one to stop, then run
)

// OnCompletion is what happens to an AT schedule when its executions have ended.
type OnCompletion string

// The policies.
const (
	CompletionPreserve OnCompletion = "preserve" // keep it, DISABLED; default
	CompletionDrop     OnCompletion = "drop"     // delete it
)

// Scope is what an execution is for, such as a tenant, a user or a shard. A schedule
// fires one execution per scope.
type Scope struct {
	Kind string `wire:"1" json:"kind"`
	ID   string `wire:"2" json:"id"`
}

// Schedule is when a template runs.
type Schedule struct {
	Name        string        `wire:"1"`
	Spec        ScheduleSpec  `wire:"2"`
	State       ScheduleState `wire:"3"`
	Reason      string        `wire:"4"`  // why Rota disabled it; empty: a user did
	Anchor      time.Time     `wire:"5"`  // start of an EVERY schedule without STARTS
	NextFire    time.Time     `wire:"6"`  // oldest time that has not fired; zero: none
	LastFire    time.Time     `wire:"7"`  // newest time that has fired
	MovedAt     time.Time     `wire:"8"`  // when NextFire was set; a future time means that the clock was set back
	ResumedAt   time.Time     `wire:"9"`  // when the last pause ended; zero: it was never paused
	TriggeredAt time.Time     `wire:"10"` // when it was last triggered by hand; zero: never
	Owner       string        `wire:"11"` // user with all rights on it
	Since       time.Time     `wire:"12"` // when this definition began; grants that are older do not apply to it
	Version     ID            `wire:"13"` // id of the last command that changed the declaration or state; firing does not change it
	CreatedBy   string        `wire:"14"`
	CreatedAt   time.Time     `wire:"15"`
	UpdatedAt   time.Time     `wire:"16"`
}

// Timetable returns the fire times of the schedule.
func (s *Schedule) Timetable() (cron.Timetable, error) { return s.Spec.Timetable(s.Name, s.Anchor) }

// timetableAt returns the fire times by a clock that may have been set back since the
// declaration. An EVERY schedule without STARTS counts from its creation. If the creation
// is more than one interval in the future, timetableAt moves it back by whole intervals.
// Otherwise a wrong clock at the declaration would stop the schedule until that time.
func (s *Schedule) timetableAt(now time.Time) (cron.Timetable, error) {
	anchor, every := s.Anchor, s.Spec.Every
	if ahead := anchor.Sub(now); every > 0 && s.Spec.StartsAt.IsZero() && ahead > every {
		anchor = anchor.Add(-(ahead/every + 1) * every)
	}
	return s.Spec.Timetable(s.Name, anchor)
}

// NextAfter returns the first fire time after t, or zero if there is none.
func (s *Schedule) NextAfter(t time.Time) (time.Time, error) {
	table, err := s.timetableAt(t)
	if err != nil {
		return time.Time{}, err
	}
	return nextOf(table, t), nil
}

// ScheduleSpec is the declaration of a schedule. Exactly one of Cron, At and Every is
// set.
type ScheduleSpec struct {
	Template     string          `wire:"1" json:"template"`
	Description  string          `wire:"2" json:"description,omitempty"`
	Cron         string          `wire:"3" json:"cron,omitempty"`
	At           time.Time       `wire:"4" json:"at,omitzero"`
	Every        time.Duration   `wire:"5" json:"every,omitempty"`
	Zone         string          `wire:"6" json:"zone,omitempty"` // Cron is evaluated in it; At and Every only keep it; empty: UTC
	StartsAt     time.Time       `wire:"7" json:"starts_at,omitzero"`
	EndsAt       time.Time       `wire:"8" json:"ends_at,omitzero"`
	Scopes       []Scope         `wire:"9" json:"scopes,omitempty"`  // empty: one execution with scope global/global
	Params       json.RawMessage `wire:"10" json:"params,omitempty"` // overlaid on the template's params
	Priority     *int            `wire:"11" json:"priority,omitempty"`
	Policy       PolicyPatch     `wire:"12" json:"policy"`
	CatchUp      CatchUp         `wire:"13" json:"catch_up"`
	Overlap      Overlap         `wire:"14" json:"overlap"`
	OnCompletion OnCompletion    `wire:"15" json:"on_completion"`
	DependsOn    []string        `wire:"16" json:"depends_on,omitempty"` // names of schedules
	Class        Class           `wire:"17" json:"class,omitempty"`
	Partition    Partition       `wire:"18" json:"partition,omitzero"`
}

func (s *ScheduleSpec) validate(name string) *Error {
	return first(
		checkName("template", s.Template, true),
		checkText("description", s.Description, DescriptionMax),
		s.validateTimes(name),
		s.validateScopes(),
		checkObject("params", s.Params, ParamsMax),
		checkIntPtr("priority", s.Priority, PriorityMin, PriorityMax),
		s.Policy.validate(),
		checkWord("catch_up", s.CatchUp, CatchUpNone, CatchUpLast, CatchUpAll),
		checkWord("overlap", s.Overlap, OverlapAllow, OverlapSkip, OverlapCancel),
		checkWord("on_completion", s.OnCompletion, CompletionPreserve, CompletionDrop),
		s.validateCompletion(),
		s.validateDepends(name),
		checkWord("class", s.Class, ClassLocalSafe, ClassLeaderOnly, ClassQuorumRequired),
		s.Partition.validate(),
	)
}

func (s *ScheduleSpec) validateTimes(name string) *Error {
	given := 0
	for _, is := range []bool{s.Cron != "", !s.At.IsZero(), s.Every != 0} {
		if is {
			given++
		}
	}
	switch {
	case given == 0:
		return Invalidf("cron", "none of cron, at and every is given; a schedule needs one")
	case given > 1:
		return Invalidf("cron", "more than one of cron, at and every is given; a schedule has one")
	case !s.At.IsZero() && (!s.StartsAt.IsZero() || !s.EndsAt.IsZero()):
		return Invalidf("at", "starts_at or ends_at is also given; they are for cron and every")
	case !s.EndsAt.IsZero() && s.EndsAt.Before(s.StartsAt):
		return Invalidf("ends_at", "is before starts_at")
	}
	return first(checkTime("at", s.At), checkTime("starts_at", s.StartsAt), checkTime("ends_at", s.EndsAt),
		checkText("timezone", s.Zone, NameMax), s.validateExpression(name))
}

// validateCompletion refuses drop for a schedule that never completes.
func (s *ScheduleSpec) validateCompletion() *Error {
	if s.OnCompletion == CompletionDrop && s.At.IsZero() {
		return &Error{
			Code: Invalid, Field: "on_completion", Reason: "is drop, but only a schedule with at completes; cron and every fire again",
			Hint: "omit it",
		}
	}
	return nil
}

func (s *ScheduleSpec) validateExpression(name string) *Error {
	switch {
	case s.Cron != "":
		if _, err := cron.Parse(s.Cron, cron.Config{Name: name}); err != nil {
			return asInvalid("cron", err)
		}
	case s.Every != 0:
		if s.Every%cron.EveryMin != 0 {
			return Invalidf("every", "is %s; use whole milliseconds", FormatDuration(s.Every))
		}
		return checkDuration("every", s.Every, cron.EveryMin, cron.EveryMax)
	}
	return nil
}

func (s *ScheduleSpec) validateScopes() *Error {
	if len(s.Scopes) > ScopesMax {
		return Invalidf("scopes", "has %d entries; at most %d are allowed", len(s.Scopes), ScopesMax)
	}
	for i, scope := range s.Scopes {
		field := fmt.Sprintf("scopes[%d]", i)
		if scope.Kind == "" || scope.ID == "" {
			return Invalidf(field, "has an empty kind or id; give both")
		}
		if err := first(checkText(field+".kind", scope.Kind, NameMax), checkText(field+".id", scope.ID, KeyMax)); err != nil {
			return err
		}
	}
	return nil
}

func (s *ScheduleSpec) validateDepends(name string) *Error {
	if len(s.DependsOn) > DependsMax {
		return Invalidf("depends_on", "has %d entries; at most %d are allowed", len(s.DependsOn), DependsMax)
	}
	for i, on := range s.DependsOn {
		field := fmt.Sprintf("depends_on[%d]", i)
		if err := checkName(field, on, true); err != nil {
			return err
		}
		if on == name {
			return Invalidf(field, "is the schedule itself, which is a cycle")
		}
	}
	return nil
}

// Canonical returns the specification as stored: with defaults filled in, times and
// intervals truncated to microseconds, and scopes, dependencies and shards sorted and
// without duplicates.
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

// Equal reports whether two specifications have the same stored form.
func (s ScheduleSpec) Equal(other ScheduleSpec) bool {
	return bytes.Equal(EncodeSpec(s.Canonical()), EncodeSpec(other.Canonical()))
}

// SameTimes reports whether two specifications fire at the same times.
func (s ScheduleSpec) SameTimes(other ScheduleSpec) bool {
	a, b := s.Canonical(), other.Canonical()
	return a.Cron == b.Cron && a.At.Equal(b.At) && a.Every == b.Every && (a.Zone == b.Zone || a.Cron == "") &&
		a.StartsAt.Equal(b.StartsAt) && a.EndsAt.Equal(b.EndsAt)
}

// EachScope returns the scopes that a fire creates executions for. The global scope is
// empty, as on a job.
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

// Timetable returns the fire times of a schedule with this name. The anchor is the start
// of an EVERY schedule without STARTS. The error is Invalid and names the field.
func (s ScheduleSpec) Timetable(name string, anchor time.Time) (cron.Timetable, error) {
	table, field, err := s.unbounded(name, anchor)
	if err != nil {
		return nil, asInvalid(field, err)
	}
	if s.StartsAt.IsZero() && s.EndsAt.IsZero() {
		return table, nil
	}
	bounded, err := cron.Within(table, s.local(s.StartsAt), s.local(s.EndsAt))
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
		table, err := cron.EveryFrom(s.local(s.StartsAt), s.Every)
		return table, "every", err
	case s.Every != 0:
		table, err := cron.EveryAfter(s.local(anchor), s.Every)
		return table, "every", err
	}
	table, err := cron.NewAt(s.local(s.At))
	return table, "at", err
}

// local returns a time in the zone of the schedule, for its description. An unknown zone is
// refused elsewhere.
func (s ScheduleSpec) local(t time.Time) time.Time {
	if t.IsZero() || s.Zone == "" {
		return t
	}
	zone, err := cron.LoadZone(s.Zone)
	if err != nil {
		return t
	}
	return t.In(zone)
}

// asInvalid converts an error of package cron to an Error.
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

func nextOf(table cron.Timetable, after time.Time) time.Time {
	next, found := table.Next(after)
	if !found {
		return time.Time{}
	}
	return cutTime(next)
}

// cutTime truncates a time to microseconds, in UTC. The zero time stays zero.
func cutTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
