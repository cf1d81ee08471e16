package rules

import "github.com/rotajobs/rota"

// The kinds of rows that rules read and change. Each has its key, and the lock
// under which it is read and written.
var (
	UniqueKeys = newRows("unique keys", func(r *UniqueKeyRecord) UniqueKey { return r.Key },
		func(key UniqueKey) Lock { return lockPair(LockUniqueKey, key.Type, key.Key) })
	Types        = newRows("types", func(t *rota.Type) string { return t.Name }, lockType)
	Templates    = newRows("templates", func(t *rota.Template) string { return t.Name }, lockTemplate)
	Schedules    = newRows("schedules", func(s *rota.Schedule) string { return s.Name }, lockSchedule)
	Groups       = newRows("groups", func(g *rota.Group) rota.ID { return g.ID }, lockGroup)
	Reservations = newRows("reservations", func(r *rota.Reservation) rota.ID { return r.ID }, nil)
	Requests     = newRows("requests", func(r *Request) RequestKey { return r.Key },
		func(key RequestKey) Lock { return lockPair(LockRequest, key.Actor, key.Key) })
	Buckets  = newRows("buckets", func(b *rota.Bucket) string { return b.Type }, lockOpenType).underLock()
	Throttle = newRows("limits", func(*rota.Throttle) struct{} { return one }, lockOne[struct{}](LockThrottle))
	Webhooks = newRows("webhooks", func(*rota.Webhooks) struct{} { return one }, lockOne[struct{}](LockWebhooks))
	// IntentRecords are written without being read, and read by PendingIntents.
	IntentRecords    = newRows("intent records", func(i *Intent) Intent { return *i }, nil)
	DroppedSchedules = newRows("dropped schedules", func(d *Dropped) string { return d.Schedule }, lockSchedule).underLock()
)

// The kinds of queries that find rows by a key.
var (
	Retries = newQuery[rota.ID, rota.ID]("retries", nil) // the job that retries this one
	Chains  = newQuery[rota.ID, rota.ID]("chains", nil)  // the last job of the chain that contains this one
	Plans   = newQuery[Plan, rota.ID]("plans", nil)      // a unique index of the store takes the place of a lock
	Tails   = newQuery[Tail, []LastJob]("tails", nil)
	Audits  = newQuery[rota.ID, bool]("audit entries", nil) // whether such an entry exists
	Active  = newQuery[struct{}, rota.ID]("active reservation", nil)
)

// The kinds of queries that find rows by a predicate. Other transactions may add
// rows that match it, so each belongs to a name, and the lock of that name
// covers it.
var (
	LiveJobs     = newPredicate[JobsOf, []rota.ID]("live jobs", func(q JobsOf) Lock { return lockSchedule(q.Schedule) })
	PlannedJobs  = newPredicate[Planned, []rota.ID]("planned jobs", func(q Planned) Lock { return lockSchedule(q.Schedule) })
	GroupMembers = newPredicate[Members, []rota.ID]("members", func(q Members) Lock { return lockGroup(q.Group) })
	BlockedJobs  = newPredicate[Blocked, []rota.ID]("blocked jobs", func(q Blocked) Lock { return lockSchedule(q.Schedule) })
	WaitingJobs  = newPredicate[OverlapWaiting, []rota.ID]("waiting jobs", func(q OverlapWaiting) Lock { return lockSchedule(q.Schedule) })
	LatestJobs   = newPredicate[Latest, rota.ID]("latest executions", func(q Latest) Lock { return lockSchedule(q.Schedule) })
	DependentsOf = newPredicate[Dependents, []string]("dependents", func(q Dependents) Lock { return lockSchedule(q.Schedule) })
	Dependencies = newPredicate[Reach, bool]("dependencies", lockOne[Reach](LockGraph))
	UsersOf      = newPredicate[Using, []string]("schedules of templates", func(q Using) Lock { return lockTemplate(q.Template) })
	KeyQueues    = newPredicate[KeyQueue, KeyQueueState]("key queues", func(q KeyQueue) Lock { return lockKey(q.Key) })
	OpenCounts   = newPredicate[OpenCount, int]("open jobs", func(q OpenCount) Lock {
		if q.Key != "" {
			return lockKey(q.Key)
		}
		return lockOpenType(q.Type)
	})
	Redrives = newPredicate[Redriven, rota.ID]("redrives", func(q Redriven) Lock { return Lock{LockRedriven, string(q.Execution[:])} })
	// The lock of the first attempt covers the other attempts.
	AttemptsOf    = newPredicate[Attempts, []rota.ID]("attempts", nil)
	OrderPages    = newPredicate[OrderPage, []rota.ID]("pages of the order", lockOne[OrderPage](LockOrder))
	DroppedJobsOf = newPredicate[DroppedJobs, []rota.ID]("jobs of dropped schedules", func(q DroppedJobs) Lock { return lockSchedule(q.Schedule) })
	// The rows that these find are read again under their own locks.
	LateWaits         = newPredicate[ExpiredWaits, []rota.ID]("expired waits", nil)
	PendingIntents    = newPredicate[Intents, []Intent]("pending intents", nil)
	EndedReservations = newPredicate[ExpiredReservations, []rota.ID]("expired reservations", nil)
	OldRequests       = newPredicate[ExpiredRequests, []RequestKey]("expired requests", nil)
)

func lockType(name string) Lock     { return Lock{LockType, name} }
func lockTemplate(name string) Lock { return Lock{LockTemplate, name} }
func lockSchedule(name string) Lock { return Lock{LockSchedule, name} }
func lockGroup(id rota.ID) Lock     { return Lock{LockGroup, string(id[:])} }
func lockKey(key string) Lock       { return Lock{LockKeyQueue, key} }
func lockOpenType(name string) Lock { return Lock{LockOpen, name} }

func lockPair(c LockClass, first, second string) Lock { return Lock{c, first + "\x00" + second} }

// lockOne returns the lock of what there is one of.
func lockOne[K any](c LockClass) func(K) Lock { return func(K) Lock { return Lock{Class: c} } }
