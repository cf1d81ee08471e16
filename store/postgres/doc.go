// Package postgres is the store that several processes share. It applies the same commands by the
// same rules as the SQLite store, in one schema of a PostgreSQL database. Any number of schedulers
// and workers may use one schema.
//
// No process is privileged. Advisory locks that end with the transaction serialize decisions that
// must not be taken at the same time, and constraints protect what may be written only once.
// PostgreSQL's clock stamps every batch.
//
// The store keeps no state in a connection, so that a pooler may lend it another backend for each
// transaction. If a connection has a backend of its own, the store keeps prepared statements in it
// and uses LISTEN and NOTIFY: a process notifies the others when jobs become ready. A notification
// is a hint. Every process also polls, in case one is lost.
//
// A result that Apply has returned is committed as synchronous_commit says, which is on by default.
package postgres

// The files correspond to those of the SQLite store. Where to start reading: store.go (Apply and
// its retries), tx.go (one transaction), session.go, param.go and row.go (the wire protocol),
// lock.go and read_set.go (concurrency control), listen.go (notifications between processes),
// commit_order.go (the order of events).
