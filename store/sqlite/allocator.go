package sqlite

import (
	"sync"

	"modernc.org/libc"
)

// retainAllocatorPages allocates a few pages of each size class for good, each with one allocation
// in use. The allocator of modernc.org/libc, on which SQLite runs, returns a page to the system
// when its last allocation is freed and requests a new one with the next. A statement that opens a
// few cursors can do both each time it runs. Without these pages, enqueues take a tenth more processor
// time; see docs/decisions/measurements/0002-sqlite-schema.md.
var retainAllocatorPages = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	for size := libc.Tsize_t(16); size <= allocatorSizeMax; size *= 2 {
		var allocated []uintptr
		for range retainedPages * allocatorPage / int(size) {
			allocated = append(allocated, libc.Xmalloc(tls, size))
		}
		retained := map[uintptr]bool{}
		for _, p := range allocated {
			if page := p &^ (allocatorPage - 1); p != 0 && !retained[page] {
				retained[page] = true
				continue
			}
			libc.Xfree(tls, p)
		}
	}
})

const (
	allocatorPage    = 64 << 10 // page size of the allocator
	retainedPages    = 4        // per size class; 3 MB in all
	allocatorSizeMax = 16 << 10 // larger allocations have pages of their own
)
