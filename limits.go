package rota

import "time"

// Limits on everything a command may carry. Each bounds what one request can
// cost a store or a reader.
const (
	BatchMax = 10_000 // commands in a batch: one transaction must stay short enough for the others to wait
	JobsMax  = 10_000 // jobs in one Enqueue: the atomic unit of POST /jobs/batch
	ClaimMax = 1_000  // jobs in one Claim: more would sit claimed but not started
	ItemsMax = 10_000 // leases in one Extend, Note or Finish
	PageMax  = 1_000  // rows a typed read answers with
	SweepMax = 1_000  // rows that one Ready, Reap, Recover or Drop touches, so that it never holds the writer for long
	OrderMax = 10_000 // rows that one Move or Normalise renumbers

	TypesMax = 256 // types in one Claim: each is a lane that the claim walks

	ScopesMax     = 1_000   // scopes of a schedule: one time fires as many jobs at once
	DependsMax    = 100     // schedules that one depends on
	ShardsMax     = 1_000   // shards of a schedule
	DependentsMax = 1_000   // schedules that depend on one: its end looks at them all
	FireJobsMax   = 50      // jobs in one Fire, unless a single time has more scopes
	CatchUpMax    = 1_000   // missed times that are caught up with
	BackfillMax   = 1_000   // times in one Backfill
	MembersMax    = 100     // members of a group that one command ends at once; Sweep ends the others
	PruneMax      = 1_000   // executions in one Prune
	ThrottleMax   = 1_000   // entries of a Throttle, which every claim looks at
	LimitMax      = 100_000 // of runs at once, and of starts in one period
	KeyLimitMax   = 1_000   // of runs at once of a concurrency key: as many are kept ready
	KeySpare      = 16      // jobs of a limited key that one command makes ready or holds back beyond its limit; Sweep does the rest

	CommandEntriesMax = 50_000   // jobs, items and artifacts of one command
	CommandBytesMax   = 32 << 20 // bytes of one command: what is valid can be encoded and sent
	ClaimBytesMax     = 32 << 20 // bytes of params in the answer to one Claim; the first job always comes

	ParamsMax     = 1 << 20  // bytes of a job's params
	ResultMax     = 64 << 10 // bytes of a run's result: results are facts, files are artifacts
	ErrorMax      = 16 << 10 // bytes of a run's error text; longer ones are cut, since refusing a Finish would lose its outcome
	ProgressMax   = 1 << 10  // bytes of a progress note, rewritten at every heartbeat
	NameMax       = 128      // bytes of a type, definition, worker or actor name
	KeyMax        = 512      // bytes of a unique key, scope id or error code: they stand in indexes
	EventErrorMax = 1 << 10  // bytes of an error text in an event: whoever wants all of it reads the run
	PathMax       = 4 << 10  // bytes of an artifact or log path
	ReasonMax     = 1 << 10  // bytes of a cancellation's reason
	ExpressionMax = 4 << 10  // bytes of the expression that picks shards
	ArtifactMax   = 1_000    // artifacts of one run

	WebhooksMax = 10      // webhooks of a template, and of all together: each event is a job for each of them
	TellMax     = 50_000  // deliveries of one command that makes jobs: one transaction writes them all
	URLMax      = 2 << 10 // bytes of a webhook's address
	DepthMax    = 500     // lists and objects inside each other in params, results and progress: readers give up on deeper ones
	TraceMax    = 55      // bytes of a traceparent: each has as many

	PriorityMin = -1_000_000 // bounds that leave room to compute with
	PriorityMax = 1_000_000

	LeaseMin = time.Second // a heartbeat comes every third of a lease; faster ones would be the load themselves
	LeaseMax = time.Hour   // the longest a dead process can hold its jobs
	YearMax  = 9999        // the last year that RFC 3339 can write

	RatePerMin     = time.Second // the period of a rate
	RatePerMax     = day
	ReservationMax = time.Hour // the longest that a dead caller can hold its node back

	DescriptionMax = 4 << 10        // bytes of a description
	SchemaMax      = 256 << 10      // bytes of a type's schema
	DelayMax       = 10 * 365 * day // how far a retry may be put off
	day            = 24 * time.Hour
)

// PositionGap is the distance between neighbours in the queue, so that a job
// can be moved between two others without touching them.
const PositionGap = 100

// Defaults of a job's policy.
const (
	DefaultPriority   = 0
	DefaultMaxRetries = 3
	DefaultBackoff    = 60 * time.Second
	DefaultTimeout    = 3600 * time.Second
	DefaultLease      = 30 * time.Second
	MaxRetriesMax     = 1_000 // a longer chain is a loop

	DefaultReservation = 5 * time.Minute
)

// Times that the law of schedules counts with.
const (
	MisfireGrace    = 60 * time.Second // later than this is a gap, for which the catch-up decides
	ReservationKeep = 30 * day         // how long a reservation that has ended is kept; Prune removes it then
	RequestKeep     = day              // how long the key of a request is remembered
	DependencyWait  = day              // how long the last execution of a schedule waits for its dependencies
)

// The scope of an execution that is for nothing in particular.
const (
	GlobalScopeKind = "global"
	GlobalScopeID   = "global"
)
