//go:build cgo

package main

import (
	"time"

	_ "github.com/mattn/go-sqlite3" // driver recommended by backlite
)

const (
	backliteDriver     = "sqlite3"
	backliteDriverName = "mattn/go-sqlite3 v1.14.28 (cgo)"
	backliteOptions    = "?_journal=WAL&_timeout=5000&_synchronous=FULL"
	backliteRelease    = 10 * time.Minute
)
