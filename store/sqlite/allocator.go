package sqlite

import (
	"sync"

	"modernc.org/libc"
)

// retainAllocatorPages keeps some memory of each size for good: a few pages with one piece in
// use and room for many. The allocator beneath SQLite gives a page back to the
// system when its last piece is freed, and asks for another with the next: a
// statement that opens a few cursors could do both each time it runs. Half of the
// processor time of an update was seen to go that way.
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
	allocatorPage    = 64 << 10 // the allocator's
	retainedPages    = 4        // of each size; 3 MB in all
	allocatorSizeMax = 16 << 10 // larger pieces have pages of their own
)
