//go:build !unix || solaris || aix

package main

// withholdMemory does nothing: these systems write no core files of their own accord.
func withholdMemory() error { return nil }
