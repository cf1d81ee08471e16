// Package engine runs jobs: it holds a registry of handlers and the loops that
// claim jobs, run their handlers and record how they ended.
//
// Each loop has one task and a file of its own. The dispatcher records ends and
// claims the next jobs in one batch. The pool runs handlers. The heartbeat extends
// leases. The due checker reads when the next thing is due and wakes the loop that
// does it. The firer fires schedules. The sweeper, the reaper and the pruner do
// the maintenance. The notifier publishes groups that have finished, and the reporter
// reports failures. Every loop sleeps until it has something to do. Start reading
// at [Engine.Run].
//
// With [Config.WorkOnly], an engine has only the dispatcher, the pool and the
// heartbeat. With [Config.Remote], whose store is a server reached over the
// network, it also has the remote claimer, which sends long polls. Package worker
// has such a store.
//
// A handler is a function of a context and a payload. It reports through the
// context while it runs: [Log], [Output], [Progress], [Artifact], [Result]. An
// error causes a retry, unless it is [rota.Permanent]. When the context ends, the
// handler should return.
//
// A handler that changes data in the database of the store can end its run in the same
// transaction: [CompleteTx]. The data and the end of the run are then committed together.
//
// A [Middleware] wraps handlers: all of them with [Registry.Use], those of one type
// with [WithMiddleware].
package engine
