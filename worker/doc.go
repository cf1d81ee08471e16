// Package worker runs jobs of a Rota server in another process, on another
// machine if need be. It is the engine, with the server in place of a store:
//
//	reg := engine.NewRegistry()
//	engine.Handle(reg, func(ctx context.Context, p Thumbnail) error { … })
//	err := worker.New("http://rota:7420", token, reg, worker.Config{}).Run(ctx)
//
// Handlers are those of package engine, and so are their logs, progress, results,
// time-outs and cancellations. What differs is who keeps the queue: the server
// fires schedules, retries, and gives a worker's jobs to others when nothing was
// heard of it for a lease.
//
// A server that does not answer is waited for. What a handler did while the
// server was away is told when it is back; if that takes longer than the lease,
// another attempt stands for the run, and what this one says changes nothing.
// Workers in other languages speak the same protocol: see docs/workers.md.
package worker
