// Package rota defines the vocabulary of Rota, a durable job scheduler, queue and
// runner: entities and their states, the closed set of commands that change them,
// the contract of a store, and one error type.
//
// The one idea: a [Store] applies batches of commands. Every other part either
// creates commands or is a store in front of a store. A [Command] is a plain struct. It contains no clock, no
// randomness and no code, so the same batch applied twice, or on two machines, gives
// the same rows.
//
// A job is one attempt, in the queue or out of it. A [Run] is the lease and the
// outcome of one job, created when the job is dispatched. An execution is a job and
// its retries; its id is the id of the first job.
//
// # Where to start
//
// A Go program uses [Client] to submit jobs and package engine to run handlers. The
// rest of this page is for readers of the lower layers.
//
// [Client.EnqueueTx] submits a job in a transaction of the program: a [TxStore] applies
// its commands there, and [ApplyTx] finds that store behind wrappers.
//
// Package store/sqlite opens a [Store]. It applies a [Batch]; [Do] applies one
// command. [Enqueue] adds jobs to the queue, [Claim] leases them to a worker, [Extend]
// extends the leases, and [Finish] records the outcomes. Every process that runs jobs
// also sends maintenance commands: [Recover] once at its start, then [Ready] for jobs that
// become due and [Reap] for workers that died; and [Fire], [Expire], [Sweep] and
// [Prune] for schedules, dependencies, groups and history. The examples of
// store/sqlite show one round and a whole worker.
//
// [Declare] builds the command that declares a schedule, and [PlanFire] the command
// that fires it. [Store.NextDue] returns when there is something to fire, to expire or
// to sweep.
//
// # Which reply answers which command
//
//	Enqueue    *Enqueued       the jobs, or the jobs that hold their keys
//	Ready      *Readied        how many jobs became ready
//	Claim      *Claimed        the jobs, each with its run and token
//	Extend     *Extended       the state of each lease, and which runs should stop
//	Note       *Noted          the same
//	Finish     *Finished       what was recorded, and the retry
//	Cancel     *CancelledJob   the job, and whether it is still running
//	Edit       *Edited         the job
//	Move       *Moved          the job
//	Normalise  *Normalised     how many jobs changed, and where the next page starts
//	Reap       *Reaped         what was done with each job
//	Recover    *Recovered      what was done with each job
//	All        *AllDone        the replies of its members
//
//	PutType, SwitchType              *TypePut          the type, and whether anything changed
//	PutTemplate, Archive, Unarchive  *TemplatePut      the template, and how many schedules it disabled
//	PutSchedule, SwitchSchedule      *SchedulePut      the schedule
//	DeleteSchedule                   *ScheduleDeleted  whether it existed
//	Drop                             *Dropped          how many jobs were cancelled or asked to stop
//	PutThrottle                      *ThrottlePut      the limits
//	PutWebhooks                      *WebhooksPut      the webhooks
//	Fire                             *Fired            the jobs, or that the schedule has changed
//	Trigger                          *Triggered        the jobs
//	Backfill                         *Backfilled       the jobs, and how many existed already
//	EnqueueGroup                     *GroupEnqueued    the group and its jobs
//	CancelGroup                      *CancelledGroup   how many jobs were cancelled or asked to stop
//	Reserve                          *Reserved         the reservation
//	Direct                           *Directed         the job with its run and token
//	Release                          *Released         the reservation
//	Expire                           *Expired          the skipped jobs and the jobs that became ready
//	Sweep                            *Swept            how many rows it changed, and whether there are more
//	Prune                            *Pruned           how much was deleted, and what was kept
//	Redrive                          *Redriven         the new job
//	SetOwner                         *OwnerSet         the template and the schedule
//	Remember                         *Remembered       the command of the key, and whether the key was known
//	PutPrincipal                     *PrincipalPut     the user or role, and whether anything changed
//	DropPrincipal                    *PrincipalDropped whether an earlier sending dropped it
//	GrantPrivileges                  *Granted          the users and roles, and whether anything changed
//	PutToken                         *TokenPut         the token, without its secret
//	RevokeToken                      *TokenRevoked     the token, and whether it was revoked before
//	TouchTokens                      *TokensTouched    how many tokens changed
//	RecordAccess                     *AccessRecorded   how many entries were written
//	PutSecret                        *SecretPut        the secret without its ciphertext, and whether anything changed
//	DeleteSecret                     *SecretDeleted    whether an earlier sending deleted it
//	RewrapSecrets                    *SecretsRewrapped how many ciphertexts were replaced
//	PromoteSecretKey                 *SecretKeyPromoted whether anything changed
//
// A command that is refused has an [Error] in place of a reply.
package rota
