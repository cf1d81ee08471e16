// Package pgcatalog is what PostgreSQL's catalogue and its information schema show
// of ours: the tables with their real columns, as rows, and the functions that
// psql, drivers and other tools call beside them.
//
// What PostgreSQL itself has stands in the files columns_* and facts_*; tests
// compare them with a real server. A [Catalog] is made of them and of a [Subject],
// once, and then only read. It holds nothing that the tables it describes hold.
package pgcatalog
