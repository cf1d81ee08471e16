// Package rules decides what each command does to the rows of a store. The
// rules are written once, a file per verb or entity, and every store runs them.
// Start reading at [Apply].
//
// A verb is one function. It reads rows through a [UnitOfWork], refuses the
// command or changes rows, and has no other effect. At a row that is not known
// yet the function stops: this is a miss (see miss.go). [Apply] then undoes what
// was decided, has the store load all rows that were missed, and runs the
// commands again. A function never takes a row that was not loaded for an absent
// one. To miss independent rows together, a rule wants all of them before it gets
// the first, or runs its parts with each or together, which continue after a miss
// only to find further ones. The commonest verbs also name rows in advance
// (prefetch.go); a row left out there costs a round of loading, nothing else.
//
// The kinds of rows and queries are listed in kinds.go, each with its key and its
// lock. A store has a [Loader] for each.
//
// When all commands are decided, the differences between the rows as loaded and
// the rows as decided are the [Changes], which the store writes.
//
// Locks. A store with a single writer needs none. Any other store locks what a
// unit of work has read once, after everything is decided and before anything is
// written: in the order of the [LockClass], and within a class in one order.
// If a row has changed since it was loaded, [Apply] decides again under the locks
// it holds. The [Orders] are the exception: the store locks exactly the jobs it
// returns, as it finds them, so a rule asks for them once, when everything that
// bounds them is known.
//
// No rule reads a clock, a random number, a time zone or a schema. The same
// batch on the same rows produces the same rows.
package rules
