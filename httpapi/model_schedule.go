package httpapi

import (
	"encoding/json"

	"github.com/rotajobs/rota"
)

// Schedule says when a template is run.
type Schedule struct {
	Name        string    `json:"name" doc:"Its name."`
	Template    string    `json:"template" doc:"What it runs."`
	Description Text      `json:"description" doc:"What it is, for people."`
	Cron        Text      `json:"cron" doc:"Five fields, read in timezone. One of cron, at and every is set."`
	At          Time      `json:"at" doc:"Once, then."`
	Every       *Duration `json:"every" nullable:"true" doc:"At this interval, counted from starts_at, or from its creation."`
	Timezone    string    `json:"timezone" doc:"The zone that cron is read in."`
	Describe    string    `json:"describe" doc:"When it fires, in words."`

	StartsAt       Time            `json:"starts_at" doc:"It does not fire before."`
	EndsAt         Time            `json:"ends_at" doc:"The last time it may fire."`
	Scopes         []Scope         `json:"scopes" nullable:"false" doc:"A fire makes one execution for each; none: one, for nothing in particular."`
	ParamOverrides json.RawMessage `json:"param_overrides" doc:"Laid over the template's default_params, key by key."`
	Priority       *int            `json:"priority" doc:"Of its jobs. Null: as the template says."`
	Policy
	CatchUp      string   `json:"catch_up" enum:"none,last,all" doc:"What becomes of times that passed while nobody fired."`
	Overlap      string   `json:"overlap" enum:"allow,skip,cancel" doc:"What a fire does while an earlier execution has not ended."`
	OnCompletion string   `json:"on_completion" enum:"preserve,drop" doc:"What becomes of an AT schedule when its executions ended."`
	DependsOn    []string `json:"depends_on" nullable:"false" doc:"Schedules whose executions it waits for."`

	Class     Text       `json:"class" doc:"What its jobs need of the cluster while they run: LOCAL_SAFE, LEADER_ONLY or QUORUM_REQUIRED. On one node every class is met."`
	Partition *Partition `json:"partition,omitempty" doc:"How it is spread over shards. On one node this changes nothing."`

	State      string `json:"state" enum:"ENABLED,DISABLED,PAUSED" doc:"Whether it fires."`
	Reason     Text   `json:"reason" doc:"Why Rota disabled it. Null if a person did."`
	NextFireAt Time   `json:"next_fire_at" doc:"The oldest time not fired yet."`
	LastFireAt Time   `json:"last_fire_at" doc:"The newest time fired."`
	Version    ID     `json:"version" nullable:"false" doc:"Changes with every change that a person makes."`
	CreatedBy  Text   `json:"created_by" doc:"Who made it."`
	CreatedAt  Time   `json:"created_at" nullable:"false" doc:"When it was made."`
	UpdatedAt  Time   `json:"updated_at" nullable:"false" doc:"When it was last changed."`
}

// Scope is what an execution is for.
type Scope struct {
	Kind string `json:"kind" example:"user" doc:"What kind of thing."`
	ID   string `json:"id" example:"7" doc:"Which of them."`
}

// NewSchedule shows a schedule.
func NewSchedule(s *rota.Schedule) Schedule {
	p := &s.Spec
	v := Schedule{
		Name: s.Name, Template: p.Template, Description: Text(p.Description), Cron: Text(p.Cron), At: Time{p.At}, Every: bound(p.Every),
		StartsAt: Time{p.StartsAt}, EndsAt: Time{p.EndsAt}, Timezone: p.Zone, Scopes: []Scope{},
		ParamOverrides: object(p.Params), Priority: p.Priority, Policy: newPolicy(p.Policy),
		CatchUp: string(p.CatchUp), Overlap: string(p.Overlap), OnCompletion: string(p.OnCompletion), DependsOn: p.DependsOn,
		Class: Text(p.Class), Partition: newPartition(p.Partition),
		State: string(s.State), Reason: Text(s.Reason), NextFireAt: Time{s.NextFire}, LastFireAt: Time{s.LastFire},
		Version: ID{s.Version}, CreatedBy: Text(s.CreatedBy), CreatedAt: Time{s.CreatedAt}, UpdatedAt: Time{s.UpdatedAt},
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
	if table, err := s.Timetable(); err == nil { // of a zone that this machine does not know there are no words
		v.Describe = table.Describe()
	}
	return v
}

// Upcoming is when a schedule fires next.
type Upcoming struct {
	Describe string       `json:"describe" doc:"When it fires, in words."`
	Items    []UpcomingAt `json:"items" nullable:"false" doc:"The times, earliest first."`
}

// UpcomingAt is one time that a schedule will fire.
type UpcomingAt struct {
	At   string `json:"at" doc:"RFC 3339 with the offset of the schedule's zone." example:"2026-11-15T08:00:00+01:00"`
	UTC  Time   `json:"utc" doc:"The same time in UTC."`
	Note string `json:"note" doc:"What a change of the clocks does to it; mostly nothing."`
}

// Triggered is what a trigger made.
type Triggered struct {
	Items []Job `json:"items" nullable:"false" doc:"The jobs it made, one per scope; one that its overlap forbids is skipped."`
}

// Backfilled is what a backfill made.
type Backfilled struct {
	Items []Job `json:"items" nullable:"false" doc:"The jobs it made, oldest time first."`
	Known int   `json:"known" doc:"How many planned executions stood there already."`
}
