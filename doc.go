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
// ended. Three keepers belong to every process that runs jobs: [Recover] once
// at its start, then [Ready] for what becomes due and [Reap] for workers that
// are gone. The examples of store/sqlite show one round, and a whole worker.
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
// A command that is refused has an [Error] in place of a reply.
package rota
