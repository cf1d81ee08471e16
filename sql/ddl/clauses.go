package ddl

import (
	"encoding/json"
	"time"
)

// Clauses holds the clauses of a statement. A clause that was not given is nil, so that ALTER JOB leaves it as it is.
type Clauses struct {
	Class        *string // LOCAL_SAFE, LEADER_ONLY, QUORUM_REQUIRED
	Partition    *Partition
	Schedule     *Schedule
	TimeZone     *string
	CatchUp      *string  // none, last, all
	Overlap      *string  // allow, skip, cancel
	DependsOn    []string // empty and DependsGiven: NONE
	DependsGiven bool
	MaxRetries   *int
	RetryBackoff *time.Duration // in whole seconds
	Timeout      *time.Duration // in whole seconds; 0 is none
	OnCompletion *string        // preserve, drop
	RunAs        *string        // empty: NONE, which removes the role
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

// ScheduleKind is the kind of a schedule.
type ScheduleKind int

// The kinds.
const (
	Cron ScheduleKind = iota
	At
	Every
)

// Schedule states when a job runs. Its timestamps are checked for their form and kept as text, because the time zone
// of those without an offset is not known here.
type Schedule struct {
	Kind   ScheduleKind
	Cron   string
	At     string
	Every  time.Duration // in whole seconds
	Starts string        // empty: not given; never with AT
	Ends   string
}

// ActionKind is the kind of an action.
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

// ValueKind is the type of a literal.
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
