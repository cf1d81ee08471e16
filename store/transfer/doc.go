// Package transfer copies the rows of a stopped store into an empty one, for rota copy and rota
// restore. Both stores have the same tables, and rows are copied as they are, with their ids,
// positions, versions and times.
//
// The target records the last row in the transaction that writes it, so that a copy that was
// interrupted resumes there. Until the copy is complete, the target cannot be opened for writing.
//
// At the end Copy compares the number and the checksum of the rows of each table and checks the
// invariants of the target. Then it marks the source as moved, and last it opens the target for use:
// at no moment can both stores be started.
package transfer
