//go:build !cgo

package main

import "time"

const (
	backliteDriver     = riverDriver
	backliteDriverName = "modernc.org/sqlite v1.37.1 (without cgo, its manual's driver cannot be built)"
	backliteOptions    = riverOptions
	backliteRelease    = 10 * time.Minute
)
