// Package sqlite is the embedded store: one file, one writer, readers beside
// it, every commit synced to disk. Tables carry the prefix rota_, so the file
// may hold its user's own tables too.
//
// The files follow the verbs: enqueue.go writes new jobs, claim.go reads the
// heads of the order, finish.go writes what became of jobs and runs, order.go
// reads the queue, upkeep.go what is due, stale or left behind, query.go the
// typed reads.
package sqlite
