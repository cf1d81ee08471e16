// Package rules is the law: what each command does to the rows of a store. It
// is written once, one file per verb, and runs on every store.
//
// A verb has three steps. Need says which rows it looks at, by key or by one
// of the orders (the claim order, what is due, what is stale). Where a row is
// found only through another, Need is asked again with what has been loaded
// so far, until it asks for nothing more. The store loads the rows in sets
// into a [World]. Decide is plain Go on that world: it reads, refuses or
// changes rows, and touches nothing else. Write hands the store the
// differences between the world as it was loaded and as it was decided.
//
// Locks. A store with one writer has nothing to do. Any other store locks what
// a world has looked at, once, when everything is decided and nothing written:
// in the order of the classes of [Locks] and by key within each. If a row has
// moved since it was loaded, the step is done again under the locks it holds.
// The heads of the claim order are locked as they are found, exactly those
// that are taken.
//
// What a decision misses is nil to it, so every path to a row has its question in
// Need. One thing alone is asked for while deciding: the end of a priority whose
// last job left it in the same step.
//
// No step reads a clock, a random number, a time zone or a schema: the same
// batch on the same rows gives the same rows.
package rules
