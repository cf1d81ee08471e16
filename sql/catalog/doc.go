// Package pgcatalog provides pg_catalog and information_schema for Rota's tables: the
// relations with all their columns and rows, and the catalogue functions that psql, drivers
// and other tools call.
//
// The files columns_* and facts_* contain PostgreSQL's built-in objects; tests compare them
// with a real server. New creates a [Catalog] from them and a [Subject], which then does not
// change. A catalogue contains no data of the tables that it describes. Start reading at
// catalog.go.
package catalog
