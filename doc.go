// Package rota is the dictionary of Rota, a durable job scheduler, queue and
// runner: its entities and their states, the closed set of commands that
// change them, the contract every store keeps, one error type, and the codec
// of a batch.
//
// The one idea is that a [Store] applies batches of commands, and everything
// else is a store in front of a store. A [Command] is a plain struct that says
// what should happen; it holds no clock, no randomness and no code, so that
// the same batch applied twice, or on two machines, leaves the same rows.
//
// The words: a job is one attempt, in the queue or out of it; a [Run] is the
// lease and the outcome of one job, made when the job is dispatched; an
// execution is a job and its retries, named by the id of its first job.
//
// # Where to begin
//
// Package store/sqlite opens a [Store]. A [Batch] is what it applies, and [Do]
// applies a single command. [Enqueue] puts jobs into the queue, [Claim] leases
// them to a worker, [Extend] keeps the leases, and [Finish] says how the jobs
// ended. Keepers belong to every process that runs jobs: [Recover] once at its
// start, then [Ready] for what becomes due and [Reap] for workers that are gone;
// and [Fire], [Expire], [Sweep] and [Prune] where there are schedules,
// dependencies, groups and a history. The examples of store/sqlite show one round, and a whole worker.
//
// [Declare] makes the command that declares a schedule, and [PlanFire] the one
// that fires it. [Store.NextDue] says when there is something to fire, to expire
// or to sweep.
//
// # Which reply answers which command
//
//	Enqueue    *Enqueued       the jobs, or those that hold their keys
//	Ready      *Readied        how many took their place
//	Claim      *Claimed        the jobs, each with its run and token
//	Extend     *Extended       how each lease stands, and who should stop
//	Note       *Noted          the same
//	Finish     *Finished       what was recorded, and the retry
//	Cancel     *CancelledJob   the job, and whether it still runs
//	Edit       *Edited         the job
//	Move       *Moved          the job
//	Normalise  *Normalised     how many changed, and where the next page begins
//	Reap       *Reaped         what was settled
//	Recover    *Recovered      what was settled
//	All        *AllDone        the replies of its members
//
//	PutType, SwitchType              *TypePut          the type, and whether anything changed
//	PutTemplate, Archive, Unarchive  *TemplatePut      the template, and how many schedules it disabled
//	PutSchedule, SwitchSchedule      *SchedulePut      the schedule
//	DeleteSchedule                   *ScheduleDeleted  whether it was gone already
//	Drop                             *Dropped          what was cancelled and asked to stop at once
//	PutThrottle                      *ThrottlePut      the limits
//	PutWebhooks                      *WebhooksPut      the webhooks
//	Fire                             *Fired            the jobs, or that somebody else came first
//	Trigger                          *Triggered        the jobs
//	Backfill                         *Backfilled       the jobs, and how many there were already
//	EnqueueGroup                     *GroupEnqueued    the group and its jobs
//	CancelGroup                      *CancelledGroup   what was done at once
//	Reserve                          *Reserved         the reservation
//	Direct                           *Directed         the job with its run and token
//	Release                          *Released         the reservation
//	Expire                           *Expired          what was skipped, what was let go
//	Sweep                            *Swept            how many rows it touched, and whether there are more
//	Prune                            *Pruned           how much went, and what was kept
//	Redrive                          *Redriven         the new job
//
// A command that is refused has an [Error] in place of a reply.
package rota
