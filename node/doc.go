// Package node runs everything of Rota in one process: it opens the store,
// recovers what an earlier life left, runs jobs, answers over HTTP and on the SQL
// port, and stops in an order that loses nothing.
//
//	config, err := node.Load("", os.Getenv)   // rota.yaml, ROTA_… and defaults
//	n, err := node.Open(ctx, config)          // data directory, lock, store, address
//	err = n.Run(ctx)                          // until ctx ends; then it drains
//
// The data directory belongs to one process at a time. It holds
//
//	rota.db       the store, unless another one is named
//	rota.lock     who holds the directory: the number of the process
//	rota.addr     where it listens, as JSON, while it does
//	admin.token   the bearer token of the API, made at the first start, mode 0600
//	admin.scram   what clients of the SQL port prove it against
//	logs/         what runs wrote: logs/YYYY-MM-DD/JOB.log, by the UTC day they began
//	rota.scratch/ what a backup is made in; what a crash left there is removed at the next start
package node

// The files follow the life of a node: config.go says what it is given,
// setting.go and kind.go how that is read, load.go and file.go from where;
// data.go, lock_unix.go, token.go and addr.go keep the directory; open.go puts the parts
// together, http.go and sql.go its faces, node.go runs them, stop.go ends them. logs.go, log_file.go and
// log_days.go keep what runs write; metrics.go, counted.go and metered.go count.
