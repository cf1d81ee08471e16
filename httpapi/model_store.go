package httpapi

import (
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Throttle is how much may run at once and how fast it may start. It is read
// and written whole.
type Throttle struct {
	Global int                  `json:"global" doc:"Runs at once, of all types; 0: no limit."`
	Types  map[string]TypeLimit `json:"types" doc:"By the name of a type."`
	Keys   map[string]int       `json:"keys" doc:"Runs at once, by concurrency key."`

	Version ID `json:"version" doc:"Changes with every change. Null: they were never set."`
}

// TypeLimit holds the jobs of one type back.
type TypeLimit struct {
	Concurrency int  `json:"concurrency" doc:"Runs at once; 0: no limit."`
	Rate        Text `json:"rate" doc:"Starts in any stretch of time, such as 100/1m. Null: no limit." example:"100/1m"`
}

// NewThrottle shows the limits.
func NewThrottle(t *rota.Throttle) Throttle {
	v := Throttle{Global: t.Spec.Global, Types: map[string]TypeLimit{}, Keys: map[string]int{}, Version: ID{t.Version}}
	for _, l := range t.Spec.Types {
		v.Types[l.Type] = TypeLimit{Concurrency: l.Concurrency, Rate: Text(rateText(l.Rate))}
	}
	for _, k := range t.Spec.Keys {
		v.Keys[k.Key] = k.Concurrency
	}
	return v
}

func rateText(r rota.Rate) string {
	if r == (rota.Rate{}) {
		return ""
	}
	return fmt.Sprintf("%d/%s", r.Count, rota.FormatDuration(r.Per))
}

// Stats counts what lives in a store, and how busy this process is.
type Stats struct {
	Now       Time        `json:"now" doc:"The clock of the store."`
	Queued    int         `json:"queued" doc:"Jobs ready to be claimed."`
	Scheduled int         `json:"scheduled" doc:"Jobs that wait for their run_at."`
	Blocked   int         `json:"blocked" doc:"Jobs that are held back by something else."`
	Running   int         `json:"running" doc:"Runs that are open."`
	Dead      int         `json:"dead" doc:"Dead letters that were not tried anew."`
	Schedules int         `json:"schedules" doc:"Schedules that are enabled."`
	Oldest    Time        `json:"oldest_queued_at" doc:"Since when the oldest ready job has stood in the order."`
	Types     []TypeStats `json:"types" nullable:"false" doc:"The types that have live jobs, by name."`
	Workers   Workers     `json:"workers" doc:"The slots of this process."`
}

// TypeStats counts one type.
type TypeStats struct {
	Type      string `json:"type" doc:"The type."`
	Queued    int    `json:"queued" doc:"Jobs ready to be claimed."`
	Scheduled int    `json:"scheduled" doc:"Jobs that wait for their run_at."`
	Blocked   int    `json:"blocked" doc:"Jobs that are held back by something else."`
	Running   int    `json:"running" doc:"Runs that are open."`
}

// Workers are the slots of this process.
type Workers struct {
	Slots     int `json:"slots" doc:"How many jobs it runs at once."`
	Running   int `json:"running" doc:"How many it runs now."`
	Abandoned int `json:"abandoned" doc:"Handlers that were given up and have not returned."`
}

// NewStats shows the counts.
func NewStats(s *rota.Stats, e engine.Snapshot) Stats {
	v := Stats{
		Now: Time{s.Now}, Queued: s.Queued, Scheduled: s.Scheduled, Blocked: s.Blocked, Running: s.Running, Dead: s.Dead,
		Schedules: s.Schedules, Oldest: Time{s.Oldest}, Types: make([]TypeStats, len(s.Types)),
		Workers: Workers{Slots: e.Workers, Running: e.Running, Abandoned: e.Abandoned},
	}
	for i, t := range s.Types {
		v.Types[i] = TypeStats(t)
	}
	return v
}

// AuditEntry is one line of the audit.
type AuditEntry struct {
	Seq     int64  `json:"seq" doc:"Its number, in the order in which it was written."`
	ID      ID     `json:"id" nullable:"false" doc:"Its id."`
	At      Time   `json:"at" nullable:"false" doc:"When."`
	Actor   Text   `json:"actor" doc:"Who did it. Null: Rota itself."`
	Act     string `json:"act" example:"JOB_CANCELLED" doc:"What was done."`
	JobID   ID     `json:"job_id" doc:"The job that it is about, if it is about one."`
	Subject Text   `json:"subject" doc:"What else it is about." example:"schedule nightly"`
	Detail  Text   `json:"detail" doc:"More about it, if there is more."`
}

// NewAuditEntry shows a line of the audit.
func NewAuditEntry(e rota.AuditEntry) AuditEntry {
	return AuditEntry{
		Seq: e.Seq, ID: ID{e.ID}, At: Time{e.At}, Actor: Text(e.Actor), Act: e.Act, JobID: ID{e.JobID},
		Subject: Text(e.Subject), Detail: Text(e.Detail),
	}
}

// Verification is what a check of every invariant found.
type Verification struct {
	Clean      bool        `json:"clean" doc:"Every invariant holds."`
	Violations []Violation `json:"violations" nullable:"false" doc:"What breaks one, at most 1,000 of them."`
	More       bool        `json:"more,omitempty" doc:"There are more than are listed."`
}

// Violation is a row, or some rows, that break an invariant.
type Violation struct {
	Check  string   `json:"check" doc:"The name of the invariant."`
	Rows   []string `json:"rows" nullable:"false" doc:"Which rows break it."`
	Detail string   `json:"detail" doc:"How they do, in words."`
}
