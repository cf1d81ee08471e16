package main

import (
	"errors"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// growLog lets the log of an open database grow to its largest size, and checkpoints it. From then on SQLite
// overwrites the log in place, as it does in a store that has run for a while. A sync of a file that grows takes longer.
func growLog(path string) error {
	return executeApart(path,
		"PRAGMA wal_autocheckpoint = 0",
		"CREATE TABLE grow_log (data BLOB)",
		"INSERT INTO grow_log VALUES (randomblob(20000000))",
		"DROP TABLE grow_log",
		"PRAGMA wal_checkpoint",
	)
}

// checkpoint writes the log of an open database back.
func checkpoint(path string) error { return executeApart(path, "PRAGMA wal_checkpoint") }

// executeApart executes statements on a connection of its own.
func executeApart(path string, statements ...string) (err error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, sql := range statements {
		if err := sqlitex.ExecuteTransient(conn, sql, nil); err != nil {
			return err
		}
	}
	return nil
}
