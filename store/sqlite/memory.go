package sqlite

import (
	"sync"

	"modernc.org/libc"
)

// pinMemory keeps some pages of each size class of SQLite's allocator for
// good, by one block on each. The allocator gives a page back to the system when
// its last block is freed, and some statements free the only block of a page
// each time they run: a claim then spent a quarter of its time in mmap and
// munmap.
var pinMemory = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	for size := uintptr(blockMin); size <= blockMax; size *= 2 {
		pinPages(tls, size)
	}
})

const (
	blockMin = 1 << 4
	blockMax = 1 << 14 // larger blocks have pages to themselves
	pageSize = 1 << 16
	pages    = 4 // of each class; more are never in use at once
)

// pinPages fills some pages with blocks of one size, and frees all but one of
// each.
func pinPages(tls *libc.TLS, size uintptr) {
	var spare []uintptr
	seen := map[uintptr]bool{}
	for range 2 * pages * pageSize / size { // an allocator that changed its ways must not keep us here
		block := libc.Xmalloc(tls, libc.Tsize_t(size))
		page := block &^ (pageSize - 1)
		if block == 0 || len(seen) == pages {
			spare = append(spare, block)
			break
		}
		if seen[page] {
			spare = append(spare, block)
		}
		seen[page] = true // its first block is kept for good
	}
	for _, block := range spare {
		libc.Xfree(tls, block)
	}
}
