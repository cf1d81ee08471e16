// Package sys is the catalogue that people read with SELECT: sys.jobs,
// sys.job_runs and their neighbours.
//
// Each is a virtual table of SQLite over the typed reads of a store, so that one
// dialect is spoken on every store, and nothing can be reached but what those
// reads show. A [Catalogue] keeps a few SQLite connections that hold no data of
// their own. A query borrows one; its tables read from one [rota.View], taken at
// the first row that is asked for, and what a store can do better than SQLite is
// handed down to it: equality, ranges, order, and how many rows are wanted.
// SQLite looks at every row again, so a read may always bring too much and never
// too little.
//
// What a connection may do is a list of what is allowed. Everything else is
// refused before it begins: other tables, ATTACH, PRAGMA, and functions that
// nobody put on the list.
package sys
