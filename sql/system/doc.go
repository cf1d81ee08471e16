// Package system is the catalogue that people read with SELECT: sys.jobs,
// sys.job_runs and the other tables of schema sys.
//
// Each is a SQLite virtual table over the typed reads of a store. So every store
// has the same SQL dialect, and a query can reach only what those reads return. A
// [Catalogue] keeps a few SQLite connections that hold no data of their own. A
// query uses one; its tables read from one [rota.View], opened at the first row.
// Conditions that the store can evaluate are pushed down to it: equality, ranges,
// order and the row limit. SQLite checks every row again, so a read may return too
// many rows but never too few.
//
// A connection has an allow list of tables. SQLite rejects everything else before
// it runs the query: other tables, ATTACH, PRAGMA. Package translate writes the
// names of all functions, so that no other function is reachable.
package system
