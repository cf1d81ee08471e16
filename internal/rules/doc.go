// Package rules decides what each command does to the rows of a store. The
// rules are written once, one file per verb, and every store runs them. Start
// reading at [Apply].
//
// A verb has three steps. Need lists the rows that the verb reads, by key or by
// one of the orders (the dispatch order, jobs that are due, leases that are stale).
// Some rows are found only through other rows, so [Apply] calls Need again with
// the rows loaded so far until Need lists nothing more. The store loads the rows
// in sets into a [UnitOfWork]. Decide is a function on that unit of work: it
// reads, refuses or changes rows and has no other effect. Write passes the store
// the differences between the rows as loaded and the rows as decided.
//
// Locks. A store with a single writer needs none. Any other store locks what a
// unit of work has read once, after everything is decided and before anything is
// written: in the order of the classes of [Locks] and by key within each class.
// If a row has changed since it was loaded, [Apply] repeats the three steps under
// the locks it holds. The heads of the dispatch order are the exception: the store
// locks exactly the heads it returns, as it finds them.
//
// A row that was not loaded is nil to a decision, so Need must list every row
// that a decision can reach. Two things are loaded while deciding, because only
// the decision shows that they are missing: the tail of a priority whose last job
// left it in the same transaction, and more of a key queue some of whose jobs
// left it in the same transaction.
//
// No step reads a clock, a random number, a time zone or a schema. The same
// batch on the same rows produces the same rows.
package rules
