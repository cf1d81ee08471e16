package engine

import (
	"time"
)

// A run whose handler has called CompleteTx ends as the transaction of the handler does. The
// store may find that out later than the handler returns, so the run waits for it in a
// goroutine of its own, and the goroutine of the handler runs the next one. The run keeps
// its slot meanwhile, but not for longer than CancelGrace.

// end ends a run whose handler has returned, or was abandoned. A run that waits for its
// transaction leaves its slot after a while.
func (p *pool) end(t *task, err error, slotFor time.Duration) {
	end := &ending{task: t, at: time.Now()}
	c := t.lastCompletion()
	if !c.open() {
		p.endAs(end, c, err)
		return
	}
	t.cancel(nil) // rolls back a transaction that was begun with this context and left open
	p.mu.Lock()
	p.running--
	end.returned = true
	p.mu.Unlock()
	go p.awaitTx(end, err, slotFor)
}

// awaitTx waits for the end of a transaction. If the engine gives up, nothing is recorded:
// the transaction may still be committed.
func (p *pool) awaitTx(end *ending, err error, slotFor time.Duration) {
	leave := time.NewTimer(slotFor)
	defer leave.Stop()
	c := end.task.lastCompletion()
	for ; c.open(); c = end.task.lastCompletion() {
		select {
		case <-c.next():
		case <-leave.C:
			p.leaveSlot(end)
		case <-p.e.allDone.Done():
			return
		}
	}
	p.endAs(end, c, err)
}

// leaveSlot frees the slot of a run that still waits for its transaction.
func (p *pool) leaveSlot(end *ending) {
	p.mu.Lock()
	end.slotFreed = true
	p.freeSlots(1)
	p.mu.Unlock()
	p.e.config.Logger.Error("a handler has ended and left its transaction open, which holds the row of its job; commit it or roll it back before the handler returns",
		"job", end.task.job.ID, "type", end.task.job.Type)
	p.e.dispatcher.signal()
}

// endAs ends a run as its transaction has ended; without one, as its handler did.
func (p *pool) endAs(end *ending, c *completion, err error) {
	switch {
	case c == nil:
		p.queueEnd(end, err)
	case c.committed():
		p.endCommitted(end, err)
	default:
		p.queueEnd(end, &uncommittedError{err})
	}
}

// endCommitted ends a run that its transaction has completed: there is nothing to record.
func (p *pool) endCommitted(end *ending, err error) {
	t := end.task
	if err != nil {
		p.e.config.Logger.Warn("a handler failed after it had committed the end of its run; the run stays COMPLETED",
			"job", t.job.ID, "type", t.job.Type, "error", oneLine(err))
	}
	t.log.close()
	t.cancel(nil)
	p.mu.Lock()
	if !end.returned {
		p.running--
	}
	p.freeSlotsOf([]*ending{end})
	p.mu.Unlock()
	p.e.dispatcher.signal()
	if _, flushes := p.e.config.Logs.(LogFlusher); !flushes {
		p.release(t)
		return
	}
	go func() { // it may take seconds
		p.e.flushLogs(p.e.allDone)
		p.release(t)
	}()
}
