// Package node runs all parts of Rota in one process: it opens the store,
// recovers the runs that an earlier process left, runs jobs, serves HTTP and the
// SQL port, and stops in an order that loses nothing.
//
//	config, err := node.Load("", os.Getenv)   // rota.yaml, ROTA_… and defaults
//	n, err := node.Open(ctx, config)          // data directory, lock, store, address
//	err = n.Run(ctx)                          // until ctx ends; then it drains
//
// A program that runs a store and an engine itself serves only the API, with Serve.
//
// The data directory belongs to one process at a time. It holds
//
//	rota.db       the store, unless the configuration names another one
//	rota.lock     the lock of the directory, with the process id of its holder
//	rota.addr     the addresses the process listens on, as JSON, while it runs
//	admin.token   the bearer token of the API, created at the first start, mode 0600
//	admin.scram   the SCRAM verifier of that token, for clients of the SQL port
//	logs/         the logs of runs: logs/YYYY-MM-DD/JOB.log, by the UTC day of their start
//	rota.scratch/ temporary files of backups; the next start removes what a crash left
package node

// Start reading at open.go, which puts the parts together; node.go runs and stops
// them. config.go declares the configuration; setting.go and kind*.go parse it;
// load.go, file.go and target.go read it from the file, the environment and flags.
// data.go, lock_*.go and token.go manage the data directory. http.go and sql.go
// serve the API and the SQL port; serve.go serves the API of an embedded queue. logs.go and log_file.go store the logs of runs.
// metrics*.go, event_counter.go and store_monitor.go produce the metrics.
