package rota

import "time"

// Limits on the size of commands and replies. Each bounds the cost of one request for a
// store or a reader.
const (
	BatchMax = 10_000 // commands in a batch: other transactions wait for this one
	JobsMax  = 10_000 // jobs in one Enqueue: the atomic unit of POST /jobs/batch
	ClaimMax = 1_000  // jobs in one Claim: more would be claimed long before they start
	ItemsMax = 10_000 // leases in one Extend, Note or Finish
	PageMax  = 1_000  // rows in the answer of a read
	SweepMax = 1_000  // rows that one Ready, Reap, Recover, Expire, Sweep, Archive or Drop changes, so that the transaction stays short
	OrderMax = 10_000 // rows that one Move or Normalise renumbers

	TypesMax = 256 // types in one Claim: the claim reads a queue for each of them

	ScopesMax     = 1_000   // scopes of a schedule: each time fires one job per scope
	DependsMax    = 100     // schedules that a schedule depends on
	ShardsMax     = 1_000   // shards of a schedule
	DependentsMax = 1_000   // schedules that depend on a schedule: its end evaluates all of them
	FireJobsMax   = 50      // jobs in one Fire; more if a single time has more scopes
	CatchUpMax    = 1_000   // missed times that catch-up fires
	BackfillMax   = 1_000   // times in one Backfill
	MembersMax    = 100     // members of a group that one command ends; Sweep ends the others
	PruneMax      = 1_000   // executions in one Prune
	PruneRowsMax  = 5_000   // rows of the executions that one Prune examines, with the audit entries of their attempts; the last execution may exceed it
	ThrottleMax   = 1_000   // entries of a Throttle, which every claim reads
	LimitMax      = 100_000 // largest concurrency limit, and largest count of a rate
	KeyLimitMax   = 1_000   // largest limit of a concurrency key: that many jobs are kept ready
	SweepKeysMax  = 100     // concurrency keys that one Sweep visits after the limits of all keys changed
	KeySpare      = 16      // jobs of a limited key that one command may change beyond the limit; Sweep changes the others

	CommandEntriesMax = 50_000   // jobs, items and artifacts of one command
	ExpectMax         = 50_000   // templates and schedules on whose state one command depends
	CommandBytesMax   = 32 << 20 // bytes of one command, so that every valid command can be encoded and sent
	ClaimBytesMax     = 32 << 20 // bytes of params in the reply to one Claim; the first job is always included

	ParamsMax     = 1 << 20  // bytes of a job's params
	ResultMax     = 64 << 10 // bytes of a run's result; use artifacts for more
	ErrorMax      = 16 << 10 // bytes of a run's error text; a longer one is truncated, since refusing the Finish would lose the outcome
	ProgressMax   = 1 << 10  // bytes of a progress note, which every heartbeat rewrites
	NameMax       = 128      // bytes of a type, definition, worker or actor name
	KeyMax        = 512      // bytes of a unique key, scope id or error code: they are indexed
	EventErrorMax = 1 << 10  // bytes of an error text in an event; the run has the whole text
	PathMax       = 4 << 10  // bytes of an artifact or log path
	ReasonMax     = 1 << 10  // bytes of a cancellation's reason
	ExpressionMax = 4 << 10  // bytes of the expression that picks shards
	ArtifactMax   = 1_000    // artifacts of one run

	WebhooksMax   = 10      // webhooks of a template, and global webhooks: each event creates one job per webhook
	DeliveriesMax = 50_000  // deliveries that one command creates, all in one transaction
	URLMax        = 2 << 10 // bytes of a webhook's address
	DepthMax      = 500     // nesting depth of params, results and progress; common JSON readers fail on deeper ones
	TraceMax      = 55      // bytes of a traceparent

	PriorityMin = -1_000_000 // bounds that cannot overflow in computations
	PriorityMax = 1_000_000

	LeaseMin = time.Second // a heartbeat is sent every third of a lease; shorter leases would cause most of the load
	LeaseMax = time.Hour   // longest time that a dead process holds its jobs
	YearMax  = 9999        // last year that RFC 3339 can write

	RatePerMin     = time.Second // period of a rate
	RatePerMax     = day
	ReservationMax = time.Hour // longest time that a dead caller stops its node

	GranteesMax    = 100       // principals that one GrantPrivileges changes
	GrantsMax      = 10_000    // grants of a principal, which are stored in one row
	MembershipsMax = 1_000     // roles of a principal
	RoleLevelsMax  = 64        // roles on the longest path from a role to the roles it is a member of, itself included
	SecretMax      = 64 << 10  // bytes of the value of a secret
	SecretBytesMax = 256 << 10 // bytes of the values of all secrets of a template: each of its jobs may get all of them
	SecretKeyMax   = 128       // bytes of the key of a secret
	SecretsMax     = 100       // secrets of a template: a job of type exec gets all of them
	SealedMax      = 96 << 10  // bytes of the text of a ciphertext: SecretMax in base64, with its fingerprint
	RewrapMax      = 100       // secrets in one RewrapSecrets
	FingerprintLen = 16        // hexadecimal digits of the fingerprint of a key

	AccessRecordsMax = 1_000      // entries of one RecordAccess, and uses of one TouchTokens
	AccessCountMax   = 1 << 30    // largest count of an AccessRecord
	TokenIDMin       = 8          // characters of the id of a token
	TokenIDMax       = 32         // characters of the id of a token
	TokenMax         = 3653 * day // longest life of a token with an expiry: ten years with their leap days

	DescriptionMax = 4 << 10        // bytes of a description
	SchemaMax      = 256 << 10      // bytes of a type's schema
	DelayMax       = 10 * 365 * day // longest delay of a job or retry
	day            = 24 * time.Hour
)

// PositionGap is the distance between adjacent positions, so that a job can be moved
// between two others without changing them.
const PositionGap = 100

// Defaults of a job's policy.
const (
	DefaultPriority   = 0
	DefaultMaxRetries = 3
	DefaultBackoff    = 60 * time.Second
	DefaultTimeout    = 3600 * time.Second
	DefaultLease      = 30 * time.Second
	MaxRetriesMax     = 1_000 // a longer chain is most likely an endless loop

	DefaultReservation = 5 * time.Minute
)

// Durations that the rules use.
const (
	MisfireGrace    = 60 * time.Second // longest lateness for which each due time fires; beyond it, catch-up decides
	ReservationKeep = 30 * day         // how long an ended reservation is kept before Prune deletes it
	TokenKeep       = 30 * day         // how long a token is kept after it was revoked or has expired, before Prune deletes it
	RequestKeep     = day              // how long an idempotency key is kept
	DependencyWait  = day              // wait for dependencies of a schedule without a next time
)

// The scope of an execution without a scope.
const (
	GlobalScopeKind = "global"
	GlobalScopeID   = "global"
)

// ItemScopeKind is the kind of the scope of a job that another program has put into a DynamoDB table as an
// item. The id of the scope is the sort key of the item. That program has chosen the id of the job, which may
// be a UUID of any version.
const ItemScopeKind = "dynamodb-item"
