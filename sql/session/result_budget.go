package session

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/rotajobs/rota/sql/system"
)

// resultBudget limits the memory of the results of all sessions: a result stays in memory until its client has read it.
type resultBudget struct{ bytes atomic.Int64 }

const (
	resultsMax = 256 << 20 // bytes of all results
	resultFree = 64 << 10  // bytes of a result that are always allowed, so that large results do not block small ones
)

// resultHold is the part of the budget that one result uses.
type resultHold struct {
	budget *resultBudget
	bytes  int64
}

// grow adds bytes of a result before its next row is kept. It returns an error if the budget is used up.
func (h *resultHold) grow(n int) error {
	h.bytes += int64(n)
	if h.bytes <= resultFree {
		return nil
	}
	added := int64(n)
	if h.bytes-added <= resultFree { // the free part counts from here on
		added = h.bytes
	}
	if h.budget.bytes.Add(added) > resultsMax {
		h.budget.bytes.Add(-added)
		h.bytes -= int64(n)
		return &system.Error{
			State: StateOutOfMemory, Offset: -1, Message: fmt.Sprintf("the results that clients have not read yet exceed %d MiB", resultsMax>>20),
			Hint: "retry when other clients have read their results, or select fewer rows",
		}
	}
	return nil
}

// release returns the memory to the budget, once.
func (h *resultHold) release() {
	if bytes := atomic.SwapInt64(&h.bytes, 0); bytes > resultFree {
		h.budget.bytes.Add(-bytes)
	}
}

// hold counts the rows of an answer until its Release. An answer that the caller drops without Release returns its memory
// when the garbage collector finds it.
func (b *resultBudget) hold(a *Answer) {
	a.held = &resultHold{budget: b}
	runtime.AddCleanup(a, func(h *resultHold) { h.release() }, a.held)
}

// Release drops the rows of an answer that has been sent.
func (a *Answer) Release() {
	a.Rows = nil
	if a.held != nil {
		a.held.release()
	}
}
