package rules

import "github.com/rotajobs/rota"

// The queries for rows that are not found by key. A store answers each with the
// rows as stored; the unit of work overlays what the transaction has decided.

// JobsOf queries the live jobs of a schedule and a scope, by id: those that
// wait for an earlier execution, or the others.
type JobsOf struct {
	Schedule string
	Scope    rota.Scope // empty: global
	Waiting  bool       // with HoldOverlap
}

// jobsOfMax limits the answer. It is more jobs than one command can end.
const jobsOfMax = rota.ItemsMax + 1

// Limit is the largest number of jobs in the answer.
func (JobsOf) Limit() int { return jobsOfMax }

// Planned queries the live planned jobs of a schedule in any scope, by id, at
// most Limit of them.
type Planned struct {
	Schedule string
	Limit    int
}

// Members queries members of a group, by position in the group.
type Members struct {
	Group rota.ID
	Kind  MemberKind
	Limit int
}

// MemberKind selects members.
type MemberKind uint8

// The kinds of members.
const (
	MembersLive   MemberKind = iota // all that have not ended
	MembersQueued                   // those that have not started
	MembersEnding                   // those that have not started, and those that run and were not asked to stop
	MembersFirst                    // the first attempt of each, live or not
)

// Blocked queries the QUEUED jobs of a schedule that wait for dependencies, by
// id, at most DependentsMax: those of a scope and the global ones, or all.
type Blocked struct {
	Schedule string
	Scope    rota.Scope
	Every    bool
}

// OverlapWaiting queries the QUEUED jobs of a schedule that wait for an earlier
// execution, in any scope, by id, at most DependentsMax.
type OverlapWaiting struct{ Schedule string }

// Latest queries the first attempt of the latest execution that counts for
// dependents of a schedule: in a scope, after After and not after Until, in
// microseconds; the greatest (counts_at, id).
type Latest struct {
	Schedule     string
	Scope        rota.Scope // empty: global
	After, Until int64
}

// Dependents queries the names of the schedules that depend on one, sorted, at
// most DependentsMax+1.
type Dependents struct{ Schedule string }

// Reach queries what a schedule depends on, directly and transitively: the
// edges of the schedule and of every schedule reached.
type Reach struct{ Schedule string }

// Using queries the names of the schedules of a template, sorted, at most
// Limit.
type Using struct {
	Template string
	Disabled bool // include DISABLED schedules
	Limit    int
}

// KeyQueue queries the state of a concurrency key. It lists no more jobs than
// one command is likely to change.
type KeyQueue struct {
	Key       string
	Limit     int  // ids in each list
	Unlimited bool // the key has no limit: only held jobs matter
}

// KeyQueueState is the answer: how many jobs of the key are open (RUNNING and
// not settled), and its queued jobs by type.
type KeyQueueState struct {
	Open  int
	Types []KeyQueueType // sorted; for an Unlimited queue only types with held jobs
}

// KeyQueueType is one type's part of a key queue: how many jobs are ready; the
// last of them, last first; and the first jobs that only the key holds back, in
// order. The store also puts the jobs of both lists into the unit of work, in
// full.
type KeyQueueType struct {
	Type       string
	Ready      int
	Last, Held []rota.ID
}

// OpenCount queries how many jobs are open: of a concurrency key, of a type, or,
// with neither, of all types but Rota's internal ones.
type OpenCount struct{ Type, Key string }

// Redriven queries the newest first attempt that redrives an execution.
type Redriven struct{ Execution rota.ID }

// Attempts queries the ids of all attempts of an execution, first to last.
type Attempts struct{ Execution rota.ID }

// ExpiredWaits queries the QUEUED jobs whose wait for dependencies ended at Now
// or before, by (wait_until, id).
type ExpiredWaits struct {
	Now   int64
	Limit int
}

// Intents queries the intent records, by kind and name.
type Intents struct{ Limit int }

// Intent records work that was decided for more rows than one command may
// change. Sweep executes it.
type Intent struct{ Kind, Name string }

// The kinds of intents. The name is the id of the group, the key, the template
// or the schedule.
const (
	IntentGroup    = "group"
	IntentKey      = "key"
	IntentTemplate = "template"
	IntentDrop     = "drop"
)

// DroppedJobs queries jobs of a dropped schedule that were created before
// Before, in microseconds, at most Limit.
type DroppedJobs struct {
	Schedule string
	Before   int64
	Kind     DroppedKind
	Limit    int
}

// DroppedKind selects jobs of a dropped schedule.
type DroppedKind uint8

// The kinds of dropped jobs.
const (
	DroppedRunning DroppedKind = iota // running and not asked to stop, by id
	DroppedQueued                     // QUEUED, by id, last first
	DroppedLive                       // not ended, by id
	DroppedEnded                      // last attempts of executions that have ended, by id
)

// ExpiredReservations queries the ids of reservations that ended before Before,
// by id.
type ExpiredReservations struct {
	Before int64
	Limit  int
}

// ExpiredRequests queries the idempotency keys that were stored at By or
// before, by (at, actor, key).
type ExpiredRequests struct {
	By    int64
	Limit int
}
