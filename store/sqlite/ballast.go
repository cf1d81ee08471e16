package sqlite

import (
	"sync"

	"modernc.org/libc"
)

// ballast keeps some memory of each size for good: a few pages with one piece in
// use and room for many. The allocator beneath SQLite gives a page back to the
// system when its last piece is freed, and asks for another with the next: a
// statement that opens a few cursors could do both each time it runs. Half of the
// processor time of an update was seen to go that way.
var ballast = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	for size := libc.Tsize_t(16); size <= ballastLargest; size *= 2 {
		var pieces []uintptr
		for range ballastPages * ballastPage / int(size) {
			pieces = append(pieces, libc.Xmalloc(tls, size))
		}
		kept := map[uintptr]bool{}
		for _, piece := range pieces {
			if page := piece &^ (ballastPage - 1); piece != 0 && !kept[page] {
				kept[page] = true
				continue
			}
			libc.Xfree(tls, piece)
		}
	}
})

const (
	ballastPage    = 64 << 10 // the allocator's
	ballastPages   = 4        // of each size; 3 MB in all
	ballastLargest = 16 << 10 // larger pieces have pages of their own
)
