// Package explain explains why a job does not run and what would change that.
// A store reads the [Facts] about a job in one snapshot, and [Explain] returns
// the reasons, each with a remedy.
package explain
