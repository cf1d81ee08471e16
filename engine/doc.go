// Package engine runs jobs: a registry of handlers, and the loops around them.
//
// Each loop is a small noun. The agenda knows when what is due and wakes the
// others; the desk records what has ended and claims what comes next, in one
// step; the pool runs handlers; the heart keeps their leases; the firer fires
// schedules; the sweeper, the reaper and the pruner see to the upkeep; the
// notifier tells of groups that have finished, and the reporter of what failed.
// They sleep until there is something to do.
//
// An engine that only works, by [Config.WorkOnly], has the desk, the pool and the
// heart alone. One whose store is far away, by [Config.Remote], has the caller
// besides, whose claims wait there; package worker has such a store.
//
// A handler is a function of a context and a payload. What it has to say while
// it runs goes through the context: [Log], [Output], [Progress], [Artifact],
// [Result]. An error means that the job is tried again, unless it is
// [rota.Permanent]; a context that ends means that it should stop.
//
// What is to go on around handlers is a [Middleware]: around all of them by
// [Registry.Use], around those of one type by [WithMiddleware].
package engine
