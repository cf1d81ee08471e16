package rules

import "github.com/rotajobs/rota"

// The queries for rows that are not found by key. The query of a kind has the
// name of the kind. A store answers each with the
// rows as stored; the unit of work overlays what the transaction has decided.

// LiveJobsQuery finds the live jobs of a schedule and a scope, by id: those that
// wait for an earlier execution, or the others.
type LiveJobsQuery struct {
	Schedule string
	Scope    rota.Scope // empty: global
	Waiting  bool       // with HoldOverlap
}

// liveJobsMax limits the answer. It is more jobs than one command can end.
const liveJobsMax = rota.ItemsMax + 1

// Limit is the largest number of jobs in the answer.
func (LiveJobsQuery) Limit() int { return liveJobsMax }

// PlannedJobsQuery finds the live planned jobs of a schedule in any scope, by
// id, at most Limit of them.
type PlannedJobsQuery struct {
	Schedule string
	Limit    int
}

// GroupMembersQuery finds members of a group, by position in the group.
type GroupMembersQuery struct {
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

// BlockedJobsQuery finds the QUEUED jobs of a schedule that wait for
// dependencies, by id, at most DependentsMax: those of a scope and the global ones, or all.
type BlockedJobsQuery struct {
	Schedule string
	Scope    rota.Scope
	Every    bool
}

// WaitingJobsQuery finds the QUEUED jobs of a schedule that wait for an earlier
// execution, in any scope, by id, at most DependentsMax.
type WaitingJobsQuery struct{ Schedule string }

// LatestJobsQuery finds the first attempt of the latest execution that counts
// for dependents of a schedule: in a scope, after After and not after Until, in
// microseconds; the greatest (counts_at, id).
type LatestJobsQuery struct {
	Schedule     string
	Scope        rota.Scope // empty: global
	After, Until int64
}

// DependentsQuery finds the names of the schedules that depend on one, sorted,
// at most DependentsMax+1.
type DependentsQuery struct{ Schedule string }

// DependenciesQuery finds what a schedule depends on, directly and transitively:
// the edges of the schedule and of every schedule reached.
type DependenciesQuery struct{ Schedule string }

// TemplateSchedulesQuery finds the names of the schedules of a template, sorted,
// at most Limit.
type TemplateSchedulesQuery struct {
	Template string
	Disabled bool // include DISABLED schedules
	Limit    int
}

// KeyQueue queries the state of a concurrency key, or only of its jobs of one
// type. It lists no more jobs than one command is likely to change.
type KeyQueue struct {
	Key       string
	Type      string // empty: all types
	Limit     int    // ids in each list
	Unlimited bool   // the key has no limit: only held jobs matter
}

// KeyQueueState is the answer: how many jobs of the queue are open (RUNNING and
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

// KeyTypesQuery finds the types of which a concurrency key has queued jobs that
// are ready or that only the key holds back, sorted.
type KeyTypesQuery struct{ Key string }

// LiveKeysQuery finds the concurrency keys after After that have jobs that have
// not ended, sorted, at most Limit.
type LiveKeysQuery struct {
	After string
	Limit int
}

// OpenCount queries how many jobs are open: of a concurrency key, of a type, of
// both, or, with neither, of all types but Rota's internal ones.
type OpenCount struct{ Type, Key string }

// RedrivesQuery finds the newest first attempt that redrives an execution.
type RedrivesQuery struct{ Execution rota.ID }

// AttemptsQuery finds the ids of all attempts of an execution, first to last.
type AttemptsQuery struct{ Execution rota.ID }

// ExpiredWaitsQuery finds the QUEUED jobs whose wait for dependencies ended at
// Now or before, by (wait_until, id).
type ExpiredWaitsQuery struct {
	Now   int64
	Limit int
}

// PendingIntentsQuery finds the intent records, by kind and name.
type PendingIntentsQuery struct{ Limit int }

// Intent records work that was decided for more rows than one command may
// change. Sweep executes it.
type Intent struct{ Kind, Name string }

// The kinds of intents. The name is the id of the group, the key, the template
// or the schedule. IntentKeys is for all keys after its name, which is empty
// or the last key that a Sweep has balanced.
const (
	IntentGroup    = "group"
	IntentKey      = "key"
	IntentKeys     = "keys"
	IntentTemplate = "template"
	IntentDrop     = "drop"
)

// DroppedJobsQuery finds jobs of a dropped schedule that were created before
// Before, in microseconds, at most Limit.
type DroppedJobsQuery struct {
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

// OwnedDefinitionsQuery finds templates and schedules of an owner other than admin, in any order.
type OwnedDefinitionsQuery struct {
	Owner string
	Limit int
}

// CertificateQuery finds the name of the user that has a certificate, "" if there is none.
type CertificateQuery struct{ Certificate string }

// RolesQuery finds the names of all roles. The store also puts the roles into the unit of work.
type RolesQuery struct{}

// ExpiredReservationsQuery finds the ids of reservations that ended before
// Before, by id.
type ExpiredReservationsQuery struct {
	Before int64
	Limit  int
}

// EndedTokensQuery finds the ids of tokens that were revoked, or else have
// expired, before Before, by that time and id.
type EndedTokensQuery struct {
	Before int64
	Limit  int
}

// ExpiredRequestsQuery finds the idempotency keys that were stored at By or
// before, by (at, actor, key).
type ExpiredRequestsQuery struct {
	By    int64
	Limit int
}

// TemplateSecretsQuery finds the keys of the secrets of a template, sorted.
type TemplateSecretsQuery struct{ Template string }

// AnySecretsQuery finds the first secrets by name.
type AnySecretsQuery struct{ Limit int }
