// Package postgres is the store of many processes: the same commands and the
// same law as in the embedded store, in a schema of a PostgreSQL database that
// any number of schedulers and runners share.
//
// No process is the leader of the others. What two of them must not decide at
// once is kept apart by locks that end with the transaction, and what only one
// of them may write by constraints. PostgreSQL's clock stamps every batch.
//
// The store keeps no state in a connection, so that a pooler may lend it one for
// each transaction. Where connections are its own it keeps statements prepared,
// and listens: one process tells the others when something has become ready.
// That is a hint; who hears nothing looks for itself every now and then.
//
// What Apply has answered is committed as synchronous_commit says, on by default.
package postgres

// The files follow those of the embedded store. What differs stands in
// session.go, param.go and row.go, which speak to PostgreSQL; lock.go and seen.go,
// which keep others from what a step has looked at; listen.go, which tells other
// processes; and turns.go, which has watchers told in order.
