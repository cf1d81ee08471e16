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
package rota
