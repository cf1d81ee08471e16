package rules

import "github.com/rotajobs/rota"

// The questions that a step may put to a store besides rows by key. Each is
// answered with what the store holds; what the step itself has decided is laid
// over it by the world.

// JobsOf asks for the live jobs of a schedule and a scope, by id: those that
// wait behind an earlier execution, or those that do not.
type JobsOf struct {
	Schedule string
	Scope    rota.Scope // empty: global
	Waiting  bool       // with HoldOverlap
}

// jobsOfMax bounds the answer: more jobs than one command can end.
const jobsOfMax = rota.ItemsMax + 1

// Limit is how many jobs are wanted.
func (JobsOf) Limit() int { return jobsOfMax }

// Planned asks for the live planned jobs of a schedule, whatever their scope, by
// id, at most Limit of them.
type Planned struct {
	Schedule string
	Limit    int
}

// Members asks for live members of a group, by their place in it.
type Members struct {
	Group rota.ID
	Kind  MemberKind
	Limit int
}

// MemberKind picks members.
type MemberKind uint8

// The picks.
const (
	MembersLive   MemberKind = iota // all of them
	MembersQueued                   // those that have not started
	MembersEnding                   // those that have not started, and those that run and were not asked to stop
	MembersFirst                    // the first attempt of each, live or not
)

// Blocked asks for the QUEUED jobs of a schedule that wait for dependencies, by
// id, at most DependentsMax: those of a scope and the global ones, or all.
type Blocked struct {
	Schedule string
	Scope    rota.Scope
	Every    bool
}

// OverlapWaiting asks for the QUEUED jobs of a schedule that wait behind an earlier
// execution, whatever their scope, by id, at most DependentsMax.
type OverlapWaiting struct{ Schedule string }

// Latest asks for the first attempt of the execution that counts last for those
// that depend on a schedule: of a scope, after After, not after Until, in
// microseconds; the greatest (counts_at, id).
type Latest struct {
	Schedule     string
	Scope        rota.Scope // empty: global
	After, Until int64
}

// Dependents asks for the names of the schedules that depend on one, sorted, at
// most DependentsMax+1.
type Dependents struct{ Schedule string }

// Reach asks for what a schedule depends on, directly and through others: the
// edges of every schedule on the way, and its own.
type Reach struct{ Schedule string }

// Using asks for the names of the schedules of a template, sorted, at most Limit.
type Using struct {
	Template string
	Disabled bool // those that are DISABLED, too
	Limit    int
}

// KeyQueue asks how a concurrency key stands. Of its jobs no more are wanted than one
// command is likely to change.
type KeyQueue struct {
	Key       string
	Limit     int  // ids in each list
	Unlimited bool // the key has no limit: only who is held back matters
}

// KeyQueueState answers it: how many jobs of the key are open (RUNNING and not
// settled), and who else stands in its lane, by type.
type KeyQueueState struct {
	Open  int
	Types []KeyQueueType // sorted; of a Free lane those of which somebody is held back
}

// KeyQueueType is the part of a lane that one type has: how many are ready; the last
// of them, last first; the first of those that only the key holds back, first
// first. The jobs of both lists are put into the world as well, whole.
type KeyQueueType struct {
	Type       string
	Ready      int
	Last, Held []rota.ID
}

// Open asks how many jobs are open: of a concurrency key, of a type, or, with
// neither, of all but Rota's own types.
type Open struct{ Type, Key string }

// Redriven asks for the newest first attempt that tries an execution anew.
type Redriven struct{ Execution rota.ID }

// Attempts asks for the ids of all attempts of an execution, first to last.
type Attempts struct{ Execution rota.ID }

// ExpiredWaits asks for the QUEUED jobs that wait for dependencies until Now or less,
// by (wait_until, id).
type ExpiredWaits struct {
	Now   int64
	Limit int
}

// Intents asks for what is still to be carried out, by kind and name.
type Intents struct{ Limit int }

// Intent is something that was decided for more rows than a command may touch.
type Intent struct{ Kind, Name string }

// The kinds of intents; their names are the group's id, the key, the template,
// the schedule.
const (
	IntentGroup    = "group"
	IntentKey      = "key"
	IntentTemplate = "template"
	IntentDrop     = "drop"
)

// DroppedJobs asks for jobs of a schedule that was dropped: some of those that were made
// before Before, in microseconds, at most Limit.
type DroppedJobs struct {
	Schedule string
	Before   int64
	Kind     DroppedKind
	Limit    int
}

// DroppedKind picks some of them.
type DroppedKind uint8

// The picks.
const (
	DroppedRunning DroppedKind = iota // what runs and was not asked to stop, by id
	DroppedQueued                     // what is QUEUED, by id, the last first
	DroppedLive                       // all that lives, by id
	DroppedEnded                      // the last attempts of executions that have ended, by id
)

// ExpiredReservations asks for the ids of reservations that ended before Before, by id.
type ExpiredReservations struct {
	Before int64
	Limit  int
}

// ExpiredRequests asks for the keys of requests that were tied at By or before, by
// (at, actor, key).
type ExpiredRequests struct {
	By    int64
	Limit int
}
