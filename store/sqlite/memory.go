package sqlite

import (
	"sync"

	"modernc.org/libc"
)

// pinMemory keeps one block of each size class of SQLite's allocator for good.
// The allocator gives a page back to the system when its last block is freed,
// and some statements free the only block of its class each time they run: a
// claim then spent a quarter of its time in mmap and munmap.
var pinMemory = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	for size := libc.Tsize_t(blockMin); size <= blockMax; size *= 2 {
		pinned = append(pinned, libc.Xmalloc(tls, size))
	}
})

var pinned []uintptr

// Smaller blocks come from a connection's own cache; larger ones have pages to
// themselves.
const (
	blockMin = 1 << 10
	blockMax = 1 << 14
)
