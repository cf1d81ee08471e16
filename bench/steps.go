package main

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// steps counts what SQLite's machine does for each statement that was run to
// its end: a figure that no neighbour can change. Only connections that were
// opened while steps were watched are counted.
type steps struct {
	tls *libc.TLS

	mu     sync.Mutex
	counts map[string]int64 // by SQL
}

// watched is the counter that the callbacks of SQLite use, which are plain functions. There
// is one at a time.
var watched *steps

// watchSteps counts the connections that open opens.
func watchSteps(open func() error) (*steps, error) {
	s := &steps{tls: libc.NewTLS(), counts: map[string]int64{}}
	watched = s
	begin := functionPointer(beginTrace)
	sqlite3.Xsqlite3_auto_extension(s.tls, begin)
	defer sqlite3.Xsqlite3_cancel_auto_extension(s.tls, begin)
	return s, open()
}

// beginTrace is called for each connection that is opened.
func beginTrace(tls *libc.TLS, db, _, _ uintptr) int32 {
	return sqlite3.Xsqlite3_trace_v2(tls, db, sqlite3.SQLITE_TRACE_PROFILE, functionPointer(noteSteps), 0)
}

// noteSteps is called when a statement has ended or is reset.
func noteSteps(tls *libc.TLS, _ uint32, _, statement, _ uintptr) int32 {
	const reset = 1
	n := sqlite3.Xsqlite3_stmt_status(tls, statement, sqlite3.SQLITE_STMTSTATUS_VM_STEP, reset)
	sql := libc.GoString(sqlite3.Xsqlite3_sql(tls, statement))
	watched.mu.Lock()
	defer watched.mu.Unlock()
	watched.counts[sql] += int64(n)
	return 0
}

// take returns the steps by statement since it was last called.
func (s *steps) take() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.counts
	s.counts = map[string]int64{}
	return taken
}

func (s *steps) close() { s.tls.Close() }

// functionPointer is a declared function as translated C calls it: a pointer
// to the word that a func value points to. It must not be a closure.
func functionPointer[F any](f F) uintptr {
	held := &struct{ f F }{f}
	return *(*uintptr)(unsafe.Pointer(held))
}
