package main

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// steps counts the steps of SQLite's virtual machine for each completed statement. The count does not depend on the
// noise of the machine. It includes only connections that were opened by traceSteps.
type steps struct {
	tls *libc.TLS

	mu     sync.Mutex
	counts map[string]int64 // by SQL
}

// traced is the counter for the callbacks of SQLite, which cannot be closures. Only one counter is active at a time.
var traced *steps

// traceSteps counts the steps of the connections that open opens.
func traceSteps(open func() error) (*steps, error) {
	s := &steps{tls: libc.NewTLS(), counts: map[string]int64{}}
	traced = s
	begin := functionPointer(beginTrace)
	sqlite3.Xsqlite3_auto_extension(s.tls, begin)
	defer sqlite3.Xsqlite3_cancel_auto_extension(s.tls, begin)
	return s, open()
}

// beginTrace is called for each new connection.
func beginTrace(tls *libc.TLS, db, _, _ uintptr) int32 {
	return sqlite3.Xsqlite3_trace_v2(tls, db, sqlite3.SQLITE_TRACE_PROFILE, functionPointer(recordSteps), 0)
}

// recordSteps is called when a statement has ended or is reset.
func recordSteps(tls *libc.TLS, _ uint32, _, statement, _ uintptr) int32 {
	const reset = 1
	n := sqlite3.Xsqlite3_stmt_status(tls, statement, sqlite3.SQLITE_STMTSTATUS_VM_STEP, reset)
	sql := libc.GoString(sqlite3.Xsqlite3_sql(tls, statement))
	traced.mu.Lock()
	defer traced.mu.Unlock()
	traced.counts[sql] += int64(n)
	return 0
}

// take returns the steps by statement since the last call.
func (s *steps) take() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.counts
	s.counts = map[string]int64{}
	return taken
}

func (s *steps) close() { s.tls.Close() }

// functionPointer returns a declared function in the form in which translated C code calls it: a pointer to the word
// that a func value points to. The function must not be a closure.
func functionPointer[F any](f F) uintptr {
	held := &struct{ f F }{f}
	return *(*uintptr)(unsafe.Pointer(held))
}
