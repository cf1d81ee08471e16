// Package worker runs jobs of a Rota server in another process, which may be on another
// machine. It is the engine, with the server in place of a store:
//
//	reg := engine.NewRegistry()
//	engine.Handle(reg, func(ctx context.Context, p Thumbnail) error { … })
//	err := worker.New("http://rota:7420", token, reg, worker.Config{}).Run(ctx)
//
// Handlers are those of package engine, and so are their logs, progress, results,
// timeouts and cancellations. The server owns the queue: it fires schedules, retries, and
// gives the jobs of a worker to others when it has received no heartbeat of the worker for
// the time of a lease.
//
// The worker retries until the server answers. The end of a run that the server could not
// record is sent when the server is back. If that takes longer than the lease, another
// attempt has replaced the run, and its end changes nothing. Workers in other languages use
// the same protocol: see docs/workers.md.
package worker
