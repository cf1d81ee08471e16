// Package sqlite is the SQLite store: one file with one writer and concurrent readers. Every
// commit is synced to disk.
//
// The file may also hold tables of its user. The tables of Rota have the prefix rota_. While the
// store is open there are these files beside app.db:
//
//	app.db-wal    write-ahead log: commits that are not yet in app.db. It is part of the store.
//	app.db-shm    index of the log, which SQLite can rebuild
//	app.db.lock   lock of the process that has the store open, with its process id
//
// SQLite removes the first two when the last connection is closed. After a crash the next Open
// reads what is left of them. The lock file stays, and locks nothing after its process has ended. A
// copy of app.db alone is not a backup while the store is open: use [Store.Backup].
//
// One process opens a store, and opens it once. A second [Open] by the same path or by a symbolic
// link to it returns Busy. Hard links and network file systems are not supported. Other connections
// may read the file and write to tables of their own. While another connection writes,
// [Store.Apply] waits 10 seconds, or until its context ends, and then returns Unavailable.
//
// [Store.ApplyTx] applies commands in a transaction of the user of the file: a *sql.Tx of the driver
// modernc.org/sqlite, which uses the same copy of SQLite. How safely such a commit is stored depends on
// PRAGMA synchronous of that connection, which is FULL unless the user changes it.
//
// The write-ahead log is on and synchronous is FULL: a result that Apply has returned survives the
// end of the process and the loss of power.
package sqlite

// The files are named by the commands and rows that they implement. enqueue.go inserts jobs,
// claim.go reads the candidates of a claim, change.go updates jobs and runs, order.go reads the
// order of the queue, maintenance.go reads jobs that are due, stale or unsettled. list.go, queue.go,
// stats.go and count.go are the reads. reader.go gives them a connection, view.go one that keeps its
// snapshot.
//
// ApplyTx: caller_tx.go checks the transaction of the caller, library.go has the SQL functions that this
// needs, caller_writer.go applies a batch, caller_conn.go and caller_row.go execute its statements,
// pending.go finds out what became of it.
//
// Rows related to jobs: schedule.go, fire.go and depend.go hold schedules, their jobs and their
// dependencies, group.go groups, key_queue.go concurrency keys, limits_cache.go limits, reservation.go
// the active reservation, request.go idempotency keys, delete_job.go deletes jobs. watch.go publishes
// events, backup.go copies the store. The columns of all rows are in internal/storekit.
