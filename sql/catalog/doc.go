// Package catalog provides pg_catalog and information_schema for Rota's tables: the relations
// with their columns and rows, and the catalogue functions that psql, drivers and other tools
// call.
//
// The directory data contains PostgreSQL's built-in objects. go generate writes it from a
// PostgreSQL server, and a test compares the two. Only what clients are known to use is there:
// data/relations.tsv and data/functions.tsv name the clients. New creates a [Catalog] from the
// data and a [Subject], which then does not change. A catalogue contains no data of the tables
// that it describes. Start reading at catalog.go.
package catalog
