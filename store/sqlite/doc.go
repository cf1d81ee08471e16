// Package sqlite is the embedded store: one file, one writer, readers beside
// it, every commit synced to disk.
//
// The file may hold its user's own tables too: those of Rota carry the prefix
// rota_. Beside app.db there are, while it is open,
//
//	app.db-wal    what was committed and not yet written back: a part of the store
//	app.db-shm    the index of that log, which SQLite can make again
//	app.db.lock   the lock of the process that holds the store, with its number
//
// The first two go when the last connection is closed; what a crash left of
// them is read by the next opening. The lock file stays, and holds nobody back
// once its process has ended. A copy of app.db alone is no backup while it is
// open: use [Store.Backup].
//
// One process holds a store, and opens it once. A second [Open] is refused as
// Busy, by this name or a symbolic link to it; hard links and network file
// systems are not supported. Other connections may read the file, and write to
// tables of their own. [Store.Apply] waits 10 seconds for one that is writing,
// or as long as its context allows, and is then Unavailable.
//
// The log is on and synchronous is FULL: what Apply has answered survives the
// end of the process and the loss of power.
package sqlite

// The files follow the verbs: enqueue.go writes new jobs, claim.go reads the
// heads of the order, finish.go writes what became of jobs and runs, order.go
// reads the queue, upkeep.go what is due, stale or left behind, query.go,
// list.go and count.go the typed reads. reader.go has how these come by a
// connection, and view.go the one that keeps its own.
//
// What jobs have to do with others stands by what it is about: types.go,
// template.go, schedule.go and throttle.go hold what is declared, and spec.go
// what these have in common; fire.go and depend.go the jobs of schedules and
// whom they wait for, group.go and member.go groups, lane.go concurrency keys,
// reservation.go direct runs, intent.go what a Sweep is to do, prune.go what
// leaves, due.go when which upkeep is due. request.go holds the keys of requests,
// stats.go counts what lives, watch.go tells what happened, backup.go copies it
// all.
