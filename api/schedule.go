package api

import (
	"encoding/json"

	"github.com/rotajobs/rota"
)

// Schedule fires a template at its times.
type Schedule struct {
	Name        string    `json:"name" doc:"Name of the schedule."`
	Template    string    `json:"template" doc:"Template of its jobs."`
	Description Text      `json:"description" doc:"Text for people."`
	Cron        Text      `json:"cron" doc:"Cron expression with five fields, evaluated in timezone. Exactly one of cron, at and every is set."`
	At          Time      `json:"at" doc:"Single fire time."`
	Every       *Duration `json:"every" nullable:"true" doc:"Interval, counted from starts_at or from the creation."`
	Timezone    string    `json:"timezone" doc:"Time zone of the schedule, in which cron is evaluated."`
	Describe    string    `json:"describe" doc:"Description of the fire times, in words."`

	StartsAt       Time            `json:"starts_at" doc:"Earliest fire time."`
	EndsAt         Time            `json:"ends_at" doc:"Latest fire time."`
	Scopes         []Scope         `json:"scopes" nullable:"false" doc:"Scopes. Each fire creates one execution per scope; without scopes it creates one execution."`
	ParamOverrides json.RawMessage `json:"param_overrides" doc:"Params that replace the template's default_params key by key."`
	Priority       *int            `json:"priority" doc:"Priority of its jobs. Null: the priority of the template."`
	Policy
	CatchUp      string   `json:"catch_up" enum:"none,last,all" doc:"Handling of missed fire times."`
	Overlap      string   `json:"overlap" enum:"allow,skip,cancel" doc:"Behavior of a fire while an earlier execution has not ended."`
	OnCompletion string   `json:"on_completion" enum:"preserve,drop" doc:"Whether an AT schedule is kept or deleted when its executions have ended."`
	DependsOn    []string `json:"depends_on" nullable:"false" doc:"Schedules whose executions must complete first."`

	Class     Text       `json:"class" doc:"What its jobs require of the cluster while they run: LOCAL_SAFE, LEADER_ONLY or QUORUM_REQUIRED. A single node satisfies every class."`
	Partition *Partition `json:"partition,omitempty" doc:"Distribution over shards. It has no effect on a single node."`

	State      string `json:"state" enum:"ENABLED,DISABLED,PAUSED" doc:"Whether it fires."`
	Reason     Text   `json:"reason" doc:"Reason why Rota disabled it. Null if a person did."`
	NextFireAt Time   `json:"next_fire_at" doc:"Earliest time not fired yet."`
	LastFireAt Time   `json:"last_fire_at" doc:"Latest time fired."`

	LastTriggeredAt Time `json:"last_triggered_at" doc:"When it was last triggered by hand. A trigger does not change next_fire_at and last_fire_at."`

	Version   ID   `json:"version" nullable:"false" doc:"Changes with every change that a person makes."`
	Owner     Text `json:"owner" nullable:"false" doc:"User with all rights on it. Its jobs run with the rights of the owner of its template."`
	CreatedBy Text `json:"created_by" doc:"Actor that created it."`
	CreatedAt Time `json:"created_at" nullable:"false" doc:"Time of its creation."`
	UpdatedAt Time `json:"updated_at" nullable:"false" doc:"Time of its last change."`
}

// Scope is the scope of an execution.
type Scope struct {
	Kind string `json:"kind" example:"user" doc:"Kind of the scope."`
	ID   string `json:"id" example:"7" doc:"Id within the kind."`
}

// NewSchedule converts a schedule.
func NewSchedule(s *rota.Schedule) Schedule {
	p := &s.Spec
	v := Schedule{
		Name: s.Name, Template: p.Template, Description: Text(p.Description), Cron: Text(p.Cron), At: Time{p.At}, Every: bound(p.Every),
		StartsAt: Time{p.StartsAt}, EndsAt: Time{p.EndsAt}, Timezone: p.Zone, Scopes: []Scope{},
		ParamOverrides: object(p.Params), Priority: p.Priority, Policy: newPolicy(p.Policy),
		CatchUp: string(p.CatchUp), Overlap: string(p.Overlap), OnCompletion: string(p.OnCompletion), DependsOn: p.DependsOn,
		Class: Text(p.Class), Partition: newPartition(p.Partition),
		State: string(s.State), Reason: Text(s.Reason), NextFireAt: Time{s.NextFire}, LastFireAt: Time{s.LastFire}, LastTriggeredAt: Time{s.TriggeredAt},
		Version: ID{s.Version}, Owner: Text(s.Owner), CreatedBy: Text(s.CreatedBy), CreatedAt: Time{s.CreatedAt}, UpdatedAt: Time{s.UpdatedAt},
	}
	for _, scope := range p.Scopes {
		v.Scopes = append(v.Scopes, Scope{Kind: scope.Kind, ID: scope.ID})
	}
	if v.Timezone == "" {
		v.Timezone = "UTC"
	}
	if v.DependsOn == nil {
		v.DependsOn = []string{}
	}
	if table, err := s.Timetable(); err == nil { // this machine may not know the time zone
		v.Describe = table.Describe()
	}
	return v
}

// Upcoming lists the next fire times of a schedule.
type Upcoming struct {
	Describe string       `json:"describe" doc:"Description of the fire times, in words."`
	Items    []UpcomingAt `json:"items" nullable:"false" doc:"Fire times, earliest first."`
}

// UpcomingAt is one fire time.
type UpcomingAt struct {
	At   string `json:"at" doc:"Fire time in RFC 3339 with the offset of the schedule's time zone." example:"2026-11-15T08:00:00+01:00"`
	UTC  Time   `json:"utc" doc:"Same time in UTC."`
	Note string `json:"note" doc:"Effect of a daylight saving change on this time; usually empty."`
}

// Triggered lists the jobs of a trigger.
type Triggered struct {
	Items []Job `json:"items" nullable:"false" doc:"Jobs created, one per scope; a job that the overlap setting forbids is skipped."`
}

// Backfilled is the result of a backfill.
type Backfilled struct {
	Items []Job `json:"items" nullable:"false" doc:"Jobs created, earliest time first."`
	Known int   `json:"known" doc:"Planned executions that already existed."`
}

// TriggerRequest sets params and priority of one triggered run.
type TriggerRequest struct {
	Params   Document `json:"params,omitempty" doc:"Params that replace those of the schedule key by key."`
	Priority *int     `json:"priority,omitempty" doc:"Priority of these jobs. Omitted: the priority of the schedule."`
}

// BackfillRequest is a range of past times.
type BackfillRequest struct {
	From Time `json:"from" doc:"First time of the range, inclusive."`
	To   Time `json:"to" doc:"Last time of the range, inclusive."`
}

// ScheduleZone is the name of the time zone of a schedule.
func ScheduleZone(s *rota.Schedule) string {
	if s.Spec.Zone == "" {
		return "UTC"
	}
	return s.Spec.Zone
}
