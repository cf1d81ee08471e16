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
	IntentRecords = newRows("intent records", func(i *Intent) Intent { return *i }, nil)
	Principals    = newRows("principals", func(p *rota.Principal) string { return p.Name }, lockOne[string](LockAccess))
	AccessTokens  = newRows("tokens", func(t *rota.AccessToken) string { return t.ID }, lockOne[string](LockAccess)).underLock()
	AccessState   = newRows("access state", func(*rota.AccessState) struct{} { return one }, lockOne[struct{}](LockAccessState))
	Secrets       = newRows("secrets", func(s *rota.Secret) rota.SecretName { return rota.SecretName{Template: s.Template, Key: s.Key} },
		func(n rota.SecretName) Lock { return lockTemplate(n.Template) }).underLock()
	SecretKeys       = newRows("secret keys", func(*rota.SecretState) struct{} { return one }, lockOne[struct{}](LockSecretKey)).underLock()
	DroppedSchedules = newRows("dropped schedules", func(d *Dropped) string { return d.Schedule }, lockSchedule).underLock()
)

// The kinds of queries that find rows by a key.
var (
	Retries = newQuery[rota.ID, rota.ID]("retries", nil) // the job that retries this one
	Chains  = newQuery[rota.ID, rota.ID]("chains", nil)  // the last job of the chain that contains this one
	Plans   = newQuery[rota.ID, Plan]("plans", nil)      // a unique index of the store takes the place of a lock
	Tails   = newQuery[[]LastJob, Tail]("tails", nil)
	Audits  = newQuery[bool, rota.ID]("audit entries", nil) // whether such an entry exists
	// LowerPriorities finds the next lower priority that has QUEUED jobs, nil if there is none.
	LowerPriorities = newQuery[*int, int]("lower priorities", nil)
	Active          = newQuery[rota.ID, struct{}]("active reservation", nil)
)

// The kinds of queries that find rows by a predicate. Other transactions may add
// rows that match it, so each belongs to a name, and the lock of that name
// covers it.
var (
	LiveJobs          = newPredicate[[]rota.ID]("live jobs", func(q LiveJobsQuery) Lock { return lockSchedule(q.Schedule) })
	PlannedJobs       = newPredicate[[]rota.ID]("planned jobs", func(q PlannedJobsQuery) Lock { return lockSchedule(q.Schedule) })
	GroupMembers      = newPredicate[[]rota.ID]("members", func(q GroupMembersQuery) Lock { return lockGroup(q.Group) })
	BlockedJobs       = newPredicate[[]rota.ID]("blocked jobs", func(q BlockedJobsQuery) Lock { return lockSchedule(q.Schedule) })
	WaitingJobs       = newPredicate[[]rota.ID]("waiting jobs", func(q WaitingJobsQuery) Lock { return lockSchedule(q.Schedule) })
	LatestJobs        = newPredicate[rota.ID]("latest executions", func(q LatestJobsQuery) Lock { return lockSchedule(q.Schedule) })
	Dependents        = newPredicate[[]string]("dependents", func(q DependentsQuery) Lock { return lockSchedule(q.Schedule) })
	Dependencies      = newPredicate[bool]("dependencies", lockOne[DependenciesQuery](LockGraph))
	TemplateSchedules = newPredicate[[]string]("schedules of templates", func(q TemplateSchedulesQuery) Lock { return lockTemplate(q.Template) })
	KeyQueues         = newPredicate[KeyQueueState]("key queues", func(q KeyQueue) Lock { return lockKey(q.Key) })
	KeyTypes          = newPredicate[[]string]("types of keys", func(q KeyTypesQuery) Lock { return lockKey(q.Key) })
	OpenCounts        = newPredicate[int]("open jobs", func(q OpenCount) Lock {
		if q.Key != "" {
			return lockKey(q.Key)
		}
		return lockOpenType(q.Type)
	})
	Redrives = newPredicate[rota.ID]("redrives", func(q RedrivesQuery) Lock { return Lock{LockRedriven, string(q.Execution[:])} })
	// The lock of the first attempt covers the other attempts.
	Attempts   = newPredicate[[]rota.ID, AttemptsQuery]("attempts", nil)
	OrderPages = newPredicate[[]rota.ID]("pages of the order", lockOne[OrderPage](LockOrder))
	// OwnedDefinitions finds the subjects of definitions of an owner.
	OwnedDefinitions = newPredicate[[]string]("owned definitions", lockOne[OwnedDefinitionsQuery](LockAccess))
	// CertificateUsers finds the user of a certificate, Roles the names of all roles.
	CertificateUsers = newPredicate[string]("users of certificates", lockOne[CertificateQuery](LockAccess))
	Roles            = newPredicate[[]string]("roles", lockOne[RolesQuery](LockAccess))
	// TemplateSecrets finds the keys of the secrets of a template, AnySecrets the names of some secrets.
	TemplateSecrets = newPredicate[[]string]("secrets of templates", func(q TemplateSecretsQuery) Lock { return lockTemplate(q.Template) })
	AnySecrets      = newPredicate[[]rota.SecretName]("any secrets", lockOne[AnySecretsQuery](LockSecretKey))
	DroppedJobs     = newPredicate[[]rota.ID]("jobs of dropped schedules", func(q DroppedJobsQuery) Lock { return lockSchedule(q.Schedule) })
	// The rows that these find are read again under their own locks.
	ExpiredWaits        = newPredicate[[]rota.ID, ExpiredWaitsQuery]("expired waits", nil)
	LiveKeys            = newPredicate[[]string, LiveKeysQuery]("live keys", nil)
	PendingIntents      = newPredicate[[]Intent, PendingIntentsQuery]("pending intents", nil)
	ExpiredReservations = newPredicate[[]rota.ID, ExpiredReservationsQuery]("expired reservations", nil)
	EndedTokens         = newPredicate[[]string, EndedTokensQuery]("ended tokens", nil)
	ExpiredRequests     = newPredicate[[]RequestKey, ExpiredRequestsQuery]("expired requests", nil)
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
