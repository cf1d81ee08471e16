package ddl

import (
	"encoding/json"
	"time"
)

// Clauses is what is said of a job. What is nil was not said, so that ALTER JOB
// knows what to leave.
type Clauses struct {
	Class        *string // LOCAL_SAFE, LEADER_ONLY, QUORUM_REQUIRED
	Partition    *Partition
	Schedule     *Schedule
	TimeZone     *string
	CatchUp      *string  // none, last, all
	Overlap      *string  // allow, skip, cancel
	DependsOn    []string // empty and said: NONE
	DependsSaid  bool
	MaxRetries   *int
	RetryBackoff *time.Duration // in whole seconds
	Timeout      *time.Duration // in whole seconds; 0 is none
	OnCompletion *string        // preserve, drop
	RunAs        *string        // empty: NONE, which takes it away
	Description  *string
	State        *string // ENABLED, DISABLED, PAUSED
	Priority     *int
	Target       *string
	Params       *string // a JSON object, as it was written
	Action       *Action
}

// The ways to choose the shards of a job.
const (
	AllShards   = "ALL_SHARDS"
	SingleShard = "SINGLE_SHARD"
	ShardSet    = "SHARD_SET"
	Dynamic     = "DYNAMIC"
)

// Partition says on which shards a job runs.
type Partition struct {
	Strategy   string
	Shards     []string // UUIDs in lower case: one with SINGLE_SHARD, any number with SHARD_SET
	Expression string   // with DYNAMIC
}

// ScheduleKind says by what a schedule goes.
type ScheduleKind int

// The kinds.
const (
	Cron ScheduleKind = iota
	At
	Every
)

// Schedule says when a job runs. Its timestamps have the right form, and are
// kept as they were written: those without an offset belong to a zone that is
// not known here.
type Schedule struct {
	Kind   ScheduleKind
	Cron   string
	At     string
	Every  time.Duration // in whole seconds
	Starts string        // empty: not said; never with AT
	Ends   string
}

// ActionKind says what a job does.
type ActionKind int

// The kinds.
const (
	SQL ActionKind = iota
	Call
	Exec
)

// Action is the AS clause.
type Action struct {
	Kind      ActionKind
	Text      string // the statement of SQL, or the command of EXEC
	Procedure string // of CALL: a, a.b or a.b.c; no part has a dot in it
	Args      []Value
}

// ValueKind says what a literal is.
type ValueKind int

// The kinds.
const (
	Null ValueKind = iota
	String
	Number
	Bool
)

// Value is a literal argument.
type Value struct {
	Kind ValueKind
	Text string // of Number: as JSON writes it; of Bool: true or false; of Null: empty
}

// MarshalJSON makes arguments a JSON array of what they are.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.Kind {
	case String:
		return json.Marshal(v.Text)
	case Null:
		return []byte("null"), nil
	default:
		return []byte(v.Text), nil
	}
}
