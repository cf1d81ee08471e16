package rules

import "github.com/rotajobs/rota"

// The kinds of rows that rules read and change. Each has its key, and the lock
// under which it is read and written.
var (
	UniqueKeys = newRows("unique keys", func(r *UniqueKeyRecord) UniqueKey { return r.Key },
		func(l *Locks, key UniqueKey) { l.UniqueKeys = append(l.UniqueKeys, key) })
	Types        = newRows("types", func(t *rota.Type) string { return t.Name }, lockType)
	Templates    = newRows("templates", func(t *rota.Template) string { return t.Name }, lockTemplate)
	Schedules    = newRows("schedules", func(s *rota.Schedule) string { return s.Name }, lockSchedule)
	Groups       = newRows("groups", func(g *rota.Group) rota.ID { return g.ID }, lockGroup)
	Reservations = newRows("reservations", func(r *rota.Reservation) rota.ID { return r.ID }, nil)
	Requests     = newRows("requests", func(r *Request) RequestKey { return r.Key },
		func(l *Locks, key RequestKey) { l.Requests = append(l.Requests, key) })
	Buckets  = newRows("buckets", func(b *rota.Bucket) string { return b.Type }, lockOpenType).underLock()
	Throttle = newRows("limits", func(*rota.Throttle) struct{} { return one }, func(l *Locks, _ struct{}) { l.Throttle = true })
	Webhooks = newRows("webhooks", func(*rota.Webhooks) struct{} { return one }, func(l *Locks, _ struct{}) { l.Webhooks = true })
	// IntentRecords are written without being read, and read by PendingIntents.
	IntentRecords    = newRows("intent records", func(i *Intent) Intent { return *i }, nil)
	DroppedSchedules = newRows("dropped schedules", func(d *Dropped) string { return d.Schedule }, lockSchedule)
)

// The kinds of queries that find rows by a key.
var (
	Retries = newQuery[rota.ID, rota.ID]("retries", nil) // the job that retries this one
	Chains  = newQuery[rota.ID, rota.ID]("chains", nil)  // the last job of the chain that contains this one
	Plans   = newQuery[Plan, rota.ID]("plans", func(l *Locks, p Plan) { l.Plans = append(l.Plans, p) })
	Tails   = newQuery[Tail, []LastJob]("tails", nil)
	Audits  = newQuery[rota.ID, bool]("audit entries", nil) // whether such an entry exists
	Active  = newQuery[struct{}, rota.ID]("active reservation", nil)
)

// The kinds of queries that find rows by a predicate. Other transactions may add
// rows that match it, so each belongs to a name, and the lock of that name
// covers it.
var (
	LiveJobs     = newPredicate[JobsOf, []rota.ID]("live jobs", func(l *Locks, q JobsOf) { lockSchedule(l, q.Schedule) })
	PlannedJobs  = newPredicate[Planned, []rota.ID]("planned jobs", func(l *Locks, q Planned) { lockSchedule(l, q.Schedule) })
	GroupMembers = newPredicate[Members, []rota.ID]("members", func(l *Locks, q Members) { lockGroup(l, q.Group) })
	BlockedJobs  = newPredicate[Blocked, []rota.ID]("blocked jobs", func(l *Locks, q Blocked) { lockSchedule(l, q.Schedule) })
	WaitingJobs  = newPredicate[OverlapWaiting, []rota.ID]("waiting jobs", func(l *Locks, q OverlapWaiting) { lockSchedule(l, q.Schedule) })
	LatestJobs   = newPredicate[Latest, rota.ID]("latest executions", func(l *Locks, q Latest) { lockSchedule(l, q.Schedule) })
	DependentsOf = newPredicate[Dependents, []string]("dependents", func(l *Locks, q Dependents) { lockSchedule(l, q.Schedule) })
	Dependencies = newPredicate[Reach, bool]("dependencies", func(l *Locks, _ Reach) { l.Graph = true })
	UsersOf      = newPredicate[Using, []string]("schedules of templates", func(l *Locks, q Using) { lockTemplate(l, q.Template) })
	KeyQueues    = newPredicate[KeyQueue, KeyQueueState]("key queues", func(l *Locks, q KeyQueue) { lockKey(l, q.Key) })
	OpenCounts   = newPredicate[OpenCount, int]("open jobs", func(l *Locks, q OpenCount) {
		if q.Key != "" {
			lockKey(l, q.Key)
		} else {
			lockOpenType(l, q.Type)
		}
	})
	Redrives = newPredicate[Redriven, rota.ID]("redrives", func(l *Locks, q Redriven) { l.Redriven = append(l.Redriven, q.Execution) })
	// The lock of the first attempt covers the other attempts.
	AttemptsOf    = newPredicate[Attempts, []rota.ID]("attempts", nil)
	OrderPages    = newPredicate[OrderPage, []rota.ID]("pages of the order", func(l *Locks, _ OrderPage) { l.Order = true })
	DroppedJobsOf = newPredicate[DroppedJobs, []rota.ID]("jobs of dropped schedules", func(l *Locks, q DroppedJobs) { lockSchedule(l, q.Schedule) })
	// The rows that these find are read again under their own locks.
	LateWaits         = newPredicate[ExpiredWaits, []rota.ID]("expired waits", nil)
	PendingIntents    = newPredicate[Intents, []Intent]("pending intents", nil)
	EndedReservations = newPredicate[ExpiredReservations, []rota.ID]("expired reservations", nil)
	OldRequests       = newPredicate[ExpiredRequests, []RequestKey]("expired requests", nil)
)

func lockType(l *Locks, name string)     { l.Types = append(l.Types, name) }
func lockTemplate(l *Locks, name string) { l.Templates = append(l.Templates, name) }
func lockSchedule(l *Locks, name string) { l.Schedules = append(l.Schedules, name) }
func lockGroup(l *Locks, id rota.ID)     { l.Groups = append(l.Groups, id) }
func lockKey(l *Locks, key string)       { l.ConcurrencyKeys = append(l.ConcurrencyKeys, key) }
func lockOpenType(l *Locks, name string) { l.OpenTypes = append(l.OpenTypes, name) }
