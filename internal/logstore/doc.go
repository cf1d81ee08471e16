// Package logstore makes a store of a log and a replica: the log orders the commands of several processes,
// and each process applies them to a replica of its own.
package logstore
