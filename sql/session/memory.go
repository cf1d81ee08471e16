package session

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rotajobs/rota/sql/system"
)

// Memory counts the bytes that one session keeps while its client is idle or slow: results that are not read yet,
// messages, arguments, prepared statements and the commands of a transaction. It is safe for concurrent use.
type Memory struct {
	all *atomic.Int64 // bytes of all sessions of the console

	mu    sync.Mutex
	bytes int64
}

// NewMemory returns the memory of a session. all counts the bytes of all sessions.
func NewMemory(all *atomic.Int64) *Memory { return &Memory{all: all} }

const (
	memoryMax        = 256 << 20 // bytes of all sessions
	sessionMemoryMax = 64 << 20  // bytes of one session
	sessionFree      = 64 << 10  // bytes that a session may always keep, so that others do not block its small statements
)

// Charge counts bytes before they are kept. It returns an *Error, and counts nothing, if there are too many.
func (m *Memory) Charge(n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := m.bytes + int64(n)
	if after > sessionMemoryMax {
		return newError(StateLimit, "read results to their end, close portals and prepared statements, or end the transaction",
			"the session keeps more than %d MiB of results, messages, arguments, prepared statements and changes", sessionMemoryMax>>20)
	}
	added := counted(after) - counted(m.bytes)
	if all := m.all.Add(added); added > 0 && all > memoryMax {
		m.all.Add(-added)
		return newError(StateOutOfMemory, "retry when other clients have read their results, closed their statements or ended their transactions",
			"all sessions together keep more than %d MiB of results, messages, arguments, prepared statements and changes", memoryMax>>20)
	}
	m.bytes = after
	return nil
}

// counted is the part of the bytes of a session that counts against the limit of all sessions.
func counted(bytes int64) int64 { return max(0, bytes-sessionFree) }

// Release counts bytes that are no longer kept.
func (m *Memory) Release(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := max(0, m.bytes-int64(n)) // Close may have released them
	m.all.Add(counted(after) - counted(m.bytes))
	m.bytes = after
}

// Close releases everything.
func (m *Memory) Close() { m.Release(1 << 62) }

// Memory returns the memory of the session.
func (s *Session) Memory() *Memory { return s.memory }

// keptRows counts the rows of one answer.
type keptRows struct {
	memory *Memory
	bytes  atomic.Int64
}

func (k *keptRows) add(n int) error {
	if err := k.memory.Charge(n); err != nil {
		return err
	}
	k.bytes.Add(int64(n))
	return nil
}

func (k *keptRows) release() { k.memory.Release(int(k.bytes.Swap(0))) }

// count counts the rows of an answer until its Release. An answer that the caller drops without Release returns its
// memory when the garbage collector finds it.
func (m *Memory) count(a *Answer) {
	a.kept = &keptRows{memory: m}
	runtime.AddCleanup(a, func(k *keptRows) { k.release() }, a.kept)
}

// Drop drops a row that has been sent.
func (a *Answer) Drop(i int) {
	if n := int64(system.RowBytes(a.Rows[i])); a.kept != nil && a.kept.bytes.Add(-n) >= 0 {
		a.kept.memory.Release(int(n))
	}
	a.Rows[i] = nil
}

// Release drops the rows of an answer that has been sent.
func (a *Answer) Release() {
	a.Rows = nil
	if a.kept != nil {
		a.kept.release()
	}
}
